/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/cache_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/log.h"
#include "bpf/cache.skel.h"
#include "collect/io.h"

enum { CACHE_MOST_KEYS = 8192, CACHE_ROW_BYTES = 64 << 20 };

/* ---- open ---- */

/* A key has a row for each CPU; the total number of rows is bounded. */
static uint32_t cache_nr_keys(const struct cache *c)
{
	uint32_t nr = CACHE_MOST_KEYS;

	if (!c->wants.by)
		return 1;
	while (nr > 2 && (uint64_t)nr * c->nr_cpus * sizeof(struct cache_row) > CACHE_ROW_BYTES)
		nr /= 2;
	return nr;
}

static int cache_map(struct cache_cells *to, const struct bpf_map *map)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);

	bytes = (bytes + page - 1) / page * page;
	to->cells = mmap(NULL, bytes, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);
	if (to->cells == MAP_FAILED) {
		to->cells = NULL;
		return log_err(-errno, "cannot map the tables: %s", strerror(errno));
	}
	to->bytes = bytes;
	return 0;
}

static int cache_on_event(void *arg, void *data, size_t size)
{
	const struct cache_event *event = data;
	struct cache *c = arg;
	size_t least = size >= sizeof(*event) && event->told == CACHE_TOLD_COMMAND
			       ? sizeof(struct cache_command)
			       : sizeof(*event);

	return size < least ? 0 : c->event_fn(c->event_arg, event);
}

static int cache_start(struct cache *c)
{
	int err;

	c->btf = kernel__load_btf(&err);
	if (!c->btf)
		return obstacle__say(&(struct start){ START_BTF, err });
	if (c->wants.by >> CACHE_BY_FILE & 1 || c->wants.events)
		mounts__read(&c->mounts, "/proc/self/mountinfo");
	err = cache_load_and_attach(c);
	c->start_ns = clock__mono_ns(); /* attaching twenty programs takes time */
	err = err ?: cache_map(&c->rows, c->skel->maps.cache_rows);
	err = err ?: cache_map(&c->keys, c->skel->maps.cache_keys);
	err = err ?: cache_map(&c->files, c->skel->maps.cache_files);
	if (!err && c->wants.events) {
		c->ring = ring_buffer__new(bpf_map__fd(c->skel->maps.cache_events), cache_on_event,
					   c, NULL);
		if (!c->ring)
			err = log_err(-errno, "cannot map the ring: %s", strerror(errno));
	}
	btf__free(c->btf);
	c->btf = NULL;
	return err;
}

int cache__open(struct cache **out, const struct cache_wants *wants)
{
	struct cache *c = calloc(1, sizeof(*c));
	int err;

	*out = c;
	if (!c)
		return log_err(-ENOMEM, "out of memory");
	io__hush_libbpf();
	c->wants = *wants;
	c->nr_cpus = (uint32_t)libbpf_num_possible_cpus();
	c->nr_keys = cache_nr_keys(c);
	err = cache_start(c);
	if (!err)
		log_verbose("tables: %u keys on %u CPUs, %.1f MiB", c->nr_keys, c->nr_cpus,
			    (double)(c->rows.bytes + c->keys.bytes + c->files.bytes) / (1 << 20));
	return err;
}

/* ---- the end ---- */

void cache__detach(struct cache *c)
{
	if (!c->nr_links)
		return;
	cache_unlink(c);
	io__wait_for_programs();
	io__count_skipped(c->skel->obj, &c->skipped);
}

static void cache_unmap(struct cache_cells *cells)
{
	if (cells->cells)
		munmap(cells->cells, cells->bytes);
}

void cache__free(struct cache *c)
{
	if (!c)
		return;
	cache_unlink(c);
	ring_buffer__free(c->ring);
	cache_unmap(&c->rows);
	cache_unmap(&c->keys);
	cache_unmap(&c->files);
	cache_bpf__destroy(c->skel);
	mounts__free(&c->mounts);
	free(c);
}

/* ---- reading ---- */

static void cache_tags_of(const struct cache *c, uint32_t nr, struct cache_tags *tags)
{
	const struct cache_key *key = (const struct cache_key *)c->keys.cells + nr;

	*tags = (struct cache_tags){ .op = -1, .other = c->wants.by && !nr };
	if (nr)
		cache_tags__set(tags, key);
	if (!(c->wants.by >> CACHE_BY_OP & 1))
		tags->op = -1;
}

