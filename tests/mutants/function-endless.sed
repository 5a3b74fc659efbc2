# SPDX-License-Identifier: BSD-2-Clause
# A function without symbols around it is the one before it, however far away.
# file: src/symbol/table.c
# red: unit kallsyms
s/offset < entry->size_bytes$/true/
