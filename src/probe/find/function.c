/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * function.c: kernel functions by name or glob, for fn: and ret:. A function in BTF has typed
 * arguments; one that is not (a static one on 5.10, one that the compiler changed: foo.isra.0) can
 * be probed by its address, and only its registers are known. A function that cannot be probed is
 * named with the reason; one that was inlined everywhere is in no list.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"
#include "probe/find/inside.h"

/* ---- one function ---- */

uint32_t find_function__id(struct finder *finder, const struct find_symbol *symbol,
			   const struct btf **btf)
{
	const struct find_btf *b = symbol->module ? find_btf__module(finder, symbol->module)
						  : find_btf__vmlinux(finder);
	uint32_t id;

	*btf = b ? b->btf : NULL;
	return b && find_index__get(&b->funcs, symbol->name, &id) ? id : 0;
}

int find_function__fill(struct probe *probe, const struct find_symbol *symbol,
			const struct btf *btf, uint32_t func_id)
{
	const struct btf_type *func = func_id ? btf__type_by_id(btf, func_id) : NULL;
	int err = find__set_name(probe, probe_kind__word(probe->kind), symbol->name);

	probe->module = symbol->module;
	probe->address = symbol->address;
	probe->btf = func ? btf : NULL;
	probe->btf_id = func ? func_id : 0;
	if (!err && probe->kind == PROBE_RET)
		err = find_abi__add_ret(probe, probe->btf, func ? func->type : 0);
	else if (!err && func)
		err = find_abi__add_args(probe, find_abi__here(), btf, func->type);
	return err;
}

static int function_add(struct find_job *job, const struct find_symbol *symbol)
{
	struct probe probe = { .kind = job->kind };
	const struct btf *btf;
	uint32_t func_id = find_function__id(job->finder, symbol, &btf);
	int err = find_function__fill(&probe, symbol, btf, func_id);

	return probe_list__add_made(job->list, &probe, err);
}

/* ---- functions that match ---- */

struct function_matches {
	const struct find_symbol **symbols;
	size_t nr;
	struct find_index names;
};

static int function_compare(const void *a, const void *b)
{
	const struct find_symbol *left = *(const struct find_symbol *const *)a;
	const struct find_symbol *right = *(const struct find_symbol *const *)b;
	int order = strcmp(left->name, right->name);

	if (order)
		return order;
	return left->address < right->address ? -1 : left->address > right->address;
}

static int function_match(struct function_matches *m, const struct find_symbols *s,
			  const char *glob)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->nr; i++) {
		if (!find__matches(glob, s->symbols[i].name))
			continue;
		if (GROW_BY_ONE(m->symbols, m->nr))
			return -ENOMEM;
		m->symbols[m->nr++] = &s->symbols[i];
		err = find_index__add(&m->names, s->symbols[i].name, 0);
	}
	if (m->nr)
		qsort(m->symbols, m->nr, sizeof(const struct find_symbol *), function_compare);
	return err;
}

/* Under a glob one code with two names would be counted twice: the name that ftrace uses wins. */
static bool function_is_alias(const struct find_job *job, const struct function_matches *m,
			      const struct find_symbol *symbol)
{
	struct find_symbols *s = &job->finder->symbols;
	const struct find_symbol *alias;

	if (!find__is_glob(job->rest) || !s->traceable.nr)
		return false;
	alias = find_symbols__alias(s, symbol);
	return alias && alias->name != symbol->name && strcmp(alias->name, symbol->name) &&
	       find_index__get(&m->names, alias->name, NULL);
}

static int function_take(struct find_job *job, const struct function_matches *m, size_t nr)
{
	const struct find_symbol *symbol = m->symbols[nr];
	const char *why = find_symbols__why_not(&job->finder->symbols, symbol);

	/* Functions of one name that cannot be told apart: one probe, by name. */
	if (nr && !symbol->address && !strcmp(symbol->name, m->symbols[nr - 1]->name))
		return 0;
	if (why)
		return find__miss(job, symbol->name, why);
	return function_is_alias(job, m, symbol) ? 0 : function_add(job, symbol);
}

/* ---- functions in BTF only ---- */

struct function_lost {
	struct find_job *job;
	const struct function_matches *matches;
};

