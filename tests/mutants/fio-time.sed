# SPDX-License-Identifier: BSD-2-Clause
# Times in fio's log are milliseconds.
# file: src/export/fio.c
# red: cli export
# case: fio: a drive that came back
s|f->last_us = (time_ns - f->first_ns) / 1000 + IOLOG_FIRST_US;|f->last_us = (time_ns - f->first_ns) / 1000000 + IOLOG_FIRST_US;|