static bool cache_sum_cpus(const struct cache *c, uint32_t nr, uint64_t counts[NR_CACHE_COUNTS])
{
	const struct cache_row *rows = (const struct cache_row *)c->rows.cells + nr * c->nr_cpus;
	uint64_t any = 0;

	memset(counts, 0, NR_CACHE_COUNTS * sizeof(counts[0]));
	for (uint32_t cpu = 0; cpu < c->nr_cpus; cpu++)
		for (int i = 0; i < NR_CACHE_COUNTS; i++) {
			uint64_t n = __atomic_load_n(&rows[cpu].counts[i], __ATOMIC_RELAXED);

			counts[i] += n;
			any |= n;
		}
	return any;
}

void cache__read(const struct cache *c, cache_row_fn fn, void *arg)
{
	uint64_t counts[NR_CACHE_COUNTS];
	struct cache_tags tags;

	for (uint32_t nr = 0; nr < c->nr_keys; nr++) {
		if (nr && !((const struct cache_key *)c->keys.cells)[nr].what)
			continue;
		if (!cache_sum_cpus(c, nr, counts))
			continue;
		cache_tags_of(c, nr, &tags);
		fn(arg, &tags, counts);
	}
}

int cache__events(struct cache *c, cache_event_fn fn, void *arg)
{
	int err;

	if (!c->ring)
		return 0;
	c->event_fn = fn;
	c->event_arg = arg;
	err = ring_buffer__consume(c->ring);
	return err < 0 ? err : 0;
}

void cache__losses(const struct cache *c, struct cache_losses *l)
{
	const struct cache_counters *n = &c->skel->bss->counters;

	*l = (struct cache_losses){
		.no_task = n->no_task,
		.no_key = n->no_key,
		.unclosed = n->unclosed,
		.ra_lost = n->ra_lost,
		.no_file = n->no_file,
		.skipped = c->skipped,
		.events = n->events,
		.events_lost = n->events_lost,
		.no_cause = n->no_cause,
	};
}

/* ---- the kernel's own count ---- */

/* Reading stat_refresh makes the CPUs report their counts (root only); otherwise it is
 * approximate. */
static void cache_refresh(void)
{
	FILE *file = fopen("/proc/sys/vm/stat_refresh", "re");
	char byte[1];

	if (file && fread(byte, 1, 1, file) != 1)
		clearerr(file);
	if (file)
		fclose(file);
}

/* The first number includes pages of the swap cache, which belong to no file. */
uint64_t cache__kernels_pages(void)
{
	unsigned long long pages = 0, swapped = 0;
	bool known = false;
	char line[128];
	FILE *file;

	cache_refresh();
	file = fopen("/proc/vmstat", "re");
	while (file && fgets(line, sizeof(line), file)) {
		known |= sscanf(line, "nr_file_pages %llu", &pages) == 1;
		sscanf(line, "nr_swapcached %llu", &swapped);
	}
	if (file)
		fclose(file);
	return known ? pages - swapped : UINT64_MAX;
}

/* ---- queries ---- */

uint64_t cache__start_ns(const struct cache *c)
{
	return c->start_ns;
}

enum cache_method cache__method(const struct cache *c)
{
	return c->method;
}

const char *cache__unseen(const struct cache *c)
{
	return c->unseen;
}

char *cache__file(const struct cache *c, uint64_t inode, uint64_t place)
{
	const struct io_file *file = io_file__find(c->files.cells, inode, place);

	return file_names__text(&c->mounts, file, inode, (uint32_t)place);
}

char *cache__disk(uint64_t dev)
{
	const unsigned int major = (unsigned int)(dev >> 20), minor = dev & 0xfffff;
	char path[64], target[512], number[32];
	const char *name;
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major, minor);
	len = readlink(path, target, sizeof(target) - 1);
	target[len > 0 ? len : 0] = 0;
	name = strrchr(target, '/');
	snprintf(number, sizeof(number), "%u:%u", major, minor);
	return strdup(name ? name + 1 : number);
}
