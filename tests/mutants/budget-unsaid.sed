# SPDX-License-Identifier: BSD-2-Clause
# Commands that were not timed are told as timed.
# file: src/analyse/sampled.c
# red: unit sampled
# case: says how many were not timed
s/s->all.untimed += span.untimed;/s->all.untimed += 0 * span.untimed;/
