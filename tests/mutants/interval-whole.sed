# SPDX-License-Identifier: BSD-2-Clause
# The length of an interval is the time since the start.
# file: src/session/tick.c
# red: cli export
# case: an interval begins where the one before it ended
s|s->interval_s = (double)(now_ns - s->inside->last_ns) / 1e9;|s->interval_s = (double)(now_ns - s->start_ns) / 1e9;|
