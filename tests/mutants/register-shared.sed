# SPDX-License-Identifier: BSD-2-Clause
# A struct that is passed in two registers takes one: arguments behind it are read from the wrong place.
# file: src/probe/find/abi.c
# red: unit probe_find_function
# case: takes two
s/state->next_reg += parts;/state->next_reg += 1;/
