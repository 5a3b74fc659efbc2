# SPDX-License-Identifier: BSD-2-Clause
# A start takes the place of one that was open, and nobody hears of it.
# file: src/probe/code/program_pair.c
# red: load probe_programs
# case: a start that was open
s/emit__update(e, starts, e->start_key, start, BPF_NOEXIST);/emit__update(e, starts, e->start_key, start, BPF_ANY);/
