# SPDX-License-Identifier: BSD-2-Clause
# Commands that were not timed are told as timed.
# file: src/analyse/estimate.c
# red: unit estimate
# case: says how many were not timed
s/e->all.untimed += span.untimed;/e->all.untimed += 0 * span.untimed;/
