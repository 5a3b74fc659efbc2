# SPDX-License-Identifier: BSD-2-Clause
# What a multipath head says of a bio before its request ends counts as its end.
# file: src/bpf/request_end.h
# red: vm heads on 6.12
# case: bio: with all its steps
s/^\treturn disk && BPF_CORE_READ(disk, queue) != q;$/\treturn disk \&\& !q;/
