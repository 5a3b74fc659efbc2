# SPDX-License-Identifier: BSD-2-Clause
# Commands of all depths are compared: a drive that is only busier is slow.
# file: src/analyse/drive_sample.c
# red: unit drives
# case: no healthy drive is
s/return depth > 1 ? .*;/return depth < 0;/
