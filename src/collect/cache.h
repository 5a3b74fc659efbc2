/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.h: the collector of the page cache: pages that were requested, found, brought in, read
 * ahead, dirtied, written and removed, counted in the kernel for each key and CPU. Runs two
 * programs for each request and one for each folio added, removed or dirtied. It cannot see an
 * access through a mapping that does not fault, nor pages of tmpfs that are swapped.
 */
#ifndef IOSONAR_COLLECT_CACHE_H
#define IOSONAR_COLLECT_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include "analyse/cache.h"
#include "base/options.h"
#include "wire/page_cache.h"

struct cache;

struct cache_wants {
	const struct filter_options *filter; /* of which devices, pid, comm and cgroup count */
	struct option_number tid;
	const char *file;
	uint32_t by;	       /* mask of enum cache_by */
	bool events;	       /* each miss */
	bool then_io;	       /* and each command that brings pages */
	uint64_t buffer_bytes; /* for events; 0: the default */
};

/* 0, or -errno after one line. Free it in any case. */
int cache__open(struct cache **cache, const struct cache_wants *wants);
void cache__detach(struct cache *cache);
void cache__free(struct cache *cache);

uint64_t cache__start_ns(const struct cache *cache);
enum cache_method cache__method(const struct cache *cache);
/* Functions that this kernel does not show, each with what is missing without it: "shmem_fault". */
const char *cache__unseen(const struct cache *cache);

/* All keys as they are now; a key may come twice. */
typedef void (*cache_row_fn)(void *arg, const struct cache_tags *tags,
			     const uint64_t counts[NR_CACHE_COUNTS]);
void cache__read(const struct cache *cache, cache_row_fn fn, void *arg);
/* Events since the last call, in order of their ends; `told` is the kind. fn: 0 continues; a
 * negative errno stops. */
typedef int (*cache_event_fn)(void *arg, const struct cache_event *event);
int cache__events(struct cache *cache, cache_event_fn fn, void *arg);
/* Losses so far; at the end, after cache__detach, also what the kernel skipped. */
void cache__losses(const struct cache *cache, struct cache_losses *losses);

/* Pages of all files as the kernel counts them. UINT64_MAX: it does not tell. */
uint64_t cache__kernels_pages(void);

/* place: io_file_place; malloced, hostile */
char *cache__file(const struct cache *cache, uint64_t inode, uint64_t place);
char *cache__disk(uint64_t dev); /* malloced: "nvme0n1p1"; of no device: "0:34" */

#endif
