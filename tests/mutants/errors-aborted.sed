# SPDX-License-Identifier: BSD-2-Clause
# An abort that failed is called done.
# file: src/view/errors_rows.c
# red: cli replay
# case: shown as its golden text
s/r->result & 1 ? ": not aborted" : ": aborted"/r->result \& 2 ? ": not aborted" : ": aborted"/
