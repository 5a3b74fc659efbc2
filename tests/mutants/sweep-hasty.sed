# SPDX-License-Identifier: BSD-2-Clause
# A slot is swept while a program may still be using it.
# file: src/collect/slots.c
# red: unit slots
s/^\(static const uint64_t slot_grace_ns = \)100000000;/\11;/
