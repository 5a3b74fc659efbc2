# SPDX-License-Identifier: BSD-2-Clause
# An upper bound of time in SQL is rounded down: the block that begins with it is lost.
# file: src/sql/module.c
# red: cli sql
# case: bounds that go down to the file
s/ns += is_upper ? slack : -slack;/ns -= is_upper ? slack : slack;/
