/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * residency.h: how much of a file is in the page cache, and which parts? Pages are base pages; a
 * part is an equal share of the file, the last one may be shorter. It cannot tell how long a page
 * will stay.
 */
#ifndef IOSONAR_ANALYSE_RESIDENCY_H
#define IOSONAR_ANALYSE_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

enum { RESIDENCY_PARTS = 48, RESIDENCY_MAP = 4 * RESIDENCY_PARTS + 1 };

struct residency {
	uint64_t size_bytes;
	uint32_t page_bytes;
	uint64_t pages; /* of the file, cached or not */
	uint64_t cached;
	uint64_t dirty, writeback; /* of the cached pages; UINT64_MAX: unknown */
	uint32_t nr_parts;	   /* 0: the file is empty */
	uint64_t part_pages;	   /* of each but the last */
	uint64_t part_cached[RESIDENCY_PARTS];
};

/* A file of this size, with no page cached, divided into parts. */
void residency__plan(struct residency *residency, uint64_t size_bytes, uint32_t page_bytes);
uint64_t residency__part_pages(const struct residency *residency, uint32_t part);
double residency__percent(const struct residency *residency); /* 0 for an empty file */
/* "█▓░ ": a character for each part, blank where nothing is cached. Returns map. */
char *residency__map(const struct residency *residency, bool utf8, char map[RESIDENCY_MAP]);

#endif
