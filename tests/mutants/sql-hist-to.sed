# SPDX-License-Identifier: BSD-2-Clause
# The buckets of hist(x) end where they begin.
# file: src/sql/function.c
# red: cli sql
# case: what hist tells
s/numbers__octave_from(octave ? octave + 1 : 1)/numbers__octave_from(octave)/
