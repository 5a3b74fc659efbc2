/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_programs.c: which of the page cache's programs, and where? Functions by fentry where the
 * kernel has it, else by kprobes, else tracepoints alone; chosen by what is available, never by
 * version. Ends are attached before starts, so that every seen start has its end seen.
 */
#include "collect/cache_inside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "base/log.h"
#include "bpf/cache.skel.h"
#include "collect/kernel.h"
#include "collect/target.h"
#include "collect/trial.h"
#include "collect/types.h"

/*
 * A program NAME at the function's entry, NAME_end at its end by fexit, and the same with _k for
 * kprobes. The first function that this kernel has is used.
 */
static const struct cache_hook {
	const char *program;
	const char *functions[2];
	bool vital;
} cache_hooks[] = {
	{ "cache_read", { "filemap_read", "generic_file_buffered_read" }, true },
	{ "cache_write", { "generic_perform_write" } },
	{ "cache_iomap_write", { "iomap_file_buffered_write" } },
	{ "cache_splice", { "filemap_splice_read" } },
	{ "cache_fault", { "filemap_fault" } },
	{ "cache_around", { "filemap_map_pages" } },
	{ "cache_advice", { "generic_fadvise", "vfs_fadvise" } },
	{ "cache_writeback", { "__folio_start_writeback", "__test_set_page_writeback" } },
	{ "cache_shmem_read", { "shmem_file_read_iter" } },
	{ "cache_shmem_splice", { "shmem_file_splice_read" } },
	{ "cache_shmem_fault", { "shmem_fault" } },
	{ "cache_shmem_add", { "shmem_add_to_page_cache" } },
};
enum { NR_HOOKS = sizeof(cache_hooks) / sizeof(cache_hooks[0]) };

/* Events of --then-io, the ends first. */
static const char *const cache_causes[] = { "cache_bio_ended", "cache_ended", "cache_issued",
					    "cache_bio_split", "cache_bio_queued" };
enum { NR_CAUSES = sizeof(cache_causes) / sizeof(cache_causes[0]) };

/* "cache_read" followed by "_end" or "_k"; NULL: no such program. */
static struct bpf_program *cache_program(const struct cache *c, const char *name,
					 const char *suffix)
{
	char full[64];

	snprintf(full, sizeof(full), "%s%s", name, suffix);
	return bpf_object__find_program_by_name(c->skel->obj, full);
}

/* ---- fentry ---- */

static const char *cache_target(const struct cache *c, const struct cache_hook *hook)
{
	for (int i = 0; i < 2 && hook->functions[i]; i++)
		if (btf__find_by_name_kind(c->btf, hook->functions[i], BTF_KIND_FUNC) > 0)
			return hook->functions[i];
	return NULL;
}

/* Before 5.12 (f9ce0be71d1f) filemap_map_pages returns nothing that its end could read. */
static bool cache_has_no_end(const struct cache *c, const struct bpf_program *program)
{
	return program == c->skel->progs.cache_around_end &&
	       !kernel__function_returns(c->btf, "filemap_map_pages");
}

static int cache_aim(const struct cache *c, const struct cache_hook *hook, const char *suffix)
{
	struct bpf_program *program = cache_program(c, hook->program, suffix);
	const char *target = cache_target(c, hook);

	if (!program || !target || cache_has_no_end(c, program))
		return 0;
	bpf_program__set_autoload(program, true);
	return targets__aim(&(struct targets){ .kernel = c->btf }, program, target);
}

/* ---- loading ---- */

static int cache_choose_programs(struct cache *c)
{
	bool folio = btf__find_by_name_kind(c->btf, "btf_trace_writeback_dirty_folio",
					    BTF_KIND_TYPEDEF) > 0;
	struct bpf_program *program;
	int err = 0;

	bpf_object__for_each_program(program, c->skel->obj)
		bpf_program__set_autoload(program, false);
	bpf_program__set_autoload(c->skel->progs.cache_added, true);
	bpf_program__set_autoload(c->skel->progs.cache_removed, true);
	bpf_program__set_autoload(c->skel->progs.cache_dirtied, folio);
	bpf_program__set_autoload(c->skel->progs.cache_dirtied_old, !folio);
	for (int i = 0; i < NR_CAUSES; i++)
		bpf_program__set_autoload(cache_program(c, cache_causes[i], ""), c->wants.then_io);
	for (int i = 0; i < NR_HOOKS && c->method == CACHE_BY_FENTRY && !err; i++) {
		err = cache_aim(c, &cache_hooks[i], "_end");
		err = err ?: cache_aim(c, &cache_hooks[i], "");
	}
	for (int i = 0; i < NR_HOOKS && c->method == CACHE_BY_KPROBES; i++) {
		program = cache_program(c, cache_hooks[i].program, "_k");
		if (program)
			bpf_program__set_autoload(program, true);
	}
	bpf_program__set_autoload(c->skel->progs.cache_read_end_k, c->method == CACHE_BY_KPROBES);
	return err;
}

/* ---- attach ---- */

/* Kept in the order of attaching: detached in reverse. */
static int cache_keep(struct cache *c, struct bpf_link *link)
{
	if (!link)
		return -errno;
	c->links[c->nr_links++] = link;
	return 0;
}

static int cache_attach_event(struct cache *c, struct bpf_program *program)
{
	if (!bpf_program__autoload(program))
		return 0;
	return cache_keep(c, bpf_program__attach(program));
}

static int cache_attach_events(struct cache *c)
{
	struct cache_bpf *s = c->skel;
	int err = cache_attach_event(c, s->progs.cache_removed);

	err = err ?: cache_attach_event(c, s->progs.cache_added);
	err = err ?: cache_attach_event(c, s->progs.cache_dirtied);
	err = err ?: cache_attach_event(c, s->progs.cache_dirtied_old);
	for (int i = 0; i < NR_CAUSES && !err; i++)
		err = cache_attach_event(c, cache_program(c, cache_causes[i], ""));
	return err;
}

