# SPDX-License-Identifier: BSD-2-Clause
# After an epilogue in the middle of a function the state before it is valid again.
# file: src/symbol/call_frame.c
# red: unit unwind_table
# case: the state before it
s/f->now = f->remembered\[--f->nr_remembered\];/f->nr_remembered--;/
