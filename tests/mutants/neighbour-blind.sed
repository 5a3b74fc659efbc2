# SPDX-License-Identifier: BSD-2-Clause
# Programs of tracepoints return 0: the kernel drops the event for every user of perf.
# file: src/probe/code/program.h
# red: vm onlookers
# case: perf counts 101 beside both
s/return ctx == CTX_RECORD;/return (int)ctx * 0;/
