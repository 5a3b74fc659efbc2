/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_rows.h: a row of `cache`: accesses, hits, misses, readahead, dirtying and eviction, in
 * pages and bytes, of everything or of what its tags say. Text shows what fits a line; a column
 * that is an estimate has a ~. It serves that command alone, and goes with it.
 */
#ifndef IOSONAR_VIEW_CACHE_ROWS_H
#define IOSONAR_VIEW_CACHE_ROWS_H

#include "session/session.h"
#include "view/row_conditions.h"

struct cache_rows {
	uint32_t mask;	  /* of enum cache_by: what rows tell apart */
	const char *sort; /* the column that is sorted by */
	struct table *table;
	struct row_conditions conditions;
	struct column columns[OBJECT_COLUMNS]; /* with ~ where they are estimates */
	char marks[OBJECT_COLUMNS][16];
};

extern const struct object cache_rows_object;

/* Anew, if there is one: what is an estimate may be known only at the end. 0 or -ENOMEM, said. */
int cache_rows__make_table(struct cache_rows *rows, const struct session *session);
/* tags NULL: of everything. A row that --if does not admit is left out. */
void cache_rows__put(const struct cache_rows *rows, struct session *session,
		     const struct cache_sum *sum, const struct cache_tags *tags, bool whole);

#endif
