/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * find.c: which functions of a BTF have an argument that points to the struct, or return such a
 * pointer? Looks through const, volatile, restrict and typedefs; a pointer to a pointer, or an
 * argument of a function pointer, does not count. It looks at every prototype: 0.1 s.
 */
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "probe/class/inside.h"

enum { CLASS_PROTOTYPE = 4096 }; /* bytes */

/* ---- the struct ---- */

/* Without qualifiers and typedefs; NULL: void or invalid. */
static const struct btf_type *class_type(const struct btf *btf, uint32_t id)
{
	int plain = id ? btf__resolve_type(btf, id) : 0;

	return plain > 0 ? btf__type_by_id(btf, (uint32_t)plain) : NULL;
}

static bool class_points(const struct btf *btf, uint32_t id, const char *object)
{
	const struct btf_type *t = class_type(btf, id);
	const char *name;

	if (!t || !btf_is_ptr(t))
		return false;
	t = class_type(btf, t->type);
	/* A module that only knows the struct by name has a forward declaration of it. */
	if (!t || !(btf_is_struct(t) || (btf_is_fwd(t) && !btf_kflag(t))))
		return false;
	name = btf__name_by_offset(btf, t->name_off);
	return name && !strcmp(name, object);
}

/* ---- one function ---- */

static const struct btf_type *class_proto(const struct btf *btf, uint32_t func_id)
{
	const struct btf_type *t = func_id ? btf__type_by_id(btf, func_id) : NULL;

	t = t && btf_is_func(t) ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? t : NULL;
}

static int class_argument(const struct btf *btf, const struct btf_type *proto, const char *object)
{
	for (int i = 0; i < btf_vlen(proto); i++)
		if (class_points(btf, btf_params(proto)[i].type, object))
			return i;
	return -1;
}

char *class__prototype(const struct btf *btf, uint32_t func_id, const char *name)
{
	const struct probe probe = {
		.kind = PROBE_FN, .func = name, .btf = btf, .btf_id = func_id
	};
	char text[CLASS_PROTOTYPE];

	return func_id && probe__prototype(&probe, text, sizeof(text)) ? strdup(text) : NULL;
}

static int class_consider(struct class *class, const struct find_btf *b, uint32_t func_id,
			  const char *name)
{
	const struct btf_type *proto = class_proto(b->btf, func_id);
	struct class_function function = {
		.name = name, .module = b->module, .btf = b->btf, .btf_id = func_id
	};

	if (!proto)
		return 0;
	function.argument = class_argument(b->btf, proto, class->object);
	function.returns = class_points(b->btf, proto->type, class->object);
	if (function.argument < 0 && !function.returns)
		return 0;
	function.prototype = class__prototype(b->btf, func_id, name);
	return function.prototype ? class__add(class, &function) : -ENOMEM;
}

/* ---- all functions ---- */

/* A BTF has identical functions once: two functions of one name differ, and nothing says which
 * of two symbols belongs to which. */
static int class_mark_twins(struct class *class, size_t from, const struct find_index *twins)
{
	for (size_t i = from; i < class->nr; i++) {
		struct class_function *f = &class->functions[i];

		if (!find_index__get(twins, f->name, NULL))
			continue;
		f->why = strdup("one of several functions with this name and different arguments");
		if (!f->why)
			return -ENOMEM;
	}
	return 0;
}

static int class_walk(struct class *class, const struct find_btf *b, struct find_index *twins)
{
	const struct btf *base = btf__base_btf(b->btf);
	uint32_t first;
	int err = 0;

	for (uint32_t id = base ? btf__type_cnt(base) : 1; !err && id < btf__type_cnt(b->btf);
	     id++) {
		const struct btf_type *t = btf__type_by_id(b->btf, id);
		const char *name;

		if (!t || !btf_is_func(t))
			continue;
		name = btf__name_by_offset(b->btf, t->name_off);
		if (!name || !*name)
			continue;
		if (find_index__get(&b->funcs, name, &first) && first != id)
			err = find_index__add(twins, name, 0);
		err = err ? err : class_consider(class, b, id, name);
	}
	return err;
}

int class__add_functions(struct class *class, const struct find_btf *b)
{
	struct find_index twins = { 0 };
	size_t before = class->nr;
	int err = class_walk(class, b, &twins);

	err = err ? err : class_mark_twins(class, before, &twins);
	find_index__free(&twins);
	return err;
}

/* ---- the list ---- */

void class_function__free(struct class_function *function)
{
	free(function->why);
	free(function->prototype);
}

int class__add(struct class *class, const struct class_function *function)
{
	struct class_function owned = *function;

	if (GROW_BY_ONE(class->functions, class->nr)) {
		class_function__free(&owned);
		return -ENOMEM;
	}
	class->functions[class->nr++] = owned;
	return 0;
}

static int class_compare(const void *a, const void *b)
{
	const struct class_function *left = a, *right = b;
	int order = strcmp(left->name, right->name);

	if (order)
		return order;
	order = strcmp(left->module ? left->module : "", right->module ? right->module : "");
	if (order)
		return order;
	return left->btf_id < right->btf_id ? -1 : left->btf_id > right->btf_id;
}

void class__sort(struct class *class)
{
	if (class->nr)
		qsort(class->functions, class->nr, sizeof(*class->functions), class_compare);
}
