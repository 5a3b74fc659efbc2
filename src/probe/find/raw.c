/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raw.c: raw tracepoints, with the arguments that the kernel's code passes. The typedef
 * btf_trace_NAME gives their types but no names; the names come from the functions __probestub_NAME
 * (since 6.4) or __traceiter_NAME. An event of a module without BTF is found in tracefs; then its
 * arguments are unknown.
 */
#define _GNU_SOURCE
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"
#include "probe/find/inside.h"

/* ---- arguments ---- */

/* typedef void (*btf_trace_NAME)(void *, ...) */
static const struct btf_type *raw_proto(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	t = t && btf_is_typedef(t) ? btf__type_by_id(btf, t->type) : NULL;
	t = t && btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? t : NULL;
}

/* A function with the same parameters and their names. */
static const struct btf_type *raw_namesake(const struct find_btf *b, const char *prefix,
					   const char *name, uint32_t nr_params)
{
	const struct btf_type *t;
	char func[256];
	uint32_t id;

	snprintf(func, sizeof(func), "%s%s", prefix, name);
	if (!find_index__get(&b->funcs, func, &id))
		return NULL;
	t = btf__type_by_id(b->btf, id);
	t = t ? btf__type_by_id(b->btf, t->type) : NULL;
	return t && btf_is_func_proto(t) && btf_vlen(t) == nr_params ? t : NULL;
}

static char *raw_param_name(const struct btf *btf, const struct btf_type *named, uint32_t nr)
{
	const char *name = NULL;
	char *text;

	if (named)
		name = btf__name_by_offset(btf, btf_params(named)[nr].name_off);
	if (name && *name)
		return strdup(name);
	return asprintf(&text, "arg%u", nr - 1) < 0 ? NULL : text;
}

/* Parameter 0 is not the event's: whatever was registered with the function. */
static int raw_add_args(struct probe *probe, const struct find_btf *b, const char *name)
{
	const struct btf_type *proto = raw_proto(b->btf, probe->btf_id), *named;
	int err = 0;

	if (!proto)
		return 0;
	named = raw_namesake(b, "__probestub_", name, btf_vlen(proto));
	if (!named)
		named = raw_namesake(b, "__traceiter_", name, btf_vlen(proto));
	for (uint32_t i = 1; !err && i < btf_vlen(proto) && i <= PROBE_MAX_ARGS; i++) {
		struct probe_field field = {
			.name = raw_param_name(b->btf, named, i),
			.type = type__of(b->btf, btf_params(proto)[i].type),
			.place = PLACE_ARG,
			.at = i - 1,
			.reg = i - 1,
			.slot = i - 1,
		};

		err = probe__add_field(probe, &field);
	}
	return err;
}

/* b NULL: only its name is known. */
static int raw_add(struct find_job *job, const struct find_btf *b, const char *name)
{
	struct probe probe = { .kind = PROBE_RAW };
	int err = find__set_name(&probe, "raw", name);

	if (!err && b && find_index__get(&b->raws, name, &probe.btf_id)) {
		probe.btf = b->btf;
		probe.module = b->module;
		err = raw_add_args(&probe, b, name);
	}
	return probe_list__add_made(job->list, &probe, err);
}

/* ---- selection ---- */

struct raw_entry {
	const char *name;
	const struct find_btf *btf;
};

struct raw_entries {
	struct raw_entry *entries;
	size_t nr, room;
	struct find_index seen;
};

static int raw_note(struct raw_entries *all, const char *name, const struct find_btf *b)
{

	if (find_index__get(&all->seen, name, NULL))
		return 0;
	if (GROW(all->entries, all->room, all->nr + 1))
		return -ENOMEM;
	all->entries[all->nr++] = (struct raw_entry){ name, b };
	return find_index__add(&all->seen, name, 0);
}

static int raw_note_btf(struct raw_entries *all, const struct find_btf *b)
{
	int err = 0;

	for (size_t i = 0; b && !err && i < b->nr_raws; i++)
		err = raw_note(all, b->raw_names[i], b);
	return err;
}

