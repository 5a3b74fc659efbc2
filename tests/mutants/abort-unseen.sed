# SPDX-License-Identifier: BSD-2-Clause
# A command that an abort meant is not taken for one that timed out.
# file: src/analyse/troubles.c
# red: unit troubles
# case: is not its own, but this one is
s/t.timed_out |= troubles_was_aborted(all, r, ctrl, r->cid);/t.timed_out |= false;/
