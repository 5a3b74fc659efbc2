# SPDX-License-Identifier: BSD-2-Clause
# The parts of a bio that is split are not followed: their commands are missing from the call.
# file: src/bpf/wait_command.h
# red: vm waits_commands
# case: a read that is split waited for all of its parts
s/^\tbio_put((__u64)front, &note);$/\t(void)note;/
