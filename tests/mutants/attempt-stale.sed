# SPDX-License-Identifier: BSD-2-Clause
# A command that is tried again keeps the command id of its first attempt.
# file: src/bpf/life.h
# red: vm attempts
# case: nvme_trace: six lines Submit, each with its cid
/^inline_always void command_sent_again/,/^}/s/^\tif (cmd)$/\tif (0)/
