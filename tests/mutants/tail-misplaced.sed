# SPDX-License-Identifier: BSD-2-Clause
# Tails are merged into the step that has the same place, not into the same step.
# file: src/analyse/steps.c
# red: unit steps
# case: its own share of the slowest
s/into->tails\[slot\]\[step\] += from/into->tails[slot][i] += from/
