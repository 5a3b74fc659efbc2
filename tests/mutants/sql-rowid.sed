# SPDX-License-Identifier: BSD-2-Clause
# In SQL rows of two captures have the same number.
# file: src/sql/module.c
# red: cli sql
# case: of several captures
s/(uint64_t)rows->file << 40 | rows->place/rows->place/
