/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_events.h: what the page cache tells one by one, as lines: requests that missed, and what
 * commands brought. Text and CSV have one kind of them, JSON both.
 */
#ifndef IOSONAR_RENDER_CACHE_EVENTS_H
#define IOSONAR_RENDER_CACHE_EVENTS_H

#include "decode/column.h"
#include "wire/page_cache.h"

extern const struct object told_misses, told_commands;

/* What numbers stand for. */
struct told_names {
	const char *file, *dev, *disk; /* hostile; NULL: not known */
};

struct told_table;

/* commands: these are what text and CSV show. */
struct told_table *told_table__new(FILE *out, enum table_format format, bool commands,
				   uint64_t start_ns, uint64_t page_bytes);
/* Is it shown at all? */
bool told_table__shows(const struct told_table *table, const struct cache_event *event);
void told_table__add(struct told_table *table, const struct cache_event *event,
		     const struct told_names *names);
void told_table__free(struct told_table *table);

#endif
