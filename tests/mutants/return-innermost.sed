# SPDX-License-Identifier: BSD-2-Clause
# A return ends the innermost call, whoever returns.
# file: src/analyse/calls.c
# red: unit calls
# case: who left around them left them, too
s/^\tstruct call \*call = calls_find_open(calls, task, event->function);$/\tstruct call *call = calls_find_open(calls, task, event->function) ? task->now : NULL;/
