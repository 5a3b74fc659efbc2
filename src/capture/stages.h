/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stages.h: struct io_stages, which follows some records, into columns of its own and back. Each
 * time is written as the difference from its neighbour in the life of a command; owner and file
 * become rows. A block without stages has none of these columns, at no cost.
 */
#ifndef IOSONAR_CAPTURE_STAGES_H
#define IOSONAR_CAPTURE_STAGES_H

#include <stdbool.h>
#include <stdint.h>
#include "capture/bytes.h"
#include "capture/column.h"
#include "capture/glossary.h"
#include "capture/rows.h"
#include "capture/zip.h"
#include "wire/io_stages.h"

/* Columns of a payload: see enum capture_column_id. */
enum stages_column_id {
	STAGES_OWNERS = 80, /* one value: rows of the table of owners, minus one */
	STAGES_FILES = 81,  /* of files */
	STAGES_QUEUED = 82, /* from here on, one value per record that has stages */
	STAGES_GOT = 83,
	STAGES_INSERTED = 84,
	STAGES_ISSUED = 85,
	STAGES_REAPED = 86,
	STAGES_DONE = 87,
	STAGES_DEPTH = 88,
	STAGES_BIOS = 89,
	STAGES_OWNER = 90, /* row of it */
	STAGES_FILE = 91,
	STAGES_FLUSHED = 92,
	STAGES_WRITTEN = 93,
	STAGES_WAIT = 94, /* the waits, as they are: IO_WAITS columns */
	STAGES_END_VALUES = STAGES_WAIT + IO_WAITS,

	OWNER_CGROUP = 96,
	OWNER_TID = 97,
	OWNER_CPU = 98,

	FILE_INODE = 104,
	FILE_DEV = 105,
	FILE_KERNEL_STACK = 106,
	FILE_USER_STACK = 107,
	FILE_NTH = 108,
	STAGES_END,
};

/* How to translate the records of a file, for callers that read several files as one. */
struct capture_translation {
	uint64_t shift_ns;			    /* added to their times */
	int (*device)(void *arg, uint16_t in_file); /* its new number; -errno; NULL: unchanged */
	/* Translates an id of the file. NULL: unchanged. */
	struct glossary_id (*id)(void *arg, enum glossary_kind kind, struct glossary_id in_file);
	void *arg;
};

/* The record after this one. */
static inline const struct io_record *stages__next_record(const struct io_record *record)
{
	return (const struct io_record *)((const char *)record + io_record__size(record));
}

/* Rows of the last record with the same `who`: this record's are likely the same. */
struct stages_guess {
	uint32_t owner, file;
};

struct stages_block;

struct stages_block *stages_block__new(void);
void stages_block__free(struct stages_block *block);
/* Adds a record with stages; a block holds as many as records. */
void stages_block__add(struct stages_block *block, const struct io_record *record,
		       struct stages_guess *guess);
uint32_t stages_block__nr(const struct stages_block *block);
/* Appends all columns and empties them. True: zstd is needed to read them back. */
bool stages_block__encode(struct stages_block *block, struct capture_zip *zip,
			  struct byte_out *out);

/* Decoding. All zeros: a block without stages. */
struct stages_unblock {
	struct capture_columns *columns;
	const struct capture_translation *translation;
	uint32_t nr, at;	    /* records with stages, and how many were read */
	struct row *owners, *files; /* rows */
	uint32_t nr_owners, nr_files;
	uint16_t owner_of[CAPTURE_BLOCK_RECORDS], file_of[CAPTURE_BLOCK_RECORDS];
	uint64_t run[STAGES_END_VALUES - STAGES_QUEUED][CAPTURE_RUN];
};

/*
 * nr of the block's records have stages, which are translated like the records. 0; -EBADMSG:
 * malformed columns; -ENOMEM.
 */
int stages_unblock__open(struct stages_unblock *unblock, struct capture_columns *columns,
			 uint32_t nr, const struct capture_translation *translation);
void stages_unblock__free(struct stages_unblock *unblock);
/* Stages of the next record that has some; the record itself is decoded already. */
void stages_unblock__next(struct stages_unblock *unblock, const struct io_record *record,
			  struct io_stages *stages);

#endif
