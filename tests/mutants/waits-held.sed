# SPDX-License-Identifier: BSD-2-Clause
# A bio that io.max lets go still counts as held back.
# file: src/bpf/wait_held.h
# red: vm waits_causes
# case: the device took as long as ever
s/count_up(t->nr_released);/(void)t;/
