# SPDX-License-Identifier: BSD-2-Clause
# A quotient has the sign of its dividend alone: -7 / -2 would be -3.
# file: src/probe/code/program_number.c
# red: load probe_random
# case: random expressions
s/code__reckon(&e->code, BPF_XOR, R0, right);/code__move(\&e->code, R0, left);/
