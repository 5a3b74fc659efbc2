# SPDX-License-Identifier: BSD-2-Clause
# A capture forgets that the rows were counted a second time: replayed, the ledger would balance where it did not.
# file: src/decode/ledger.c
# red: unit recorder
# case: the ledger comes back
s/l->counted_known |= !strcmp(term->name, "counted");//
