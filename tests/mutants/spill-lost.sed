# SPDX-License-Identifier: BSD-2-Clause
# What is taken out of a full cell of a row is lost.
# file: src/collect/rows.c
# red: unit rows
# case: a full one is taken out
s/^\t(\*spilled)->slots\[row_slot(table, row, cell)\] += nr;$//
