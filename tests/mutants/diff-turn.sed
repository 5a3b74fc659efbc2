# SPDX-License-Identifier: BSD-2-Clause
# The intervals of a saved run are one block.
# file: src/diff/printout.c
# red: cli diff
# case: saved with --hist it has blocks
/^static void printout_begin_turn(/,/^}/s/^\t\tsample__end_turn(&group->turns);$/\t\tgroup->turn_s = 0;/
