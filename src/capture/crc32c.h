/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crc32c.h: are these the bytes that were written? CRC-32C (Castagnoli), as in iSCSI and ext4;
 * crc32c("123456789") is 0xe3069283. The same result on every machine, in hardware where available.
 */
#ifndef IOSONAR_CAPTURE_CRC32C_H
#define IOSONAR_CAPTURE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *bytes, size_t nr);
uint32_t crc32c_by_table(const void *bytes, size_t nr); /* for machines without it */

#endif
