# SPDX-License-Identifier: BSD-2-Clause
# In a blktrace the end of an I/O is on the CPU that submitted it.
# file: src/export/blktrace.c
# red: cli export
# case: C on the one that ended it
s/item->event.what == BLKTRACE_COMPLETE || !stages ? r->cpu : stages->cpu/!stages ? r->cpu : stages->cpu/
