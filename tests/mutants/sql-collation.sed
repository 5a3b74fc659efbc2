# SPDX-License-Identifier: BSD-2-Clause
# In SQL a comparison that ignores case goes down to the file, which does not.
# file: src/sql/module.c
# red: cli sql
# case: bounds that go down to the file
s/sqlite3_stricmp(sqlite3_vtab_collation(info, i), "BINARY")/sqlite3_stricmp("BINARY", sqlite3_vtab_collation(info, i)) > 99/