void find_function__why_lost(enum probe_kind kind, const struct find_symbol *changed, char *why,
			     size_t size)
{
	if (changed)
		snprintf(why, size, "changed by the compiler; use %s:%s", probe_kind__word(kind),
			 changed->name);
	else
		snprintf(why, size, "inlined everywhere");
}

static int function_lose(const struct function_lost *lost, const char *name)
{
	struct find_job *job = lost->job;
	const struct find_symbol *other = find_symbols__suffixed(&job->finder->symbols, name);
	char why[FIND_WHY_ROOM];

	if (other && find_index__get(&lost->matches->names, other->name, NULL))
		return 0; /* the glob matches that name, too */
	find_function__why_lost(job->kind, other, why, sizeof(why));
	return find__miss(job, name, why);
}

static int function_check(void *arg, const char *name)
{
	const struct function_lost *lost = arg;

	if (!find__matches(lost->job->rest, name) ||
	    find_index__get(&lost->matches->names, name, NULL))
		return 0;
	return function_lose(lost, name);
}

static int function_compare_misses(const void *a, const void *b)
{
	return strcmp(((const struct find_miss *)a)->name, ((const struct find_miss *)b)->name);
}

/* ---- search ---- */

static int function_unreadable(const struct finder *finder)
{
	int err = finder->symbols.err;

	if (err == -ENOMEM)
		return log_no_memory();
	return log_err(err == -EACCES || err == -EPERM ? -EACCES : -EOPNOTSUPP,
		       "cannot read the kernel's functions in /proc/kallsyms: %s", strerror(-err));
}

static int function_unknown(const struct find_job *job)
{
	const struct find_symbols *s = &job->finder->symbols;
	const char **names = calloc(s->nr, sizeof(*names));
	int err;

	if (!names)
		return log_no_memory();
	for (size_t i = 0; i < s->nr; i++)
		names[i] = s->symbols[i].name;
	err = find__unknown(job, "kernel function", " (inlined, or in a module that is not loaded)",
			    names, s->nr);
	free(names);
	return err;
}

/* Nothing is left: gives the first reason, and how many functions share it. */
static int function_refuse(const struct find_job *job, size_t misses_before)
{
	const struct find_miss *first = &job->misses->misses[misses_before];
	size_t nr = job->misses->nr - misses_before;

	if (!nr)
		return function_unknown(job);
	if (nr == 1)
		return log_err(-EINVAL, "'%s' cannot be probed: %s is %s", job->spec, first->name,
			       first->why);
	return log_err(-EINVAL, "'%s': none of %zu functions can be probed; %s is %s", job->spec,
		       nr, first->name, first->why);
}

int find__functions(struct find_job *job)
{
	size_t before = job->list->nr, misses_before = job->misses->nr;
	struct function_matches m = { 0 };
	struct function_lost lost = { job, &m };
	const struct find_btf *vmlinux;
	int err;

	if (find_symbols__read(job->finder))
		return function_unreadable(job->finder);
	if (!*job->rest)
		job->rest = "*"; /* a listing shows all */
	err = function_match(&m, &job->finder->symbols, job->rest);
	for (size_t i = 0; !err && i < m.nr; i++)
		err = function_take(job, &m, i);
	vmlinux = err ? NULL : find_btf__vmlinux(job->finder);
	if (vmlinux)
		err = find_index__each(&vmlinux->funcs, function_check, &lost);
	free(m.symbols);
	find_index__free(&m.names);
	if (err)
		return log_no_memory();
	if (job->misses->nr > misses_before)
		qsort(job->misses->misses + misses_before, job->misses->nr - misses_before,
		      sizeof(*job->misses->misses), function_compare_misses);
	return job->list->nr > before ? 0 : function_refuse(job, misses_before);
}

int find__function_names(const struct find_naming *naming)
{
	struct finder *finder = naming->finder;
	struct find_symbols *s = &finder->symbols;
	int err = find_symbols__read(finder);

	for (size_t i = 0; !err && i < s->nr; i++)
		if (!find_symbols__why_not(s, &s->symbols[i]))
			err = find__name(naming, s->symbols[i].name);
	return err;
}
