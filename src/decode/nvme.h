/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nvme.h: NVMe numbers as words. A number without a word gives NULL: the caller prints the number,
 * never a blank. Words are lower case with hyphens, as --op takes them; a command's fields are
 * `key=value` or a bare word for a flag, separated by one space:
 *	lba=2048 nlb=8 len=4Ki fua prchk=guard,ref reftag=0x800
 *	fid=number-of-queues nsq=8 ncq=8 -> nsq=2 ncq=2
 * After the arrow comes the controller's answer: only for a command that succeeded.
 */
#ifndef IOSONAR_DECODE_NVME_H
#define IOSONAR_DECODE_NVME_H

#include <stdbool.h>
#include <stdint.h>
#include "decode/words.h"
#include "wire/io_record.h"
#include "wire/io_tables.h"

/* By opcode, for fabrics by type; NULL for operations of the block layer. */
const char *nvme_command__name(enum io_kind kind, uint8_t op);

/* First logical block, if this kind of command has one. */
bool nvme_command__lba(const struct io_record *r, uint64_t *lba);

/* Everything after the opcode. A block_size of 0 is not known: no `len`. */
void nvme_command__describe(struct words *w, const struct io_record *r, uint32_t block_size);

/*
 * The words of a status, without retry advice, or NULL. Fabrics and the NVM command set use the
 * same numbers, so the kind of the command decides.
 */
const char *nvme_status__name(enum io_kind kind, uint16_t status);

/* The path to the namespace failed, not the command: another path may serve it. */
bool nvme_status__is_path(enum io_kind kind, uint16_t status);

/* "ok", or "unrecovered read error (2/81) DNR more crd=1". */
void nvme_status__describe(struct words *w, enum io_kind kind, uint16_t status);

/*
 * A failed command as Linux itself logs it since 5.18, for searching logs:
 *	nvme0n1: Read(0x2) @ LBA 2048, 8 blocks, Unrecovered Read Error (sct 0x2 / sc 0x81) DNR
 * dev: disk, or controller of an admin command. A block_size of 0 is unknown.
 */
void nvme_kernel__line(struct words *w, const struct io_record *r, const char *dev,
		       uint32_t block_size);

#endif
