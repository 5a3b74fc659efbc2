# SPDX-License-Identifier: BSD-2-Clause
# At a kretprobe the arguments are asked for, although they are gone.
# file: src/probe/code/program_follow.c
# red: load probe_calls
# case: loaded: ret:take
s/^\treturn e->plan->is_calls \&\& e->wants->ctx == CTX_REGS \&\&$/\treturn e->plan->is_calls \&\& e->wants->ctx == CTX_RAW \&\&/
