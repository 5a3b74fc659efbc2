/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * block.h: records into the payload of a chunk and back. Values that few commands differ in (task,
 * device, queue, CPU, operation: `who`; size, status: `what`) become a row, written once, and a row
 * number per record; growing values are written as steps, predictable ones as the error of the
 * guess. About 10 bytes per random read of 104; every record comes back exactly, however odd.
 */
#ifndef IOSONAR_CAPTURE_BLOCK_H
#define IOSONAR_CAPTURE_BLOCK_H

#include <stddef.h>
#include <stdint.h>
#include "capture/bytes.h"
#include "capture/chunk.h"
#include "capture/column.h"
#include "capture/rows.h"
#include "capture/stages.h"
#include "capture/zip.h"
#include "wire/io_stages.h"

/*
 * Columns of a payload. Append, never renumber; a reader skips columns it does not know; those
 * below 66 are known to the first reader, which requires the number of values of their kind. A
 * `step` is the difference from the last record with the same `who`, and replaces the plain column
 * where it is shorter.
 */
enum capture_column_id {
	COLUMN_TIME = 1,    /* step from the record before; the first: from the chunk's min_ns */
	COLUMN_LATENCY = 2, /* time - first_ns */
	COLUMN_LATENCY_STEP = 3,
	COLUMN_LAST = 4, /* last_ns - first_ns; of a submit: end_ns */
	COLUMN_RESULT = 5,
	COLUMN_ADDRESS = 6, /* cdw10 and cdw11 as one number */
	COLUMN_ADDRESS_STEP = 7,
	COLUMN_TAG = 8,	       /* cid, low 12 bits */
	COLUMN_GENERATION = 9, /* cid, high 4 bits: error of the guess */
	COLUMN_SEQ = 10,       /* error of the guess: the CPU's last plus one */
	COLUMN_CDW14 = 11,
	COLUMN_CDW15 = 12,
	COLUMN_WHO = 13,
	COLUMN_WHAT = 14,
	NR_RECORD_COLUMNS,

	WHO_PID = 32,
	WHO_COMM0 = 33, /* bytes 0 to 7, as a little-endian number */
	WHO_COMM1 = 34,
	WHO_DEVICE = 35,
	WHO_QID = 36,
	WHO_CPU = 37, /* row of it */
	WHO_NSID = 38,
	WHO_KIND = 39,
	WHO_OP = 40,

	WHAT_BYTES = 48,
	WHAT_CDW12 = 49,
	WHAT_CDW13 = 50,
	WHAT_STATUS = 51,
	WHAT_CMD_FLAGS = 52,
	WHAT_ATTEMPTS = 53,
	WHAT_WHAT = 54,
	WHAT_FLAGS = 55,

	CPU_NUMBER = 64,
	CPU_FIRST_SEQ = 65,

	/* From 80 on: capture/stages.h. */
};
_Static_assert((int)STAGES_END <= (int)CAPTURE_COLUMNS, "all can be opened");

/* The position of each table's columns in its rows. */
extern const struct row_field capture_who_fields[], capture_what_fields[];

/* Both sides guess the generation from the last one seen at the same place of this table. */
enum { CAPTURE_GENERATIONS = 16384 };

static inline uint32_t capture_generation_place(uint16_t device, uint16_t qid, uint32_t tag)
{
	uint32_t base = (((uint32_t)device << 16 | qid) * 0x9e3779b1u) >> 18;

	return (base + tag) % CAPTURE_GENERATIONS;
}

/*
 * Records to be encoded into a payload: 2 MB, and another 2 MB that only records with stages touch;
 * see tests/unit/capture_size.c for the cost.
 */
struct capture_block;

struct capture_block *capture_block__new(void);
void capture_block__free(struct capture_block *block);
/* With its stages, if any. The caller encodes when there are CAPTURE_BLOCK_RECORDS. */
void capture_block__add(struct capture_block *block, const struct io_record *record);
size_t capture_block__nr(const struct capture_block *block);
uint64_t capture_block__min_ns(const struct capture_block *block);
/*
 * Appends the payload and fills in the chunk's count, flags, min_ns and max_ns; the block is empty
 * afterwards. `zip` may be NULL.
 */
void capture_block__encode(struct capture_block *block, struct capture_zip *zip,
			   struct capture_chunk *chunk, struct byte_out *out);

/* The way back. */
struct capture_unblock;

struct capture_unblock *capture_unblock__new(void);
void capture_unblock__free(struct capture_unblock *unblock);
/*
 * Checks the payload of chunk->count records, which must have CAPTURE_SLACK bytes after it and stay
 * in memory until all are read. 0: reading it cannot fail; -EBADMSG: malformed; -EOPNOTSUPP: zstd
 * is not built in; -ENOMEM; or the error of translation->device.
 */
int capture_unblock__open(struct capture_unblock *unblock, const struct capture_chunk *chunk,
			  const uint8_t *payload, const struct capture_translation *translation);
/*
 * The next few records, up to *end, so few that they fit the L1 cache; none: the end. Each is
 * io_record__size long. Valid until the next call.
 */
const struct io_record *capture_unblock__next(struct capture_unblock *unblock,
					      const struct io_record **end);
/* Records since the last call with times outside min_ns to max_ns of their chunk. */
uint64_t capture_unblock__take_astray(struct capture_unblock *unblock);

#endif
