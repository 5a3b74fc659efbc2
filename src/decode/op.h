/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op.h: the word for an operation of any kind of device, and the reverse for --op. Block operations
 * are numbered by each kernel: the caller passes its names.
 */
#ifndef IOSONAR_DECODE_OP_H
#define IOSONAR_DECODE_OP_H

#include <stddef.h>
#include <stdint.h>
#include "wire/io_tables.h"

/* "read", "identify"… or "op-0x93" in buf if the number has no word. */
const char *op__word(enum io_kind kind, uint8_t op, char *const *block_names, char *buf,
		     size_t size);

/*
 * Sets the bit of every operation that bears this word, of any kind; returns how many. "admin"
 * means all admin commands; "discard" also means NVMe's dsm, "write-zeroes" is the same word
 * everywhere.
 */
int op__mark(const char *word, char *const *block_names, uint64_t wanted[4][4]);

/* All words, for messages; the caller owns the array, not the words. Returns their number. */
size_t op__words(char *const *block_names, const char **words, size_t most);

#endif
