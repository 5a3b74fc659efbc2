# SPDX-License-Identifier: BSD-2-Clause
# A command of a zoom also stays in the bucket that it would have without one.
# file: src/session/io_replay.c
# red: cli replay
# case: a zoom has each command once
s/^\t\trow->total.slots\[hist_slot(ns)\]--;$//