/* Events of tracefs that are tracepoints: a system call has none of its own. */
static int raw_note_tracefs(struct raw_entries *all, struct finder *finder)
{
	const struct find_tracefs *t = &finder->tracefs;
	int err = 0;

	if (find_tracefs__read(finder))
		return 0;
	for (size_t i = 0; !err && i < t->nr; i++) {
		if (!strncmp(t->names[i], "syscalls:", strlen("syscalls:")) ||
		    !strncmp(t->names[i], "kprobes:", strlen("kprobes:")) ||
		    !strncmp(t->names[i], "uprobes:", strlen("uprobes:")))
			continue;
		err = raw_note(all, strchr(t->names[i], ':') + 1, NULL);
	}
	return err;
}

static int raw_compare(const void *a, const void *b)
{
	return strcmp(((const struct raw_entry *)a)->name, ((const struct raw_entry *)b)->name);
}

static int raw_list(struct finder *finder, struct raw_entries *all)
{
	const struct find_btfs *btfs = &finder->btfs;
	int err = raw_note_btf(all, find_btf__vmlinux(finder));

	err = err ? err : find_btf__load_modules(finder);
	for (size_t i = 0; !err && i < btfs->nr_modules; i++)
		err = raw_note_btf(all, btfs->modules[i]);
	err = err ? err : raw_note_tracefs(all, finder);
	if (!err && all->nr)
		qsort(all->entries, all->nr, sizeof(*all->entries), raw_compare);
	return err;
}

static void raw_entries_free(struct raw_entries *all)
{
	free(all->entries);
	find_index__free(&all->seen);
}

/* ---- search ---- */

static int raw_refuse(struct find_job *job, const struct raw_entries *all)
{
	const char **names = calloc(all->nr + 1, sizeof(*names));
	int err;

	for (size_t i = 0; names && i < all->nr; i++)
		names[i] = all->entries[i].name;
	if (!names || (!all->nr && job->finder->btfs.lacks_memory)) {
		free(names);
		return log_no_memory();
	}
	if (!all->nr)
		err = log_err(-EOPNOTSUPP,
			      "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF), and its tracefs "
			      "cannot be read: no raw tracepoints are known");
	else
		err = find__unknown(job, "raw tracepoint", "", names, all->nr);
	free(names);
	return err;
}

static int raw_find_matching(struct find_job *job, const char *glob)
{
	struct raw_entries all = { 0 };
	size_t before = job->list->nr;
	int err = raw_list(job->finder, &all);

	for (size_t i = 0; !err && i < all.nr; i++)
		if (find__matches(glob, all.entries[i].name))
			err = raw_add(job, all.entries[i].btf, all.entries[i].name);
	if (err)
		err = log_no_memory();
	else if (job->list->nr == before)
		err = raw_refuse(job, &all);
	raw_entries_free(&all);
	return err;
}

int find__raws(struct find_job *job)
{
	const struct find_btf *vmlinux = find_btf__vmlinux(job->finder);
	const char *colon = strchr(job->rest, ':');
	uint32_t id;

	if (colon)
		return log_err(-EINVAL, "'%s': a raw tracepoint has no system; write raw:%s",
			       job->spec, colon + 1);
	/* Most are in vmlinux: no need to look at the modules. */
	if (vmlinux && find_index__get(&vmlinux->raws, job->rest, &id))
		return raw_add(job, vmlinux, job->rest) ? log_no_memory() : 0;
	return raw_find_matching(job, job->is_loose && !*job->rest ? "*" : job->rest);
}

int find__raw_names(const struct find_naming *naming)
{
	struct raw_entries all = { 0 };
	int err = raw_list(naming->finder, &all);

	for (size_t i = 0; !err && i < all.nr; i++)
		err = find__name(naming, all.entries[i].name);
	raw_entries_free(&all);
	return err;
}
