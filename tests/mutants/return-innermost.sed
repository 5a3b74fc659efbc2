# SPDX-License-Identifier: BSD-2-Clause
# A return ends the innermost call, whoever returns.
# file: src/analyse/calls.c
# red: unit calls
# case: who left around them left them, too
s/^\t\tcall = open_place(\(.*\))->call;$/\t\tcall = open_place(\1)->call ? task->now : NULL;/
