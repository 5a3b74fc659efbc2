# SPDX-License-Identifier: BSD-2-Clause
# The page of traced calls hides those that the kernel skipped.
# file: src/calls/page_model.c
# red: cli calls
# case: the calls that the kernel skipped
s/n\[PROBE_DROPPED\] + counts->skipped/n[PROBE_DROPPED]/
