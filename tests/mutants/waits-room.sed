# SPDX-License-Identifier: BSD-2-Clause
# A call whose thread finds its place taken is not counted as lost.
# file: src/bpf/wait_call.h
# red: vm waits_many
# case: what is shown and what had no place are all calls
s/^\t\tcount(no_room);$/\t\t;/
