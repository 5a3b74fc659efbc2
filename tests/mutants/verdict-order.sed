# SPDX-License-Identifier: BSD-2-Clause
# A loss hides that --fail-if came true.
# file: src/session/session.c
# red: cli replay
# case: a condition that came true is told before a loss
s/^\tif (s->came_true)$/\tif (s->came_true \&\& whole)/
