# SPDX-License-Identifier: BSD-2-Clause
# --min of a capture leaves out a command that took exactly so long; the programs in the kernel do not.
# file: src/capture/filter.c
# red: unit filter
# case: exactly so long
s/r->end_ns - r->first_ns >= f->min_ns/r->end_ns - r->first_ns > f->min_ns/
