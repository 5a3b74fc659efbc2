# SPDX-License-Identifier: BSD-2-Clause
# The process that opens files keeps every right.
# file: src/symbol/opener.c
# red: unit symbols
# case: three at most
s/^\tsyscall(SYS_capset, &self, caps);$//
