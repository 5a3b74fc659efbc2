# SPDX-License-Identifier: BSD-2-Clause
# The screen of top does not show a loss.
# file: src/screen/top.c
# red: unit top_screen
s/uint64_t lost = ledger__lost(l);/uint64_t lost = 0 * ledger__lost(l);/
