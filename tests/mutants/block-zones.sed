# SPDX-License-Identifier: BSD-2-Clause
# A kernel without ZONE_RESOURCE is read as one that has it.
# file: src/decode/errno.c
# red: unit record
# case: BLK_STS_ZONE_OPEN_RESOURCE
s/blk_status >= 14 \&\& !zone_resource/blk_status > 14 \&\& !zone_resource/
