# SPDX-License-Identifier: BSD-2-Clause
# What became of an I/O that is no longer among the slowest is never given back.
# file: src/analyse/slowest.c
# red: unit slowest
# case: of those that had to go
s/^\tfree(s->ios\[at\].below);$//
