/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * column.h: one column of numbers in few bytes at low cost: nothing if all are 0, one number if all
 * are equal, a list of the others if nearly all are 0, otherwise the values without their minimum
 * and common factor, in bits or, for zstd, in byte planes. Reads back in runs of 128, so that a run
 * of every column fits the L1 cache.
 */
#ifndef IOSONAR_CAPTURE_COLUMN_H
#define IOSONAR_CAPTURE_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "capture/bytes.h"
#include "capture/zip.h"

enum {
	CAPTURE_RUN = 128, /* values that share a width */
	CAPTURE_SLACK = 8, /* readable but unused bytes after a payload */
};

enum capture_packing {
	PACKING_CONSTANT = 1,
	PACKING_BITS = 2,
	PACKING_PLANES = 3,
	PACKING_SPARSE = 4,
};

enum capture_plane {
	PLANE_RAW = 0,
	PLANE_FILL = 1, /* one byte, repeated */
	PLANE_ZSTD = 2,
};

/*
 * Appends the column; destroys the values. Without `zip` (NULL) only bits are written. Returns true
 * if zstd is needed to read it back.
 */
bool capture_column__encode(struct byte_out *out, struct capture_zip *zip, uint8_t id,
			    uint64_t *values, size_t nr);

/* A column that is being read. All zeros: an absent column, which reads as zeros. */
struct capture_column {
	uint8_t packing, nr_planes;
	uint64_t least, scale;
	struct byte_in in;	  /* bits, sparse: the rest */
	uint64_t zeros;		  /* sparse: zeros before the next value */
	const uint8_t *planes[8]; /* the next value's byte in each */
	uint8_t *unpacked;	  /* unpacked by zstd; to be freed */
};

/*
 * Looks through all of it, so that reading cannot fail. False: not a column of nr values, or no
 * memory. `zip` may be NULL: planes of zstd are refused.
 */
bool capture_column__open(struct capture_column *column, struct capture_zip *zip, uint8_t packing,
			  struct byte_in in, size_t nr);
void capture_column__close(struct capture_column *column);
/* The next nr values: CAPTURE_RUN in every call but the last. */
void capture_column__read(struct capture_column *column, uint64_t *values, size_t nr);

/*
 * The columns of a payload by their ids. They are found first and opened later, when their number
 * of values is known; a column that is never opened may have any number.
 */
enum { CAPTURE_COLUMNS = 128 }; /* ids that can be opened */

struct capture_columns {
	struct capture_zip *zip; /* may be NULL: planes of zstd are refused */
	struct capture_column columns[CAPTURE_COLUMNS]; /* open, or absent */
	struct {
		uint8_t packing;
		struct byte_in in;
	} found[CAPTURE_COLUMNS];
};

/* Finds columns to the end of the payload. False: malformed. Closes the open ones. */
bool capture_columns__find(struct capture_columns *columns, struct byte_in in);
/* from_id … end_id - 1, all of nr values. False: one of them is malformed. */
bool capture_columns__open(struct capture_columns *columns, int from_id, int end_id, size_t nr);
void capture_columns__close(struct capture_columns *columns);

#endif
