# SPDX-License-Identifier: BSD-2-Clause
# A mean that is larger is called more, not slower.
# file: src/diff/view.c
# red: cli diff
# case: what was saved shows the same shift
s/bool is_time = shift->what <= SHIFT_MEAN;/bool is_time = shift->what < SHIFT_MEAN;/
