/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.h: rows of the page cache: sums by the keys of --by, intervals as differences of two
 * readings, rows sorted by the requested measure, and a ledger that says whether they add up. Pure.
 */
#ifndef IOSONAR_ANALYSE_CACHE_H
#define IOSONAR_ANALYSE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/page_cache.h"

enum cache_by {
	CACHE_BY_COMM,
	CACHE_BY_PID,
	CACHE_BY_FILE,
	CACHE_BY_CGROUP,
	CACHE_BY_DEV,
	CACHE_BY_OP,
	CACHE_BY_HOST,
	NR_CACHE_BY
};

/* How accesses are seen. */
enum cache_method {
	CACHE_BY_FENTRY,      /* start and end of every request */
	CACHE_BY_KPROBES,     /* start and end; writes: start only */
	CACHE_BY_TRACEPOINTS, /* not seen: only additions and removals */
};

struct cache_tags {
	uint64_t inode, cgroup;
	char comm[CACHE_COMM_LEN];
	uint32_t dev, pid;
	uint16_t nth;  /* number among the files with this inode: wire/file_id.h */
	uint16_t host; /* of captures, from 1 on; 0: live */
	int op;	       /* enum cache_op, or -1: all */
	bool other;    /* keys that did not fit into the table */
};

enum { CACHE_UNSEEN = 256 }; /* bytes */

/* What the collector reports about itself. Pages as the kernel counts them; UINT64_MAX: unknown. */
struct cache_about {
	enum cache_method method;
	char unseen[CACHE_UNSEEN]; /* functions that cannot be probed here: "a, b" */
	uint64_t page_bytes;
	uint64_t cached_before, cached_after;
	bool filtered; /* a filter left something out */
};

/* Counts of accesses, and of pages by how they came and went. */
struct cache_sums {
	uint64_t accesses, hits, ra_hits, misses, allocated;
	uint64_t added, demanded, readahead, other;
	uint64_t dirtied, written;
	uint64_t removed, evicted, truncated, unused;
};

struct cache_sum {
	struct cache_tags tags;
	uint64_t now[NR_CACHE_COUNTS], before[NR_CACHE_COUNTS];
};

struct cache_table {
	struct cache_sum *sums;
	size_t nr, room;
	size_t next; /* where the next row is, if they come in the order of the last reading */
	struct cache_sum total;
};

void cache_tags__set(struct cache_tags *tags, const struct cache_key *key);
/* Clears the tags that are not in `by`, a mask of enum cache_by, but for the host. */
void cache_tags__mask(struct cache_tags *tags, uint32_t by);

void cache_table__free(struct cache_table *table);
/* A reading: begin, add every row, then query; the next reading begins from this one. */
void cache_table__begin(struct cache_table *table);
int cache_table__add(struct cache_table *table, const struct cache_tags *tags,
		     const uint64_t counts[NR_CACHE_COUNTS]); /* -ENOMEM */
/* Since the last reading; whole: since the start. */
void cache_sum__take(const struct cache_sum *sum, bool whole, struct cache_sums *sums);
double cache_sums__hit_percent(const struct cache_sums *sums); /* NaN without accesses */

/* What rows are sorted by, largest first. */
enum cache_sort {
	CACHE_SORT_MISSES,
	CACHE_SORT_ACCESSES,
	CACHE_SORT_HITS,
	CACHE_SORT_RA_HITS,
	CACHE_SORT_READAHEAD,
	CACHE_SORT_UNUSED,
	CACHE_SORT_DIRTIED,
	CACHE_SORT_WRITTEN,
	CACHE_SORT_EVICTED,
};
/* order: room for table->nr rows; rows that are all 0 are left out. Returns their number. */
size_t cache_table__sort(const struct cache_table *table, enum cache_sort by, bool whole,
			 const struct cache_sum **order);

/* Of captures together: the least that all tell, and the functions that any lacks. */
void cache_about__add(struct cache_about *about, const struct cache_about *other);

struct cache_losses {
	uint64_t no_task, no_key, unclosed, ra_lost, no_file, skipped;
	uint64_t events, events_lost; /* events_lost: those that found the ring full */
	uint64_t no_cause;	      /* bios whose pages could not be linked to a command */
};
void cache_losses__add(struct cache_losses *losses, const struct cache_losses *other);

/*
 * accesses = hits + ra_hits + misses, each counted where it happens;
 * added = demanded + readahead + other; removed = evicted + truncated;
 * added - removed = change, which the kernel counts itself.
 */
struct cache_ledger {
	struct cache_sums sums;
	struct cache_losses losses;
	int64_t grown;	/* added - removed */
	int64_t change; /* as the kernel counts; with change_known */
	bool change_known;
	uint64_t unaccounted; /* difference that nothing explains */
	uint64_t lost;
};
void cache_ledger__settle(struct cache_ledger *ledger);

#endif
