# SPDX-License-Identifier: BSD-2-Clause
# What both runs have comes twice, once for each.
# file: src/diff/diff.c
# red: cli replay
# case: shown as its golden text
s/^\tif (side && partner) .*$/\tif (side \&\& partner \&\& !partner->op[0])/
