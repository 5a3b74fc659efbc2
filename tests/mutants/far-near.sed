# SPDX-License-Identifier: BSD-2-Clause
# A far row is read as if its cells were those of a near one.
# file: src/collect/rows.c
# red: unit rows
# case: all are read, in their buckets
s/^\treturn row->is_far ? row_far_slot(cell) : ROW_FIRST + cell;$/\treturn row ? ROW_FIRST + cell : 0;/
