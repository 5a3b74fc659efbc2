# SPDX-License-Identifier: BSD-2-Clause
# Every latency is 10 us too long.
# file: src/bpf/life.h
# red: vm precision
# case: max within 5 us
s/^\t__u64 ns = o->end_ns - slot->first_ns;$/\t__u64 ns = o->end_ns - slot->first_ns + 10000;/
