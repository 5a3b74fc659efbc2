# SPDX-License-Identifier: BSD-2-Clause
# top -r steps over the end of a capture.
# file: src/screen/top_browse.c
# red: unit top_browse
s/return b->last_ns - b->at_ns <= b->window_ns;/return b->last_ns - b->at_ns < b->window_ns;/
