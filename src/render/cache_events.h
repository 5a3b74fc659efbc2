/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_events.h: single events of the page cache as lines: requests that missed, and the commands
 * they caused. Text and CSV have one of these kinds, JSON both.
 */
#ifndef IOSONAR_RENDER_CACHE_EVENTS_H
#define IOSONAR_RENDER_CACHE_EVENTS_H

#include "decode/column.h"
#include "wire/page_cache.h"

extern const struct object cache_event_misses, cache_event_commands;

/* Names for the numbers of an event. */
struct cache_event_names {
	const char *file, *dev, *disk; /* hostile; NULL: not known */
};

struct cache_event_table;

/* commands: text and CSV show commands instead of misses. */
struct cache_event_table *cache_event_table__new(FILE *out, enum table_format format, bool commands,
						 uint64_t start_ns, uint64_t page_bytes);
/* As table__set_clock. */
int cache_event_table__set_clock(struct cache_event_table *table, const struct table_clock *clock);
/* Does this format show the event? */
bool cache_event_table__shows(const struct cache_event_table *table,
			      const struct cache_event *event);
void cache_event_table__add(struct cache_event_table *table, const struct cache_event *event,
			    const struct cache_event_names *names);
void cache_event_table__free(struct cache_event_table *table);

#endif
