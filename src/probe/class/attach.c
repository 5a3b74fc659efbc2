/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach.c: which functions of a class can be attached, and at which address? Walks the kernel's
 * many symbols once and looks each up in the small class. Without root, addresses and ftrace's list
 * are hidden: then every function with a symbol counts as attachable.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "probe/class/inside.h"

/* A function's symbols: its own, and what the compiler made of it (foo.isra.0). */
struct attach_symbols {
	const struct find_symbol *own, *changed;
};

struct attach_job {
	struct class *class;
	struct find_symbols *kernel;
	struct find_index names; /* the first function of each */
	struct attach_symbols *found;
};

static bool attach_is_of(const struct class_function *f, const struct find_symbol *symbol)
{
	return !f->module == !symbol->module && (!f->module || !strcmp(f->module, symbol->module));
}

/* Notes the symbol for functions of this name and module; the first symbol stays, as it is the
 * one that the kernel takes by name. */
static void attach_note(struct attach_job *job, const char *name, const struct find_symbol *symbol,
			bool is_own)
{
	struct class *class = job->class;
	uint32_t i;

	if (!find_index__get(&job->names, name, &i))
		return;
	for (; i < class->nr && !strcmp(class->functions[i].name, name); i++) {
		struct attach_symbols *found = &job->found[i];
		const struct find_symbol **which = is_own ? &found->own : &found->changed;

		if (!*which && attach_is_of(&class->functions[i], symbol))
			*which = symbol;
	}
}

static void attach_walk(struct attach_job *job)
{
	char base[FIND_WHY_ROOM];

	for (size_t i = 0; i < job->kernel->nr; i++) {
		const struct find_symbol *symbol = &job->kernel->symbols[i];
		size_t len = strcspn(symbol->name, ".");

		attach_note(job, symbol->name, symbol, true);
		if (!symbol->name[len] || len >= sizeof(base))
			continue;
		memcpy(base, symbol->name, len);
		base[len] = 0;
		attach_note(job, base, symbol, false);
	}
}

/* ---- why not ---- */

static int attach_refuse(struct class_function *f, const char *why)
{
	f->why = strdup(why);
	return f->why ? 0 : -ENOMEM;
}

static int attach_judge(struct attach_job *job, size_t nr)
{
	struct class_function *f = &job->class->functions[nr];
	const struct attach_symbols *found = &job->found[nr];
	char lost[FIND_WHY_ROOM];
	const char *why;

	if (f->why)
		return 0;
	if (!found->own) {
		/* Code that a module only runs while it is loaded is gone. */
		if (f->module && !found->changed)
			return attach_refuse(
				f, "inlined everywhere, or removed after loading (__init)");
		find_function__why_lost(PROBE_FN, found->changed, lost, sizeof(lost));
		return attach_refuse(f, lost);
	}
	f->address = found->own->address;
	why = find_symbols__why_not(job->kernel, found->own);
	return why ? attach_refuse(f, why) : 0;
}

/* ---- all functions ---- */

static int attach_run(struct attach_job *job)
{
	struct class *class = job->class;
	int err = 0;

	job->found = calloc(class->nr + 1, sizeof(*job->found));
	if (!job->found)
		return -ENOMEM;
	for (size_t i = 0; !err && i < class->nr; i++)
		err = find_index__add(&job->names, class->functions[i].name, (uint32_t)i);
	if (!err)
		attach_walk(job);
	for (size_t i = 0; !err && i < class->nr; i++)
		err = attach_judge(job, i);
	return err;
}

static int attach_know_nothing(struct class *class)
{
	int err = 0;

	for (size_t i = 0; !err && i < class->nr; i++)
		if (!class->functions[i].why)
			err = attach_refuse(&class->functions[i],
					    "unknown: /proc/kallsyms cannot be read");
	return err;
}

int class__locate(struct class *class, struct finder *finder)
{
	struct attach_job job = { .class = class, .kernel = &finder->symbols };
	int err = find_symbols__read(finder);

	if (err)
		return err == -ENOMEM ? err : attach_know_nothing(class);
	err = attach_run(&job);
	free(job.found);
	find_index__free(&job.names);
	return err;
}
