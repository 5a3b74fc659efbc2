# SPDX-License-Identifier: BSD-2-Clause
# p(x, part) takes the rank below where the part falls between two.
# file: src/analyse/numbers.c
# red: unit numbers
s/rank = ceil(exact);$/rank = floor(exact);/
