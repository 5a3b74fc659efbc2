/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * find.c: the entry of the finder: which kind of probe does a spec name, and which file looks for
 * it? For the words of other tools it suggests ours.
 */
#define _GNU_SOURCE
#include "probe/find/find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "collect/io.h"
#include "probe/find/inside.h"
#include "symbol/kallsyms.h"

/* A spec is the kind's word, a colon, and a name or glob. */
static const struct find_kind {
	enum probe_kind kind;
	const char *example;
	int (*find)(struct find_job *job);
	int (*names)(const struct find_naming *naming); /* NULL: no list of names */
	bool lists_all; /* when listing, its word alone means all of its probes */
} find_kinds[] = {
	{ PROBE_RAW, "raw:block_rq_issue", find__raws, find__raw_names, true },
	{ PROBE_FN, "fn:vfs_read", find__functions, find__function_names, true },
	{ PROBE_RET, "ret:vfs_read", find__functions, find__function_names, true },
	{ PROBE_USER, "user:/bin/bash:readline", find__users, find__user_names },
	{ PROBE_USERRET, "userret:/bin/bash:readline", find__users, find__user_names },
	{ PROBE_USDT, "usdt:/usr/sbin/mysqld:mysql:command__start", find__usdts, find__usdt_names },
	{ PROBE_PROFILE, "profile:99", find__profiles, NULL },
	{ PROBE_INTERVAL, "interval:1s", find__intervals, NULL },
	{ PROBE_SOFT, "soft:page-faults", find__counters, find__counter_names, true },
	{ PROBE_HW, "hw:cache-misses:1e6", find__counters, find__counter_names, true },
};

static const struct find_kind find_tracepoint_kind = {
	PROBE_TRACEPOINT, "block:block_rq_issue", find__tracepoints, find__tracepoint_names, true,
};

/* The names that other tools use. */
static const struct find_foreign {
	const char *word, *ours;
} find_foreigns[] = {
	{ "kprobe", "fn:" },	     { "k", "fn:" },
	{ "kretprobe", "ret:" },     { "kr", "ret:" },
	{ "fentry", "fn:" },	     { "kfunc", "fn:" },
	{ "fexit", "ret:" },	     { "kretfunc", "ret:" },
	{ "tracepoint", "" },	     { "t", "" },
	{ "uprobe", "user:" },	     { "u", "user:" },
	{ "uretprobe", "userret:" }, { "ur", "userret:" },
	{ "software", "soft:" },     { "s", "soft:" },
	{ "hardware", "hw:" },	     { "h", "hw:" },
	{ "rawtracepoint", "raw:" }, { "rt", "raw:" },
	{ "raw_tp", "raw:" },	     { "tp_btf", "raw:" },
};

/* ---- the finder ---- */

struct finder *finder__new_at(const char *root)
{
	struct finder *finder = calloc(1, sizeof(*finder));

	io__hush_libbpf(); /* a module's BTF may be odd: not worth a message */
	if (finder)
		finder->root = strdup(root);
	if (finder && finder->root)
		return finder;
	free(finder);
	return NULL;
}

struct finder *finder__new(void)
{
	return finder__new_at("");
}

void finder__free(struct finder *finder)
{
	if (!finder)
		return;
	find_user_args__free(&finder->user);
	find_tracefs__free(&finder->tracefs);
	find_btf__free(&finder->btfs);
	symbol_table__free(&finder->addresses);
	find_symbols__free(&finder->symbols);
	free(finder->root);
	free(finder);
}

void finder__want_user_args(struct finder *finder, uint32_t nr_registers)
{
	finder->user.wants_args = true;
	finder->user.nr_registers = nr_registers;
}

const struct btf *finder__vmlinux(struct finder *finder)
{
	const struct find_btf *vmlinux = find_btf__vmlinux(finder);

	return vmlinux ? vmlinux->btf : NULL;
}

const char *finder__doubt(const struct finder *finder)
{
	const struct find_symbols *s = &finder->symbols;

	if (!s->nr || s->traceable.nr)
		return NULL;
	return "cannot tell which functions can be traced: available_filter_functions of tracefs "
	       "cannot be read";
}

