# SPDX-License-Identifier: BSD-2-Clause
# --fail-if of latency looks at the first row only.
# file: src/cmd/latency.c
# red: cli replay
# case: shown as its golden text
s/^\tif (l->condition && row.count && condition__is_true(l->condition, &row)) {$/\tif (l->condition \&\& !l->shown_rows \&\& condition__is_true(l->condition, \&row)) {/
