# SPDX-License-Identifier: BSD-2-Clause
# A drive that came back under its name is added twice to fio's log.
# file: src/export/fio.c
# red: cli export
# case: came back under its name
s/if (f->used\[i\] && !strcmp(fio_name(f, i), fio_name(f, device)))/if (f->used[i] \&\& i == device)/
