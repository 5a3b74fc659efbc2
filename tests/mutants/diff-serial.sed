# SPDX-License-Identifier: BSD-2-Clause
# Two drives with one name and different serial numbers are paired without a word.
# file: src/diff/diff.c
# red: cli diff
# case: another serial number
s/= a->serial\[0\] && b->serial\[0\] && strcmp(a->serial, b->serial) != 0;/= a->serial[0] \&\& b->serial[0] \&\& strcmp(a->serial, b->serial) == 99;/
