/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.c: does the running kernel's verifier take every program of the page cache, whatever is
 * asked of it? Each setting alone, then all together. Programs for functions only where the kernel
 * takes such programs at all.
 */
#include "wire/page_cache.h"
#include "wire/file_id.h"
#include "bpf/cache.skel.h"
#include "load/verifier.h"

enum { KEYS = 1024, CPUS = 2, AHEADS = 4096 };

static const struct setting settings[] = {
	{ "none", 0, 0, 0 },
	SETTING(cache_settings, filter_pid, 1),
	SETTING(cache_settings, filter_tid, 1),
	SETTING(cache_settings, filter_comm, 1),
	SETTING(cache_settings, filter_cgroup, 1),
	SETTING(cache_settings, filter_file, 1),
	SETTING(cache_settings, nr_devs, 1),
	SETTING(cache_settings, by_pid, 1),
	SETTING(cache_settings, by_comm, 1),
	SETTING(cache_settings, by_file, 1),
	SETTING(cache_settings, by_cgroup, 1),
	SETTING(cache_settings, by_dev, 1),
	SETTING(cache_settings, by_op, 1),
	SETTING(cache_settings, events, 1),
	SETTING(cache_settings, is_plain, 1),
	SETTING(cache_settings, sees_around_ends, 1),
	SETTING(cache_settings, queue_argument, 1),
	SETTING(cache_settings, bio_queue_argument, 1),
};
enum { NR_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static int size_tables(struct cache_bpf *skel)
{
	int err = bpf_map__set_max_entries(skel->maps.cache_keys, KEYS);

	err = err ?: bpf_map__set_max_entries(skel->maps.cache_rows, KEYS * CPUS);
	err = err ?: bpf_map__set_max_entries(skel->maps.cache_files, FILES_MOST);
	return err ?: bpf_map__set_max_entries(skel->maps.cache_aheads, AHEADS);
}

/* from..to: which settings are on. */
static int load(const char *kind, int from, int to)
{
	struct cache_bpf *skel = cache_bpf__open();
	struct cache_settings *ro = (struct cache_settings *)&skel->rodata->settings;
	int err = size_tables(skel);

	ro->page_shift = 12;
	ro->nr_cpus = CPUS;
	ro->key_mask = KEYS - 1;
	ro->ra_mask = AHEADS - 1;
	ro->sees_accesses = ro->write_iocb = 1;
	ro->sees_ends = *kind != 'k';
	verifier_set(ro, settings, from, to);
	ro->any_by = ro->by_pid || ro->by_comm || ro->by_file || ro->by_cgroup || ro->by_dev ||
		     ro->by_op;
	ro->tells_files = ro->by_file || ro->by_dev || ro->filter_file || ro->nr_devs || ro->events;
	verifier_choose(skel->obj, kind);
	err = err ?: cache_bpf__load(skel);
	cache_bpf__destroy(skel);
	return err;
}

int main(void)
{
	static const struct verified verified = { settings, NR_SETTINGS, load };

	return verifier__main(&verified);
}
