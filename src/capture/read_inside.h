/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read_inside.h: what read.c, which hands on the contents of a capture, and verify.c, which looks
 * at all of them, share.
 */
#ifndef IOSONAR_CAPTURE_READ_INSIDE_H
#define IOSONAR_CAPTURE_READ_INSIDE_H

#include "capture/block.h"
#include "capture/read.h"
#include "capture/survey.h"

struct capture_reader {
	struct capture_contents file;
	uint64_t from_ns, to_ns;
	bool is_bounded;
	bool knows_functions; /* the chunk with the functions of the calls was read */
	struct capture_unblock *unblock;
	size_t to_block; /* reading ends before this one */
	struct capture_translation translation;
	const struct io_record *at, *end; /* decoded records of the block, from the next one on */
	uint64_t place;			  /* of the last record: its block and its number there */
	struct capture_damage surveyed;	  /* found before any block was read */
	char *label;			  /* NULL: the path */
};

/* One capture of a file; walks: from chunk to chunk, without its index. */
int reader_open(const char *path, uint16_t part, bool walks, struct capture_reader **reader);

#endif
