# SPDX-License-Identifier: BSD-2-Clause
# A named wait ends where the request is got, though another one began before: its time counts twice.
# file: src/analyse/steps.c
# red: unit steps
# case: a wait lasts until the next one
s/^\t\tuntil = from;$/\t\t(void)from;/
