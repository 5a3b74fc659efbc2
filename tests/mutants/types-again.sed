# SPDX-License-Identifier: BSD-2-Clause
# libbpf looks for what typed programs attach to, and reads the kernel's types once more.
# file: src/collect/target.c
# red: load starts
# case: cache reads .sys.kernel.btf.vmlinux 1 time
s/bpf_program__set_attach_target(program, fd, NULL)/bpf_program__set_attach_target(program, 0, name)/
