# SPDX-License-Identifier: BSD-2-Clause
# An object whose birth was lost is taken for a whole one.
# file: src/analyse/lives.c
# red: unit lives
# case: one whose birth was lost is not whole
s/^\tlife->first_nth = life->is_born ? .*$/\tlife->first_nth = event->nth;/
