# SPDX-License-Identifier: BSD-2-Clause
# A capture forgets the type of the file system that a call was on.
# file: src/capture/waits.c
# red: unit capture_waits
# case: has every wait to the last bit, in order
s/^\tif (\*wait->fs)$/\tif (!*wait->fs)/
