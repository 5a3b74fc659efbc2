# SPDX-License-Identifier: BSD-2-Clause
# The flush after a write is not followed: a commit's flushes are one of two, on a device without FUA.
# file: src/bpf/wait_command.h
# red: vm waits_journal
# case: FUA 0: flushes: 2
s/return note->issue_ns && !note->is_sent &&/return 0 \&\& note->issue_ns \&\& !note->is_sent \&\&/
