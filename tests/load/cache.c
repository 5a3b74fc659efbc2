/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.c: does the running kernel's verifier take every program of the page cache, whatever is
 * asked of it? Each setting alone, then all together. Programs for functions only where the kernel
 * takes such programs at all.
 */
#include <stdlib.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include "wire/page_cache.h"
#include "wire/file_id.h"
#include "bpf/cache.skel.h"
#include "collect/trial.h"
#include "tap.h"

enum { KEYS = 1024, CPUS = 2, AHEADS = 4096 };

#define SETTING(field) #field, offsetof(struct cache_settings, field)
static const struct setting {
	const char *name;
	size_t at;
	size_t bytes;
} settings[] = {
	{ "none", 0, 0 },
	{ SETTING(filter_pid), 4 },
	{ SETTING(filter_tid), 4 },
	{ SETTING(filter_comm), 16 },
	{ SETTING(filter_cgroup), 8 },
	{ SETTING(filter_file), 1 },
	{ SETTING(nr_devs), 4 },
	{ SETTING(by_pid), 1 },
	{ SETTING(by_comm), 1 },
	{ SETTING(by_file), 1 },
	{ SETTING(by_cgroup), 1 },
	{ SETTING(by_dev), 1 },
	{ SETTING(by_op), 1 },
	{ SETTING(events), 1 },
	{ SETTING(is_plain), 1 },
	{ SETTING(sees_around_ends), 1 },
	{ SETTING(queue_argument), 1 },
	{ SETTING(bio_queue_argument), 1 },
};
enum { NR_SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static int print_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static void set(struct cache_bpf *skel, const struct setting *s)
{
	memset((char *)&skel->rodata->settings + s->at, 1, s->bytes);
}

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
	struct bpf_program *p;
	int err = size_tables(skel);

	ro->page_shift = 12;
	ro->nr_cpus = CPUS;
	ro->key_mask = KEYS - 1;
	ro->ra_mask = AHEADS - 1;
	ro->sees_accesses = ro->write_iocb = 1;
	ro->sees_ends = strcmp(kind, "kprobe") != 0;
	for (int i = from; i <= to; i++)
		set(skel, &settings[i]);
	ro->any_by = ro->by_pid || ro->by_comm || ro->by_file || ro->by_cgroup || ro->by_dev ||
		     ro->by_op;
	ro->tells_files = ro->by_file || ro->by_dev || ro->filter_file || ro->nr_devs || ro->events;
	bpf_object__for_each_program(p, skel->obj) bpf_program__set_autoload(
		p, !strncmp(bpf_program__section_name(p), kind, strlen(kind)));
	err = err ?: cache_bpf__load(skel);
	cache_bpf__destroy(skel);
	return err;
}

static void test(const char *kind, const char *what)
{
	for (int i = 0; i < NR_SETTINGS; i++)
		ok(!load(kind, i, i), "%s with %s", what, settings[i].name);
	ok(!load(kind, 0, NR_SETTINGS - 1), "%s with all of them", what);
}

int main(void)
{
	int err;

	libbpf_set_print(print_nothing);
	err = trial__do(TRIAL_RAW_TP);
	if (err) {
		printf("1..0 # SKIP no BPF program can be loaded here: %s\n", strerror(-err));
		return 0;
	}
	test("raw_tp", "tracepoints");
	if (libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_KPROBE, NULL) != 1)
		ok(true, "kprobes # SKIP this kernel takes no such programs");
	else
		test("kprobe", "kprobes");
	if (trial__do(TRIAL_FENTRY))
		ok(true, "fentry # SKIP this kernel takes no such programs");
	else
		test("f", "fentry and fexit");
	return done_testing();
}
