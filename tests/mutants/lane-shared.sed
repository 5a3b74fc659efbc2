# SPDX-License-Identifier: BSD-2-Clause
# A command gets the lane of one that is still there: slices cross each other.
# file: src/analyse/lanes.c
# red: unit lanes
# case: none overlaps
s/l->ends\[i\] <= begin_ns/l->ends[i] <= begin_ns + 100/
