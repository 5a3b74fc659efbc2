/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme_kernel.h: a failed command as Linux itself logs it since 5.18, for who searches for that:
 *	nvme0n1: Read(0x2) @ LBA 2048, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR
 */
#ifndef IOSONAR_DECODE_NVME_KERNEL_H
#define IOSONAR_DECODE_NVME_KERNEL_H

#include "decode/words.h"
#include "wire/io_record.h"

/* dev: disk, or controller of an admin command. A block_size of 0 is not known. */
void nvme_kernel__line(struct words *w, const struct io_record *r, const char *dev,
		       uint32_t block_size);

#endif
