# SPDX-License-Identifier: BSD-2-Clause
# Slots of disks that went stay taken until half of the table is.
# file: src/collect/slots.c
# red: unit slots
# case: unless a device went
s/ || table->some_are_dead//
