/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * errno.h: how did a request of the block layer end? Each errno stands for one BLK_STS_* and has
 * the meaning of the block layer: ENODATA is a bad medium, not missing data.
 */
#ifndef IOSONAR_DECODE_ERRNO_H
#define IOSONAR_DECODE_ERRNO_H

#include <stdbool.h>
#include <stdint.h>
#include "decode/words.h"

/* From a blk_status_t number; zone_resource: the kernel still has BLK_STS_ZONE_RESOURCE (14). */
uint16_t errno__of_block(uint32_t blk_status, bool zone_resource);

/* "ok", "I/O error (EIO)", "error 200". */
void errno__describe(struct words *w, int err);

#endif
