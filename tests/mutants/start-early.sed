# SPDX-License-Identifier: BSD-2-Clause
# The first disk that is not NVMe: what was sent before its programs were attached is told as lost.
# file: src/bpf/life.h
# red: vm first_disk
# case: nothing is lost
s/driver == NVME_DRIVER ? attached_ns : block_attached_ns/attached_ns/
