# SPDX-License-Identifier: BSD-2-Clause
# A write with O_DSYNC counts as any other.
# file: src/bpf/wait_call.h
# red: vm waits_calls
# case: dsync: seven calls of syncwrite
s/WAIT_O_DSYNC = 010000/WAIT_O_DSYNC = 0/
