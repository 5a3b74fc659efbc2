# SPDX-License-Identifier: BSD-2-Clause
# A heat map that grows forgets some of its columns.
# file: src/analyse/heat.c
# red: unit heat
# case: every command is in one cell
s/i % 2 == 0/i % 2 == 0 || i % 8 == 1/
