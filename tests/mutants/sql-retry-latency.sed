# SPDX-License-Identifier: BSD-2-Clause
# In SQL the latency of a repeated command is that of its last attempt.
# file: src/sql/io.c
# red: cli sql
# case: every row and cell of io
/^static struct cell io_get_lat(/,/^}/s/rows->record->first_ns/rows->record->last_ns/
