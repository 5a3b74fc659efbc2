/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_rows.h: a row of `cache`: accesses, hits, misses, readahead, dirtying and eviction, in
 * pages and bytes, in total or for its tags. Text shows what fits in a line; an estimated column
 * has a ~. Used only by that command; remove it with that command.
 */
#ifndef IOSONAR_VIEW_CACHE_ROWS_H
#define IOSONAR_VIEW_CACHE_ROWS_H

#include "session/session.h"
#include "view/row_conditions.h"

struct cache_rows {
	uint32_t mask;	  /* of enum cache_by: keys of the rows */
	const char *sort; /* the sort column */
	bool tells_hosts; /* keys of two machines are two rows */
	struct table *table;
	struct row_conditions conditions;
	bool is_hidden; /* rows are only judged by --fail-if: --top hides them */
	struct column columns[OBJECT_COLUMNS]; /* with ~ where they are estimates */
	char marks[OBJECT_COLUMNS][16];
};

extern const struct object cache_rows_object;

/* Of captures of several machines: with the host, unless a key tells them apart (dev), or all keys
 * mean the same on each (op). */
void cache_rows__tell_hosts(struct cache_rows *rows, const struct session *session);
/* Replaces an existing table: estimates may be known only at the end. 0 or -ENOMEM, said. */
int cache_rows__make_table(struct cache_rows *rows, const struct session *session);
/* tags NULL: the total. Leaves out a row that --if does not admit. */
void cache_rows__put(const struct cache_rows *rows, struct session *session,
		     const struct cache_sum *sum, const struct cache_tags *tags, bool whole);

#endif
