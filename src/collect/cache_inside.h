/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_inside.h: what the files of the page cache's collector share: cache.c (tables, reading),
 * cache_programs.c (which programs, where), cache_settings.c (settings of the programs).
 */
#ifndef IOSONAR_COLLECT_CACHE_INSIDE_H
#define IOSONAR_COLLECT_CACHE_INSIDE_H

#include "collect/cache.h"
#include "collect/file_names.h"
#include "collect/obstacle.h"

struct bpf_link;
struct ring_buffer;
struct btf;
struct cache_bpf;

enum { CACHE_LINKS = 64 }; /* more than there are programs */

struct cache_cells {
	void *cells;
	size_t bytes;
};

struct cache {
	struct cache_wants wants;
	struct cache_bpf *skel;
	enum cache_method method;
	struct btf *btf; /* the kernel's, during start */
	uint32_t nr_cpus, nr_keys;
	struct cache_cells rows, keys, files;
	struct mounts mounts;
	struct ring_buffer *ring; /* with events */
	cache_event_fn event_fn;  /* of the current reader */
	void *event_arg;
	uint64_t start_ns, skipped;
	char unseen[256]; /* functions that could not be watched */
	struct bpf_link *links[CACHE_LINKS];
	int nr_links;
};

/* Settings, before the programs are loaded. 0, or -EINVAL after one line. */
int cache_set(struct cache *cache);
/* Uses the first method that works, and notes it. 0, or -errno after one line. */
int cache_load_and_attach(struct cache *cache);
void cache_unlink(struct cache *cache); /* starts first */

#endif
