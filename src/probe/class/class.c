/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * class.c: selects the functions of a struct: those in BTF, with the roles that a preset or the
 * user gives them, without those that globs exclude, plus others to be shown beside them.
 */
#define _GNU_SOURCE
#include "probe/class/class.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "probe/class/inside.h"

/* ---- roles of its functions ---- */

struct class_globs {
	const char *const *globs;
	size_t nr;
};

static bool globs_match(const struct class_globs *g, const char *name)
{
	for (size_t i = 0; i < g->nr; i++)
		if (find__matches(g->globs[i], name))
			return true;
	return false;
}

/* The user's list, or the preset's, which ends with NULL. */
static struct class_globs globs_of(const char *const *asked, size_t nr_asked,
				   const char *const *preset)
{
	struct class_globs g = { asked, nr_asked };

	if (nr_asked || !preset)
		return g;
	for (g.globs = preset; preset[g.nr];)
		g.nr++;
	return g;
}

static void class_give_roles(struct class *class, const struct class_wants *wants)
{
	const struct class_preset *p = class->preset;
	struct class_globs births = globs_of(wants->births, wants->nr_births, p ? p->births : NULL);
	struct class_globs deaths = globs_of(wants->deaths, wants->nr_deaths, p ? p->deaths : NULL);
	struct class_globs spine = globs_of(NULL, 0, p ? p->spine : NULL);

	for (size_t i = 0; i < class->nr; i++) {
		struct class_function *f = &class->functions[i];

		f->is_birth = globs_match(&births, f->name);
		f->is_death = globs_match(&deaths, f->name);
		f->is_spine = globs_match(&spine, f->name);
	}
}

/* A function that the user names must exist; a preset also names functions of other kernels. */
static int class_check_named(const struct class *class, const char *option,
			     const char *const *globs, size_t nr)
{
	for (size_t g = 0; g < nr; g++) {
		struct class_nearest nearest = { .word = globs[g] };
		size_t i = 0;

		while (i < class->nr && !find__matches(globs[g], class->functions[i].name))
			class_nearest__compare(&nearest, class->functions[i++].name);
		if (i < class->nr)
			continue;
		return log_err(-EINVAL,
			       "%s '%s' matches no function that takes or returns struct %s%s%s%s",
			       option, globs[g], class->object,
			       *nearest.near ? "; did you mean " : "", nearest.near,
			       *nearest.near ? "?" : "");
	}
	return 0;
}

/* ---- selection ---- */

static bool class_is_of(const struct class_function *f, const char *module)
{
	return !strcmp(f->module ? f->module : "", module ? module : "");
}

/* Where is looked for functions. */
static bool class_looks_at(const struct class_wants *wants, const struct class_function *f)
{
	return !wants->module || class_is_of(f, wants->module);
}

static bool class_wants(const struct class_wants *wants, const struct class_function *f)
{
	const struct class_globs only = { wants->only, wants->nr_only };
	const struct class_globs not = { wants->not, wants->nr_not };

	if (f->is_birth || f->is_death)
		return true;
	return class_looks_at(wants, f) && (!only.nr || globs_match(&only, f->name)) &&
	       !globs_match(&not, f->name);
}

static void class_filter(struct class *class, const struct class_wants *wants)
{
	const struct class_globs with = { wants->with, wants->nr_with };
	size_t kept = 0;

	for (size_t i = 0; i < class->nr; i++) {
		struct class_function *f = &class->functions[i];

		f->is_without = !class_wants(wants, f);
		if (f->is_without && !globs_match(&with, f->name))
			class_function__free(f);
		else
			class->functions[kept++] = *f;
	}
	class->nr = kept;
}

static int class_check_only(const struct class *class, const struct class_wants *wants)
{
	const struct class_globs only = { wants->only, wants->nr_only };
	size_t nr = 0;

	for (size_t i = 0; i < class->nr; i++) {
		if (!class_looks_at(wants, &class->functions[i]))
			continue;
		if (!only.nr || globs_match(&only, class->functions[i].name))
			return 0;
		nr++;
	}
	if (nr)
		return log_err(-EINVAL,
			       "--only %s%s matches none of the %zu functions of struct %s",
			       only.globs[0], only.nr > 1 ? ",..." : "", nr, class->object);
	return log_err(-EINVAL, "no function of %s%s takes or returns a pointer to struct %s",
		       wants->module ? "module " : "this kernel",
		       wants->module ? wants->module : "", class->object);
}

/* ---- functions beside it (--with) ---- */

static int class_add_other(struct class *class, struct finder *finder,
			   const struct find_symbol *symbol)
{
	struct class_function f = {
		.name = symbol->name, .module = symbol->module, .argument = -1, .is_without = true
	};

	f.btf_id = find_function__id(finder, symbol, &f.btf);
	if (f.btf_id)
		f.prototype = class__prototype(f.btf, f.btf_id, f.name);
	return class__add(class, &f);
}

