/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * types.c: which types of the kernel do programs name? Those of the same name, as libbpf compares
 * names, and all that they contain, not what they point to: an access through a pointer begins anew
 * with the type it points to, which the program names, too. Numbers of types change, so no program
 * may ask libbpf for one. Of the strings, a third of the kernel's types, only their names are kept.
 */
#define _GNU_SOURCE
#include "collect/types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>
#include <bpf/btf.h>
#include "base/grow.h"
#include "collect/kernel.h"

enum {
	TYPES_NAMES = 1024,
	TYPES_MOST_NAMES = TYPES_NAMES / 2,
	TYPES_MOST_BYTES = 1 << 26, /* ten times those of today's kernels */
	TYPES_STRINGS = 1 << 12, /* places for strings that were kept; another one may replace it */
};

/* A set of names, without their flavors: "bio___disk" is bio. */
struct types_name {
	const char *text;
	size_t len;
};

struct types_reduction {
	const struct btf *from;
	struct types_name names[TYPES_NAMES];
	size_t nr_names;
	uint32_t *ids; /* new number of each type; 0: it is left out */
	uint32_t *stack;
	size_t depth, stack_room;
	uint8_t *out;
	size_t len, room;
	char *strings;
	size_t strings_len, strings_room;
	struct types_string {
		uint32_t from, to; /* offsets; 0: the place is free */
	} kept[TYPES_STRINGS];
};

/* ---- names ---- */

/* The flavor begins at the last "___" between other characters: libbpf's rule. */
static size_t types_name_len(const char *name)
{
	size_t len = strlen(name);

	for (size_t i = len; i-- > 4 && strstr(name, "___");)
		if (name[i] != '_' && !strncmp(name + i - 3, "___", 3) && name[i - 4] != '_')
			return i - 3;
	return len;
}

/* Its place in the set, or the empty one for it. */
static struct types_name *types_find_name(struct types_reduction *r, const char *text, size_t len)
{
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619U;
	for (;; hash++) {
		struct types_name *name = &r->names[hash % TYPES_NAMES];

		if (!name->text || (name->len == len && !memcmp(name->text, text, len)))
			return name;
	}
}

static int types_note_names(struct types_reduction *r, const struct btf *programs)
{
	for (uint32_t i = 1; i < btf__type_cnt(programs); i++) {
		const char *text =
			btf__name_by_offset(programs, btf__type_by_id(programs, i)->name_off);
		size_t len = text ? types_name_len(text) : 0;
		struct types_name *name;

		if (!len)
			continue;
		name = types_find_name(r, text, len);
		if (name->text)
			continue;
		if (r->nr_names++ == TYPES_MOST_NAMES)
			return -E2BIG;
		*name = (struct types_name){ text, len };
	}
	return 0;
}

static bool types_is_named(struct types_reduction *r, const struct btf_type *type)
{
	const char *text;

	switch (btf_kind(type)) {
	case BTF_KIND_INT:
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_FWD: break;
	default: return false;
	}
	text = btf__name_by_offset(r->from, type->name_off);
	return text && *text && types_find_name(r, text, types_name_len(text))->text;
}

/* ---- what they contain ---- */

static int types_take(struct types_reduction *r, uint32_t id)
{
	if (!id || r->ids[id])
		return 0;
	if (GROW(r->stack, r->stack_room, r->depth + 1))
		return -ENOMEM;
	r->ids[id] = 1;
	r->stack[r->depth++] = id;
	return 0;
}

static int types_take_members(struct types_reduction *r, const struct btf_type *type)
{
	const struct btf_member *m = btf_members(type);
	int err = 0;

	for (int i = 0; i < btf_vlen(type) && !err; i++)
		err = types_take(r, m[i].type);
	return err;
}

static int types_take_inside(struct types_reduction *r, const struct btf_type *type)
{
	int err;

	switch (btf_kind(type)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: return types_take_members(r, type);
	case BTF_KIND_ARRAY:
		err = types_take(r, btf_array(type)->type);
		return err ?: types_take(r, btf_array(type)->index_type);
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG: return types_take(r, type->type);
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_FWD:
	case BTF_KIND_PTR:
	case BTF_KIND_FUNC_PROTO: return 0;
	default: return -ENOTSUP; /* a kind of newer kernels */
	}
}

static int types_choose(struct types_reduction *r)
{
	uint32_t nr = btf__type_cnt(r->from), next = 1;
	int err = 0;

	r->ids = calloc(nr, sizeof(*r->ids));
	if (!r->ids)
		return -ENOMEM;
	for (uint32_t i = 1; i < nr && !err; i++)
		if (types_is_named(r, btf__type_by_id(r->from, i)))
			err = types_take(r, i);
	while (r->depth && !err)
		err = types_take_inside(r, btf__type_by_id(r->from, r->stack[--r->depth]));
	for (uint32_t i = 1; i < nr && !err; i++)
		if (r->ids[i])
			r->ids[i] = next++;
	return err;
}

/* ---- the copy ---- */

/* The offset of a string becomes that of its copy. */
static int types_copy_string(struct types_reduction *r, uint32_t *offset)
{
	struct types_string *kept = &r->kept[*offset % TYPES_STRINGS];
	const char *text = *offset ? btf__name_by_offset(r->from, *offset) : NULL;
	size_t bytes = text ? strlen(text) + 1 : 0;

	if (bytes && kept->from != *offset) {
		if (GROW(r->strings, r->strings_room, r->strings_len + bytes))
			return -ENOMEM;
		*kept = (struct types_string){ *offset, (uint32_t)r->strings_len };
		memcpy(r->strings + r->strings_len, text, bytes);
		r->strings_len += bytes;
	}
	*offset = bytes ? kept->to : 0;
	return 0;
}

