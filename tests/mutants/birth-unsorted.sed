# SPDX-License-Identifier: BSD-2-Clause
# Notes of a process are looked through from the oldest on: those of another one with its number are taken for its own.
# file: src/symbol/mapping_notes.c
# red: unit mapping_notes
# case: mappings since its birth
/^static int notes_by_age/,/^}/s/COMPARE(y->time_ns, x->time_ns)/COMPARE(x->time_ns, y->time_ns)/
