# SPDX-License-Identifier: BSD-2-Clause
# In exported rows the CPU that submitted is the one that ended it.
# file: src/export/rows.c
# red: cli export
# case: D is on the CPU that submitted
s/row->issue_cpu = stages ? stages->cpu : CELL_NO_NUMBER;/row->issue_cpu = stages ? r->cpu : CELL_NO_NUMBER;/
