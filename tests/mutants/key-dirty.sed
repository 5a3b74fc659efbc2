# SPDX-License-Identifier: BSD-2-Clause
# What lies behind the end of a short text stays in the key: one text would have many rows.
# file: src/probe/code/program_step.c
# red: load probe_random
# case: random keys
/code__reckon(code, BPF_AND, R1, R2);/d
