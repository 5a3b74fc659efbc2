# SPDX-License-Identifier: BSD-2-Clause
# A device that the capture describes under two numbers is two rows in SQL.
# file: src/sql/lists.c
# red: cli sql
# case: a device is one row
s/capture_lists__is_first(about, item) ? LIST_ROW : LIST_NO_ROW/LIST_ROW/
