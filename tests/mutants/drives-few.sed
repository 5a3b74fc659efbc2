# SPDX-License-Identifier: BSD-2-Clause
# Of two drives that differ, the slower one is called slow.
# file: src/analyse/drive_compare.c
# red: unit drives
# case: not known which
s/DRIVE_DIFFERS : DRIVE_FINE/DRIVE_SLOW : DRIVE_FINE/
