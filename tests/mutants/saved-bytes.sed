# SPDX-License-Identifier: BSD-2-Clause
# The bytes of a saved run are those of one I/O, not of all.
# file: src/diff/printout.c
# red: cli diff
# case: sizes and counts of its capture
s/SAMPLE_BYTES, line->count \* line->size_bytes/SAMPLE_BYTES, line->size_bytes/
