# SPDX-License-Identifier: BSD-2-Clause
# I/Os that follow one another go to different blocks, as if those close in time were not alike: noise is called a shift.
# file: src/analyse/sample.c
# red: unit shift
# case: each like the one before
s/^\t\treturn s->nr_blocks - 1;$/\t\treturn (uint32_t)(s->nr_turns % s->nr_blocks);/
