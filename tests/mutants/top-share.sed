# SPDX-License-Identifier: BSD-2-Clause
# The share of a process is that of its commands, not of their time.
# file: src/view/report_top.c
# red: cli replay
# case: shown as its golden text
s/(double)sum->sum_ns \/ (double)t->sum_ns : 0/(double)sum->count \/ (double)t->sum_ns : 0/
