# SPDX-License-Identifier: BSD-2-Clause
# The path of a new program is read where the caller had it, in memory that is another program's now.
# file: src/probe/code/program_late.c
# red: unit probe_program
# case: a new program's path is the kernel's copy
s/return e->wants->turn == TURN_EXEC && text->left &&/return false \&\& text->left \&\&/
