# SPDX-License-Identifier: BSD-2-Clause
# The I/O of other tasks counts as the thread's own.
# file: src/analyse/waits.c
# red: unit waits
# case: wait_on_page_bit_common
s/\[WAIT_IO_NONE\] = PART_OTHERS/[WAIT_IO_NONE] = PART_DEVICE/
