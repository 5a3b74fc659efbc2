# SPDX-License-Identifier: BSD-2-Clause
# A process that is not published yet is never unwound by the tables of its files.
# file: src/bpf/unwind.h
# red: vm unwind
# case: processes that end at once
s/!(epoch & 1)/(epoch \& 1)/
