# SPDX-License-Identifier: BSD-2-Clause
# The largest value, p(x, 1), is refused.
# file: src/sql/function.c
# red: cli sql
# case: p\(x, 0\) is the smallest
s/!(part >= 0 \&\& part <= 1)/!(part >= 0 \&\& part < 1)/
