# SPDX-License-Identifier: BSD-2-Clause
# A stack that reaches the function that nobody called is complete.
# file: src/bpf/unwind.h
# red: vm unwind
# case: auto: one function behind another
s/return UNWIND_COMPLETE;/return UNWIND_TRUNCATED;/
