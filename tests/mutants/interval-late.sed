# SPDX-License-Identifier: BSD-2-Clause
# In an HdrHistogram log an interval begins where it ends.
# file: src/export/hdr.c
# red: cli export
# case: an interval begins where the one before it ended
s/\.start_s = s->elapsed_s - s->interval_s,/.start_s = s->elapsed_s,/