static int types_copy_names(struct types_reduction *r, struct btf_type *type)
{
	int err = types_copy_string(r, &type->name_off);

	for (int i = 0; i < btf_vlen(type) && !err; i++)
		switch (btf_kind(type)) {
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
			err = types_copy_string(r, &btf_members(type)[i].name_off);
			break;
		case BTF_KIND_ENUM: err = types_copy_string(r, &btf_enum(type)[i].name_off); break;
		case BTF_KIND_ENUM64:
			err = types_copy_string(r, &btf_enum64(type)[i].name_off);
			break;
		}
	return err;
}

static size_t types_bytes(const struct btf_type *type)
{
	size_t nr = btf_vlen(type);

	switch (btf_kind(type)) {
	case BTF_KIND_INT: return sizeof(*type) + sizeof(uint32_t);
	case BTF_KIND_ARRAY: return sizeof(*type) + sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: return sizeof(*type) + nr * sizeof(struct btf_member);
	case BTF_KIND_ENUM: return sizeof(*type) + nr * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64: return sizeof(*type) + nr * sizeof(struct btf_enum64);
	default: return sizeof(*type);
	}
}

/* What is pointed to and was left out becomes void. */
static void types_renumber(const struct types_reduction *r, struct btf_type *type)
{
	struct btf_member *m = btf_members(type);

	switch (btf_kind(type)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		for (int i = 0; i < btf_vlen(type); i++)
			m[i].type = r->ids[m[i].type];
		break;
	case BTF_KIND_ARRAY:
		btf_array(type)->type = r->ids[btf_array(type)->type];
		btf_array(type)->index_type = r->ids[btf_array(type)->index_type];
		break;
	case BTF_KIND_FUNC_PROTO: /* its parameters are left out */
		type->type = 0;
		type->info &= ~0xffffU;
		break;
	case BTF_KIND_INT:
	case BTF_KIND_FLOAT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_FWD: break; /* a size, or nothing */
	default: type->type = r->ids[type->type];
	}
}

static int types_copy(struct types_reduction *r)
{
	int err = GROW(r->strings, r->strings_room, 1);

	if (!err)
		r->strings[r->strings_len++] = '\0'; /* the empty name */
	for (uint32_t i = 1; i < btf__type_cnt(r->from) && !err; i++) {
		const struct btf_type *type = btf__type_by_id(r->from, i);
		size_t bytes = types_bytes(type);
		struct btf_type *copy;

		if (!r->ids[i])
			continue;
		if (GROW(r->out, r->room, r->len + bytes))
			return -ENOMEM;
		copy = memcpy(r->out + r->len, type, bytes);
		r->len += bytes;
		types_renumber(r, copy);
		err = types_copy_names(r, copy);
	}
	return err;
}

/* ---- the file ---- */

/* A limit of file sizes (ulimit -f) applies to files in memory, too. */
static bool types_may_write(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur >= TYPES_MOST_BYTES;
}

const char *types__open(struct types *types)
{
	types->fd = types_may_write() ? memfd_create("types", MFD_CLOEXEC) : -1;
	snprintf(types->path, sizeof(types->path), "/proc/self/fd/%d", types->fd);
	if (types->fd >= 0 && !access(types->path, R_OK))
		return types->path;
	types__close(types);
	return kernel__types_path();
}

void types__close(struct types *types)
{
	if (types->fd >= 0)
		close(types->fd);
	types->fd = -1;
}

static int types_write(int fd, const struct iovec *parts, int nr)
{
	ssize_t bytes = 0;

	for (int i = 0; i < nr; i++)
		bytes += (ssize_t)parts[i].iov_len;
	if (ftruncate(fd, 0))
		return -errno;
	return pwritev(fd, parts, nr, 0) == bytes ? 0 : -ENOSPC;
}

static int types_write_reduced(int fd, const struct types_reduction *r)
{
	struct btf_header head = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(head),
		.type_len = (uint32_t)r->len,
		.str_off = (uint32_t)r->len,
		.str_len = (uint32_t)r->strings_len,
	};
	const struct iovec parts[] = {
		{ &head, sizeof(head) },
		{ r->out, r->len },
		{ r->strings, r->strings_len },
	};

	return types_write(fd, parts, 3);
}

int types__fill(const struct types *types, const struct btf *kernel, const struct btf *programs)
{
	struct types_reduction *r;
	const void *raw;
	uint32_t bytes;
	int err;

	if (types->fd < 0)
		return 0;
	raw = btf__raw_data(kernel, &bytes);
	r = calloc(1, sizeof(*r));
	if (!raw || !r) {
		free(r);
		return -ENOMEM;
	}
	r->from = kernel;
	err = types_note_names(r, programs);
	err = err ?: types_choose(r);
	err = err ?: types_copy(r);
	if (!err)
		err = types_write_reduced(types->fd, r);
	else if (err != -ENOMEM)
		err = types_write(types->fd, &(struct iovec){ (void *)raw, bytes }, 1);
	free(r->ids);
	free(r->stack);
	free(r->out);
	free(r->strings);
	free(r);
	return err;
}
