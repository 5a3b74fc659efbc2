# SPDX-License-Identifier: BSD-2-Clause
# A user stack is that of process 0.
# file: src/session/io_source.c
# red: cli replay
# case: shown as its golden text
s/id.words\[1\] = user ? record->pid : 0;/id.words[1] = 0;/
