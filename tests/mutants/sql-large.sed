# SPDX-License-Identifier: BSD-2-Clause
# In SQL a number above 2^63 is negative.
# file: src/sql/module.c
# red: cli sql
# case: every row and cell of io
s/^\tif (n > INT64_MAX)$/\tif (n > INT64_MAX \&\& !n)/
