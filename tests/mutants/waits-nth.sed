# SPDX-License-Identifier: BSD-2-Clause
# A capture forgets which of the files with the same inode number a call was on.
# file: src/capture/waits.c
# red: unit capture_waits
# case: has every wait to the last bit, in order
s/byte_out__varint(out, r->nth);/byte_out__varint(out, 0);/
