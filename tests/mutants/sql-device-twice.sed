# SPDX-License-Identifier: BSD-2-Clause
# A device that the capture describes under two numbers is two rows in SQL.
# file: src/sql/lists.c
# red: cli sql
# case: a device is one row
/^static bool device_is_row(/,/^}/s/^\t\t\treturn false;$/\t\t\treturn true;/
