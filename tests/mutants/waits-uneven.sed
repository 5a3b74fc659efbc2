# SPDX-License-Identifier: BSD-2-Clause
# The time in the run queue is in no part of a call.
# file: src/bpf/waits.bpf.c
# red: vm waits
s/t->record.runnable_ns += now - woken;/t->record.runnable_ns += now > woken;/
