# SPDX-License-Identifier: BSD-2-Clause
# A command that an abort meant is not taken for one that timed out.
# file: src/analyse/troubles.c
# red: unit troubles
# case: is not its own, but this one is
s/^\t\tt.timed_out = true;$/\t\tt.timed_out = false;/
