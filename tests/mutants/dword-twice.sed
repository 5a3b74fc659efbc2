# SPDX-License-Identifier: BSD-2-Clause
# Command dword 15 stands for 14 too.
# file: src/bpf/note.h
# red: vm words
# case: name, ids, fields
s/^\tmore->cdw10\[4\] = field_of_command(pointers, cmd, cdw10\[4\]);$/\tmore->cdw10[4] = field_of_command(pointers, cmd, cdw10[5]);/
