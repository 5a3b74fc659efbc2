# SPDX-License-Identifier: BSD-2-Clause
# What was lost is listed in SQL as if it were a term of the ledger.
# file: src/sql/lists.c
# red: cli sql
# case: what was lost
s/trailer.ledger.nr ? "ledger" : "lost"/trailer.ledger.nr ? "ledger" : "ledger"/
