/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * struct.c: which struct does a name refer to, and which members does it have in this kernel? Looks
 * in the BTF of vmlinux and of the loaded modules; for a wrong name suggests the nearest.
 */
#define _GNU_SOURCE
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "probe/class/inside.h"

static const char *struct_plain_name(const char *name)
{
	static const char word[] = "struct ";

	if (strncmp(name, word, strlen(word)))
		return name;
	name += strlen(word);
	return name + strspn(name, " ");
}

/* As this BTF spells it, valid as long as the finder; NULL: not in this BTF. */
static const char *struct_in(const struct find_btf *b, const char *name)
{
	const struct btf_type *t;
	uint32_t id;

	if (!b || !find_index__get(&b->structs, name, &id))
		return NULL;
	t = btf__type_by_id(b->btf, id);
	return t && btf_is_struct(t) ? btf__name_by_offset(b->btf, t->name_off) : NULL;
}

static const struct find_btf *struct_btf(struct finder *finder, const char *name)
{
	const struct find_btf *vmlinux = find_btf__vmlinux(finder);

	if (struct_in(vmlinux, name))
		return vmlinux;
	for (size_t i = 0; i < finder->btfs.nr_modules; i++)
		if (struct_in(finder->btfs.modules[i], name))
			return finder->btfs.modules[i];
	return NULL;
}

int class_nearest__compare(void *arg, const char *name)
{
	struct class_nearest *nearest = arg;

	find__nearer(nearest->word, name, nearest->near, sizeof(nearest->near));
	return 0;
}

/* A struct that a name may mean: not a union. */
struct struct_candidates {
	const struct find_btf *b;
	struct class_nearest nearest;
};

static int struct_compare(void *arg, const char *name)
{
	struct struct_candidates *c = arg;

	return struct_in(c->b, name) ? class_nearest__compare(&c->nearest, name) : 0;
}

static int struct_refuse(struct finder *finder, const char *name)
{
	struct struct_candidates c = { find_btf__vmlinux(finder), { .word = name } };

	find_index__each(&c.b->structs, struct_compare, &c);
	for (size_t i = 0; i < finder->btfs.nr_modules; i++) {
		c.b = finder->btfs.modules[i];
		find_index__each(&c.b->structs, struct_compare, &c);
	}
	if (*c.nearest.near)
		return log_err(-EINVAL, "unknown struct '%s'; did you mean %s?", name,
			       c.nearest.near);
	return log_err(-EINVAL, "unknown struct '%s': this kernel and its modules do not have it",
		       name);
}

static int struct_refuse_module(struct finder *finder, const char *module)
{
	struct class_nearest nearest = { .word = module };

	find_btf__load_modules(finder);
	for (size_t i = 0; i < finder->btfs.nr_modules; i++)
		class_nearest__compare(&nearest, finder->btfs.modules[i]->module);
	if (*nearest.near)
		return log_err(-EINVAL, "no module '%s' with BTF; did you mean %s?", module,
			       nearest.near);
	return log_err(-EINVAL, "no module '%s' with BTF in /sys/kernel/btf", module);
}

int class__name(struct class *class, struct finder *finder, const struct class_wants *wants)
{
	const char *name = struct_plain_name(wants->name);
	const struct find_btf *b;

	class->preset = class_preset__find(name);
	if (class->preset)
		name = class->preset->object;
	if (!find_btf__vmlinux(finder))
		return log_err(-EOPNOTSUPP,
			       "this kernel has no BTF (CONFIG_DEBUG_INFO_BTF): the functions that "
			       "take struct %s are unknown",
			       name);
	if (wants->module && !find_btf__module(finder, wants->module))
		return struct_refuse_module(finder, wants->module);
	find_btf__load_modules(finder);
	b = struct_btf(finder, name);
	if (!b)
		return struct_refuse(finder, name);
	class->object = struct_in(b, name);
	return 0;
}

/* ---- its members ---- */

static bool struct_type(struct finder *finder, const char *name, struct type *of)
{
	const struct find_btf *b = struct_btf(finder, name);
	uint32_t id;

	if (!b || !find_index__get(&b->structs, name, &id))
		return false;
	*of = type__of(b->btf, id);
	return true;
}

bool class__members(const struct class *class, struct finder *finder, struct type *of,
		    uint32_t *offset_bytes)
{
	const char *behind = class->preset ? class->preset->behind : NULL;

	if (!struct_type(finder, class->object, of))
		return false;
	*offset_bytes = behind ? of->size : 0;
	return !behind || struct_type(finder, behind, of);
}

/* Goes on to the next member of a path: "bi_bdev->bd_disk", "bi_iter.bi_size". */
static const char *field_step(const char *path, char name[STRUCT_NAME], struct type *of)
{
	size_t len = strcspn(path, ".-|");
	struct type member;
	uint32_t unused;

	if (!len || len >= STRUCT_NAME)
		return NULL;
	memcpy(name, path, len);
	name[len] = 0;
	if (!type__member(of, name, &member, &unused))
		return NULL;
	path += len;
	*of = *path == '-' ? type__target(&member) : member;
	return *path == '-' && path[1] == '>' ? path + 2 : *path == '.' ? path + 1 : path;
}

static bool field_is_there(struct type of, const char *path)
{
	char name[STRUCT_NAME];

	do
		path = field_step(path, name, &of);
	while (path && *path && *path != '|');
	return path;
}

bool class__pick_field(const struct type *of, const char *alternatives, char *buf, size_t size)
{
	for (;;) {
		size_t len = strcspn(alternatives, "|");

		if (field_is_there(*of, alternatives)) {
			snprintf(buf, size, "%.*s", (int)len, alternatives);
			return true;
		}
		if (!alternatives[len])
			return false;
		alternatives += len + 1;
	}
}

/* ---- names ---- */

struct struct_naming {
	const struct find_btf *b;
	const char *prefix;
	finder_name_fn fn;
	void *arg;
};

static bool struct_begins(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

/* Presets are already listed. */
static int struct_name(void *arg, const char *name)
{
	const struct struct_naming *n = arg;

	if (!struct_begins(name, n->prefix) || class_preset__find(name) || !struct_in(n->b, name))
		return 0;
	return n->fn(n->arg, name);
}

int class__names(struct finder *finder, const char *prefix, finder_name_fn fn, void *arg)
{
	struct struct_naming n = { find_btf__vmlinux(finder), prefix, fn, arg };
	int err = 0;

	for (size_t i = 0; !err && class_presets[i]; i++)
		if (struct_begins(class_presets[i]->name, prefix))
			err = fn(arg, class_presets[i]->name);
	if (err || !n.b)
		return err;
	find_btf__load_modules(finder);
	err = find_index__each(&n.b->structs, struct_name, &n);
	for (size_t i = 0; !err && i < finder->btfs.nr_modules; i++) {
		n.b = finder->btfs.modules[i];
		err = find_index__each(&n.b->structs, struct_name, &n);
	}
	return err;
}
