# SPDX-License-Identifier: BSD-2-Clause
# Only the loss of run B makes diff of calls exit with 3.
# file: src/diff/call_pair.c
# red: cli diff
# case: a loss in either run of calls
s/^\t\*lost |= err > 0;$/\t*lost = err > 0;/
