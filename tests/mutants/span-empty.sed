# SPDX-License-Identifier: BSD-2-Clause
# An empty span of time is not refused.
# file: src/session/session.c
# red: cli replay
# case: what makes no sense with a capture
s/f->to_ns.value <= f->from_ns.value/f->to_ns.value < f->from_ns.value/