/* names: of all functions that are in the class. */
static bool class_has(const struct class *class, const struct find_index *names,
		      const struct find_symbol *symbol)
{

	if (!find_index__get(names, symbol->name, NULL))
		return false;
	for (size_t i = 0; i < class->nr; i++)
		if (!strcmp(class->functions[i].name, symbol->name) &&
		    class_is_of(&class->functions[i], symbol->module))
			return true;
	return false;
}

static int class_add_matching(struct class *class, struct finder *finder,
			      const struct class_globs *with, struct find_index *names)
{
	int err = 0;

	for (size_t i = 0; !err && i < class->nr; i++)
		err = find_index__add(names, class->functions[i].name, 0);
	for (size_t i = 0; !err && i < finder->symbols.nr; i++) {
		const struct find_symbol *symbol = &finder->symbols.symbols[i];

		if (!globs_match(with, symbol->name) || class_has(class, names, symbol))
			continue;
		err = class_add_other(class, finder, symbol);
		err = err ? err : find_index__add(names, symbol->name, 0);
	}
	return err;
}

/* Kernel functions that match, by their symbols: they need not be in BTF. */
static int class_add_others(struct class *class, struct finder *finder,
			    const struct class_wants *wants)
{
	const struct class_globs with = { wants->with, wants->nr_with };
	struct find_index names = { 0 };
	int err;

	if (!with.nr || find_symbols__read(finder))
		return 0;
	err = class_add_matching(class, finder, &with, &names);
	find_index__free(&names);
	for (size_t i = 0; !err && i < class->nr; i++)
		if (globs_match(&with, class->functions[i].name))
			return 0;
	return err ? err
		   : log_err(-EINVAL, "--with %s%s matches no kernel function", with.globs[0],
			     with.nr > 1 ? ",..." : "");
}

/* ---- search ---- */

static int class_count_plain(void *arg, const char *name)
{
	*(size_t *)arg += !strchr(name, ' ');
	return 0;
}

static void class_count(struct class *class, struct finder *finder, const struct class_wants *wants)
{
	for (size_t i = 0; i < class->nr; i++) {
		const struct class_function *f = &class->functions[i];

		if (f->is_without || !class_looks_at(wants, f))
			continue;
		class->nr_arguments += f->argument >= 0;
		class->nr_only_return += f->argument < 0;
		class->nr_attachable += !f->why;
	}
	class->nr_known = find_btf__vmlinux(finder)->funcs.nr;
	find_index__each(&finder->symbols.traceable, class_count_plain, &class->nr_traceable);
}

static int class_choose(struct class *class, struct finder *finder, const struct class_wants *wants)
{
	int err = class_check_only(class, wants);

	err = err ? err : class_check_named(class, "--birth", wants->births, wants->nr_births);
	err = err ? err : class_check_named(class, "--death", wants->deaths, wants->nr_deaths);
	if (err)
		return err;
	class_give_roles(class, wants);
	class_filter(class, wants);
	err = class_add_others(class, finder, wants);
	if (err)
		return err;
	class__sort(class);
	return class__locate(class, finder);
}

int class__find(struct class *class, struct finder *finder, const struct class_wants *wants)
{
	int err;

	*class = (struct class){ 0 };
	err = class__name(class, finder, wants);
	err = err ? err : class__add_functions(class, find_btf__vmlinux(finder));
	for (size_t i = 0; !err && i < finder->btfs.nr_modules; i++)
		err = class__add_functions(class, finder->btfs.modules[i]);
	err = err ? err : class_choose(class, finder, wants);
	if (!err)
		class_count(class, finder, wants);
	else
		class__free(class);
	return err == -ENOMEM ? log_no_memory() : err;
}

void class__free(struct class *class)
{
	while (class->nr)
		class_function__free(&class->functions[--class->nr]);
	free(class->functions);
	*class = (struct class){ 0 };
}

/* pahole before 1.16 leaves static functions out of BTF: half of all functions. */
bool class__is_narrow(const struct class *class)
{
	return class->nr_known * 4 < class->nr_traceable * 3;
}

/* ---- probes ---- */

/* At the return `ret` is the returned value, even if an argument has that name. */
static int class_rename_ret(struct probe *probe)
{
	for (size_t i = 0; i < probe->nr_fields; i++) {
		struct probe_field *field = &probe->fields[i];
		char *name;

		if (field->place != PLACE_ARG || strcmp(field->name, "ret"))
			continue;
		if (asprintf(&name, "arg%u", field->at) < 0)
			return -ENOMEM;
		free((char *)field->name);
		field->name = name;
	}
	return 0;
}

int class__add_probe(const struct class_function *function, enum probe_kind kind,
		     struct probe_list *list)
{
	const struct find_symbol symbol = { function->name, function->module, function->address };
	struct probe probe = { .kind = kind };
	int err = find_function__fill(&probe, &symbol, function->btf, function->btf_id);

	if (!err && kind == PROBE_RET && probe.btf) {
		const struct btf_type *func = btf__type_by_id(probe.btf, probe.btf_id);

		err = find_abi__add_args(&probe, find_abi__here(), probe.btf, func->type);
		err = err ? err : class_rename_ret(&probe);
	}
	return probe_list__add_made(list, &probe, err);
}
