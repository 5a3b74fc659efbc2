# SPDX-License-Identifier: BSD-2-Clause
# A stack that finds no row is not counted.
# file: src/analyse/stacks.c
# red: unit stacks
s/^\tstacks_add_to(&row->sum, ns, bytes);$/\tif (row != \&s->other)\n\t\tstacks_add_to(\&row->sum, ns, bytes);/
