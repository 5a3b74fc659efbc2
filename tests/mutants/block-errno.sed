# SPDX-License-Identifier: BSD-2-Clause
# A lost connection is told as a full disk, and the other way round.
# file: src/decode/errno.c
# red: unit record
# case: BLK_STS_NOSPC
s/ENOSPC, ENOLINK, EREMOTEIO/ENOLINK, ENOSPC, EREMOTEIO/
