# SPDX-License-Identifier: BSD-2-Clause
# Tails are merged into the step that has the same place, not into the same step.
# file: src/analyse/ladder.c
# red: unit ladder
# case: its own share of the slowest
s/into->tails\[slot\]\[step\] += from/into->tails[slot][i] += from/
