# SPDX-License-Identifier: BSD-2-Clause
# A part of a drive is compared with itself and others, not with the others.
# file: src/analyse/drive_sample.c
# red: unit drives
# case: a queue and a namespace that are 30 % slower are found
s/drive_io__part(io, split->part) != split->number/false/
