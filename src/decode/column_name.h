/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * column_name.h: which column does a word of the user mean? Its key (lat_ns), its key without the
 * unit (lat), or its heading in text (latency), in this order: a key is never taken for a heading.
 * For --columns, --if, --fail-if and --when.
 */
#ifndef IOSONAR_DECODE_COLUMN_NAME_H
#define IOSONAR_DECODE_COLUMN_NAME_H

#include "decode/column.h"

enum { COLUMN_NAME = 64 }; /* bytes */

/* The name in an expression, where units belong to numbers: p99 for p99_ns; p99.9 for p99_9_ns. */
void column__name(const struct column *column, char name[COLUMN_NAME]);
/* The place of the column; -ENOENT; -EEXIST: several have this heading. The word has len bytes. */
int columns__find(const struct column *const *columns, size_t nr, const char *word, size_t len);
/* "readahead and readahead_bytes": the keys of the columns with this heading. Returns buf. */
char *columns__keys_of(const struct column *const *columns, size_t nr, const char *heading,
		       size_t len, char *buf, size_t size);

#endif
