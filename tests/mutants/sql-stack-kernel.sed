# SPDX-License-Identifier: BSD-2-Clause
# In SQL a stack of the kernel belongs to process 0.
# file: src/sql/lists.c
# red: cli sql
# case: stacks are those that commands name
s/id.words\[1\]), .none_is_0 = true }/id.words[1]) }/
