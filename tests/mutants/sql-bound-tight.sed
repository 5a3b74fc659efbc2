# SPDX-License-Identifier: BSD-2-Clause
# A lower bound of time in SQL is rounded up: rows at the bound are lost.
# file: src/sql/module.c
# red: cli sql
# case: bounds that go down to the file
s/ns += is_upper ? slack : -slack;/ns += is_upper ? slack : slack \/ 2;/
