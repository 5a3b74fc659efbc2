# SPDX-License-Identifier: BSD-2-Clause
# A record's end is 60 us late.
# file: src/bpf/sink.h
# red: vm clock
# case: end: within
s/^\tr->end_ns = o->end_ns;$/\tr->end_ns = o->end_ns ? o->end_ns + 60000 : 0;/
