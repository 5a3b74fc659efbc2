/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.h: one command of any device in words: where it went, its options, how it ended. Text is
 * `key=value` and bare words, separated by one space, appended to existing text.
 *	lba=2048 nlb=8 len=4Ki fua passthrough		sector=2048 len=4Ki
 */
#ifndef IOSONAR_DECODE_RECORD_H
#define IOSONAR_DECODE_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include "decode/words.h"
#include "wire/io_record.h"

/* Where it begins: LBA or 512-byte sector. False if this kind of command has no blocks. */
bool record__start(const struct io_record *r, char *const *block_names, uint64_t *start);

/* The same, as columns have it; UINT64_MAX: not known, or there is none. */
struct record_place {
	uint64_t lba;	 /* in blocks of the namespace: NVMe only */
	uint64_t sector; /* in units of 512 bytes: any disk */
};
struct record_place record__place(const struct io_record *r, char *const *block_names,
				  uint32_t block_size);

/* Everything after the operation's word. A block_size of 0 is not known. */
void record__describe(struct words *w, const struct io_record *r, uint32_t block_size,
		      char *const *block_names);

/* "ok", "unrecovered read error (2/81) DNR", "I/O error (EIO)"; "-" of a submit. */
void record__status(struct words *w, const struct io_record *r);

#endif
