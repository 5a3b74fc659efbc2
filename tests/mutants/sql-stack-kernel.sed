# SPDX-License-Identifier: BSD-2-Clause
# In SQL a stack of the kernel belongs to process 0.
# file: src/sql/lists.c
# red: cli sql
# case: stacks are those that commands name
s/return pid ? sql_number(pid) : sql_none();/return sql_number(pid);/
