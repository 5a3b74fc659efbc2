# SPDX-License-Identifier: BSD-2-Clause
# A key's place in the front does not keep the key: its count is another key's.
# file: src/probe/code/program_front.c
# red: load probe_run
# case: each key has its count
/code__store(code, 8, front_word(i), R2);/d
