# SPDX-License-Identifier: BSD-2-Clause
# The name of the machine that a capture is of is never given back.
# file: src/session/io_replay.c
# red: cli leaks with sanitizers
# case: leave no memory behind
s/^\t\tfree(replay->origins\[i\].host);$/\t\t(void)replay->origins[i].host;/