static void find_read_addresses(struct finder *finder)
{
	char *path;

	finder->has_addresses = true;
	if (asprintf(&path, "%s/proc/kallsyms", finder->root) < 0)
		return;
	kallsyms__read(path, &finder->addresses);
	free(path);
}

const char *finder__symbol(struct finder *finder, uint64_t address, uint64_t *offset)
{
	struct symbol_found found;

	if (!finder->has_addresses)
		find_read_addresses(finder);
	if (!symbol_table__find(&finder->addresses, address, &found))
		return NULL;
	*offset = found.offset;
	return found.name;
}

/* ---- specs ---- */

/* The kind that the spec begins with; *rest is the text after it. */
static const struct find_kind *find_kind_of(const char *spec, const char **rest)
{
	size_t len = strcspn(spec, ":");

	for (size_t i = 0; i < sizeof(find_kinds) / sizeof(find_kinds[0]); i++) {
		const char *word = probe_kind__word(find_kinds[i].kind);

		if (strlen(word) != len || strncmp(word, spec, len))
			continue;
		*rest = spec + len + (spec[len] == ':');
		return &find_kinds[i];
	}
	*rest = spec;
	return &find_tracepoint_kind;
}

static const struct find_foreign *find_foreign_of(const char *spec)
{
	size_t len = strcspn(spec, ":");

	for (size_t i = 0; spec[len] && i < sizeof(find_foreigns) / sizeof(find_foreigns[0]); i++)
		if (strlen(find_foreigns[i].word) == len &&
		    !strncmp(find_foreigns[i].word, spec, len))
			return &find_foreigns[i];
	return NULL;
}

/* Events of single calls see 64-bit ones only. */
static bool find_has_all_calls(const struct probe *probe)
{
	return (probe->kind == PROBE_RAW ||
		(probe->kind == PROBE_TRACEPOINT && !strncmp(probe->name, "raw_syscalls:", 13))) &&
	       (!strcmp(probe->func, "sys_enter") || !strcmp(probe->func, "sys_exit"));
}

static void find_note_compat(const struct find_job *job, size_t from)
{
	for (size_t i = from; i < job->list->nr; i++)
		if (find_has_all_calls(&job->list->probes[i]))
			job->list->probes[i].compat = find_btf__compat(job->finder);
}

static int find_run(struct find_job *job)
{
	const struct find_kind *kind = find_kind_of(job->spec, &job->rest);
	const struct find_foreign *foreign = find_foreign_of(job->spec);
	const size_t before = job->list->nr;
	int err;

	if (foreign)
		return log_err(-EINVAL, "'%s' is the syntax of another tool; write %s%s", job->spec,
			       foreign->ours, strchr(job->spec, ':') + 1);
	if (!*job->rest && !(job->is_loose && kind->lists_all))
		return log_err(-EINVAL, "'%s' is not a complete event; write e.g. %s", job->spec,
			       kind->example);
	job->kind = kind->kind;
	err = kind->find(job);
	if (!err)
		find_note_compat(job, before);
	return err;
}

int finder__find(struct finder *finder, const char *spec, struct probe_list *list,
		 struct find_misses *misses)
{
	struct find_job job = { .finder = finder, .spec = spec, .list = list, .misses = misses };

	return find_run(&job);
}

int finder__list(struct finder *finder, const char *spec, struct probe_list *list,
		 struct find_misses *misses)
{
	struct find_job job = { .finder = finder, .spec = spec, .list = list, .misses = misses };

	job.is_loose = true;
	return find_run(&job);
}

int finder__names(struct finder *finder, const char *spec_glob, finder_name_fn fn, void *arg)
{
	const char *rest;
	const struct find_kind *kind = find_kind_of(spec_glob, &rest);
	const struct find_naming naming = { finder, kind->kind, spec_glob, fn, arg };

	return kind->names ? kind->names(&naming) : 0;
}