static int cache_attach_fentry(struct cache *c, const struct cache_hook *hook, const char *suffix)
{
	struct bpf_program *program = cache_program(c, hook->program, suffix);

	if (!program || cache_has_no_end(c, program))
		return 0;
	/* A function that kernels without it need not have: reads do its work. */
	if (!cache_target(c, hook) && !cache_program(c, hook->program, "_k"))
		return 0;
	if (!bpf_program__autoload(program))
		return -ENOENT;
	return cache_keep(c, bpf_program__attach(program));
}

static int cache_attach_kprobe(struct cache *c, const struct cache_hook *hook)
{
	struct bpf_program *program = cache_program(c, hook->program, "_k");
	int err = -ENOENT;

	if (!program) /* a function that only kernels with fentry have */
		return cache_target(c, hook) ? -ENOTSUP : 0;
	for (int i = 0; i < 2 && hook->functions[i] && err; i++)
		err = cache_keep(c, bpf_program__attach_kprobe(program, false, hook->functions[i]));
	return err;
}

/* A program that is not vital is left out and reported; all else stays correct. */
static int cache_forgive(struct cache *c, const struct cache_hook *hook, int err)
{
	size_t len = strlen(c->unseen);

	if (!err || hook->vital)
		return err;
	log_verbose("cannot attach to %s: %s", hook->functions[0], strerror(-err));
	snprintf(c->unseen + len, sizeof(c->unseen) - len, "%s%s", len ? ", " : "",
		 hook->functions[0]);
	return 0;
}

/* All ends, then the starts whose end is seen. */
static int cache_attach_by_fentry(struct cache *c)
{
	int ends[NR_HOOKS], err = 0;

	for (int i = 0; i < NR_HOOKS; i++)
		ends[i] = cache_attach_fentry(c, &cache_hooks[i], "_end");
	for (int i = 0; i < NR_HOOKS && !err; i++)
		err = cache_forgive(c, &cache_hooks[i],
				    ends[i] ?: cache_attach_fentry(c, &cache_hooks[i], ""));
	return err;
}

static int cache_attach_by_kprobes(struct cache *c)
{
	int err = cache_keep(c, bpf_program__attach_kprobe(c->skel->progs.cache_read_end_k, false,
							   "touch_atime"));

	for (int i = 0; i < NR_HOOKS && !err; i++)
		err = cache_forgive(c, &cache_hooks[i], cache_attach_kprobe(c, &cache_hooks[i]));
	return err;
}

static int cache_attach(struct cache *c)
{
	int err = cache_attach_events(c);

	if (!err && c->method == CACHE_BY_FENTRY)
		err = cache_attach_by_fentry(c);
	else if (!err && c->method == CACHE_BY_KPROBES)
		err = cache_attach_by_kprobes(c);
	return err;
}

void cache_unlink(struct cache *c)
{
	while (c->nr_links)
		bpf_link__destroy(c->links[--c->nr_links]);
}

/* ---- the method ---- */

/* Checked first: an fentry program loads even where none can be attached (arm64 before 6.4). */
static bool cache_may_try(const struct cache *c, enum cache_method method)
{
	switch (method) {
	case CACHE_BY_FENTRY: return cache_target(c, &cache_hooks[0]) && !trial__fentry(c->btf);
	case CACHE_BY_KPROBES: return !trial__do(TRIAL_KPROBE);
	default: return true;
	}
}

static int cache_open_object(struct cache *c, const char *types_path)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = types_path);

	c->skel = cache_bpf__open_opts(&opts);
	if (!c->skel)
		return log_err(-errno, "cannot open the BPF object: %s", strerror(errno));
	return cache_set(c);
}

static int cache_load(struct cache *c, const struct types *types)
{
	int err = types__fill(types, c->btf, bpf_object__btf(c->skel->obj));

	err = err ?: cache_choose_programs(c);
	err = err ?: targets__aim_all(&(struct targets){ .kernel = c->btf }, c->skel->obj);
	return err ?: cache_bpf__load(c->skel);
}

static int cache_try(struct cache *c, struct start *start)
{
	struct types types = { .fd = -1 };
	int err = targets__take_over();

	err = err ?: cache_open_object(c, types__open(&types));
	c->unseen[0] = 0;
	if (!err) {
		start->step = START_PROGRAMS;
		start->err = cache_load(c, &types);
	}
	types__close(&types);
	if (err || start->err)
		return err ?: start->err;
	start->step = START_ATTACH;
	start->what =
		c->method == CACHE_BY_TRACEPOINTS ? "mm_filemap_add_to_page_cache" : "filemap_read";
	start->err = cache_attach(c);
	return start->err;
}

/* A wrong option ends it with a message; a method that fails leads to the next one. */
int cache_load_and_attach(struct cache *c)
{
	static const char *const words[] = { "fentry", "kprobes", "tracepoints" };
	struct start start = { 0 };
	int err = -ENOTSUP;

	for (int method = CACHE_BY_FENTRY; method <= CACHE_BY_TRACEPOINTS; method++) {
		c->method = (enum cache_method)method;
		if (!cache_may_try(c, c->method))
			continue;
		start = (struct start){ 0 };
		err = cache_try(c, &start);
		log_verbose("programs for %s: %s", words[method],
			    err ? strerror(-err) : "attached");
		if (!err || !start.err)
			return err;
		cache_unlink(c);
		cache_bpf__destroy(c->skel);
		c->skel = NULL;
	}
	return obstacle__say(&start);
}
