# SPDX-License-Identifier: BSD-2-Clause
# Anyone's /tmp/perf-PID.map is read, not only that of the process's user.
# file: src/symbol/opener.c
# red: unit symbol_reader
# case: one of another user
s/ && process.st_uid == file.st_uid//
