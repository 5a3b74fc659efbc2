/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * residency.h: which parts of files are cached, as a table: a row for each file with a map of its
 * parts; in JSON also an object for each part. CSV has only the files.
 */
#ifndef IOSONAR_RENDER_RESIDENCY_H
#define IOSONAR_RENDER_RESIDENCY_H

#include "analyse/residency.h"
#include "decode/column.h"

extern const struct object residency_files, residency_parts;

struct residency_table;

struct residency_table *residency_table__new(FILE *out, enum table_format format, bool utf8);
void residency_table__add(struct residency_table *table, const char *path,
			  const struct residency *residency);
void residency_table__free(struct residency_table *table);

#endif
