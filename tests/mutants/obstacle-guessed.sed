# SPDX-License-Identifier: BSD-2-Clause
# Every refusal is put down to missing capabilities, as most programs do.
# file: src/collect/obstacle.c
# red: unit doctor
# case: little locked memory
/^static enum obstacle_kind obstacle_refused(/,/^}/ {
	s/^\tif (!rights__has_bpf(p) || !rights__has_perfmon(p))$/\tif (start \&\& p \&\& tried)/
}
