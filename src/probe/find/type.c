/* SPDX-License-Identifier: BSD-2-Clause */
#include "probe/find/type.h"

#include <bpf/btf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* BTF comes from a file: limits on the chains that are followed. */
enum {
	TYPE_CHAIN_MAX = 32, /* stacked typedefs and qualifiers */
	TYPE_DEPTH_MAX = 16, /* nested anonymous structs; parts of a declaration */
	TYPE_PARAMS_MAX = 16,
};

/* ---- what is it ---- */

static bool type_is_look_through(const struct btf_type *t)
{
	return btf_is_mod(t) || btf_is_typedef(t) || btf_is_type_tag(t);
}

/* The first type that is neither typedef nor qualifier; 0: void or invalid. */
static uint32_t type_strip(const struct btf *btf, uint32_t id)
{
	for (int i = 0; i < TYPE_CHAIN_MAX; i++) {
		const struct btf_type *t = id ? btf__type_by_id(btf, id) : NULL;

		if (!t)
			return 0;
		if (!type_is_look_through(t))
			return id;
		id = t->type;
	}
	return 0;
}

const struct btf_type *type__plain(const struct btf *btf, uint32_t id)
{
	id = type_strip(btf, id);
	return id ? btf__type_by_id(btf, id) : NULL;
}

static const char *type_name(const struct btf *btf, uint32_t offset)
{
	const char *name = btf__name_by_offset(btf, offset);

	return name ? name : "";
}

/* u8 is a number, char is text. */
static bool type_is_char(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = type__plain(btf, id);

	return t && btf_is_int(t) && t->size == 1 && !strcmp(type_name(btf, t->name_off), "char");
}

/* clang writes __user into BTF, gcc does not. */
static bool type_is_tagged_user(const struct btf *btf, uint32_t id)
{
	for (int i = 0; i < TYPE_CHAIN_MAX; i++) {
		const struct btf_type *t = id ? btf__type_by_id(btf, id) : NULL;

		if (!t || !type_is_look_through(t))
			return false;
		if (btf_is_type_tag(t) && !strcmp(type_name(btf, t->name_off), "user"))
			return true;
		id = t->type;
	}
	return false;
}

static struct type type_of_pointer(const struct btf *btf, const struct btf_type *t)
{
	return (struct type){
		.kind = TYPE_POINTER,
		.size = 8,
		.is_user = type_is_tagged_user(btf, t->type),
		.is_text = type_is_char(btf, t->type),
		.btf = btf,
		.id = t->type,
	};
}

static struct type type_of_array(const struct btf *btf, uint32_t id, const struct btf_type *t)
{
	int64_t size = btf__resolve_size(btf, id);

	return (struct type){
		.kind = type_is_char(btf, btf_array(t)->type) ? TYPE_TEXT : TYPE_ARRAY,
		.size = size > 0 && size <= UINT32_MAX ? (uint32_t)size : 0,
		.btf = btf,
		.id = id,
	};
}

/* A struct that is only announced where it is used may be complete elsewhere. */
static uint32_t type_complete(const struct btf *btf, const struct btf_type *fwd)
{
	int id = btf__find_by_name_kind(btf, type_name(btf, fwd->name_off),
					btf_kflag(fwd) ? BTF_KIND_UNION : BTF_KIND_STRUCT);

	return id < 0 ? 0 : (uint32_t)id;
}

static struct type type_of_number(const struct btf *btf, uint32_t id, const struct btf_type *t)
{
	bool is_signed = btf_is_int(t) ? btf_int_encoding(t) & BTF_INT_SIGNED : btf_kflag(t);

	if (t->size != 1 && t->size != 2 && t->size != 4 && t->size != 8)
		return (struct type){ .kind = TYPE_ARRAY, .size = t->size, .btf = btf, .id = id };
	return (struct type){
		.kind = TYPE_INT, .size = t->size, .is_signed = is_signed, .btf = btf, .id = id
	};
}

struct type type__of(const struct btf *btf, uint32_t id)
{
	uint32_t stripped = btf ? type_strip(btf, id) : 0;
	const struct btf_type *t = stripped ? btf__type_by_id(btf, stripped) : NULL;

	if (t && btf_is_fwd(t)) {
		id = type_complete(btf, t);
		t = id ? btf__type_by_id(btf, id) : NULL;
	}
	if (!t)
		return (struct type){ .kind = TYPE_VOID, .btf = btf };
	switch (btf_kind(t)) {
	case BTF_KIND_PTR: return type_of_pointer(btf, t);
	case BTF_KIND_ARRAY: return type_of_array(btf, stripped, t);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (struct type){ .kind = TYPE_STRUCT, .size = t->size, .btf = btf, .id = id };
	case BTF_KIND_INT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64: return type_of_number(btf, id, t);
	default: return (struct type){ .kind = TYPE_VOID, .btf = btf, .id = id };
	}
}

/* Of an array that a format file declares. */
static struct type type_of_element(const struct type *array)
{
	const uint32_t nr = array->kind == TYPE_TEXT ? array->size : array->nr;
	const uint32_t size = nr ? array->size / nr : 0;

	if (size != 1 && size != 2 && size != 4 && size != 8)
		return (struct type){ .kind = TYPE_VOID };
	return (struct type){ .kind = TYPE_INT, .size = size, .is_signed = array->is_signed };
}

struct type type__target(const struct type *pointer)
{
	const struct btf_type *t;

	if (!pointer->btf || !pointer->id)
		return type_of_element(pointer);
	if (pointer->kind == TYPE_POINTER)
		return type__of(pointer->btf, pointer->id);
	t = type__plain(pointer->btf, pointer->id);
	if (!t || !btf_is_array(t))
		return (struct type){ .kind = TYPE_VOID };
	return type__of(pointer->btf, btf_array(t)->type);
}

/* ---- members ---- */

static const struct btf_type *type_composite(const struct type *of)
{
	const struct btf_type *t;

	if (of->kind != TYPE_STRUCT || !of->btf)
		return NULL;
	t = type__plain(of->btf, of->id);
	return t && btf_is_composite(t) ? t : NULL;
}

/* The smallest unit that starts at a multiple of its size and holds these bits. */
static void type_place_bits(struct type *member, uint64_t bit, uint32_t bits, uint32_t *offset)
{
	uint64_t start = bit / 8;
	uint32_t size;

	for (size = 1; size < 8; size *= 2) {
		start = bit / (8 * size) * size;
		if (bit + bits <= (start + size) * 8)
			break;
	}
	if (size == 8)
		start = bit / 64 * 8;
	if (bit + bits > (start + size) * 8)
		start = bit / 8; /* of a packed struct, across two units */
	member->size = size;
	member->bits = bits;
	member->shift = (uint32_t)(bit - start * 8);
	*offset = (uint32_t)start;
}

struct type_search {
	const struct btf *btf;
	const char *name;
	struct type *member;
	uint32_t *offset;
};

static bool type_search_in(const struct type_search *search, const struct btf_type *in,
			   uint64_t base_bit, int depth);

static bool type_take_member(const struct type_search *search, const struct btf_type *in,
			     uint32_t nr, uint64_t bit)
{
	uint32_t bits = btf_member_bitfield_size(in, nr);

	*search->member = type__of(search->btf, btf_members(in)[nr].type);
	*search->offset = (uint32_t)(bit / 8);
	if (bits)
		type_place_bits(search->member, bit, bits, search->offset);
	return true;
}

static bool type_search_member(const struct type_search *search, const struct btf_type *in,
			       uint32_t nr, uint64_t bit, int depth)
{
	const struct btf_member *m = &btf_members(in)[nr];
	const struct btf_type *t;

	if (m->name_off)
		return !strcmp(type_name(search->btf, m->name_off), search->name) &&
		       type_take_member(search, in, nr, bit);
	t = type__plain(search->btf, m->type);
	return t && btf_is_composite(t) && type_search_in(search, t, bit, depth + 1);
}

static bool type_search_in(const struct type_search *search, const struct btf_type *in,
			   uint64_t base_bit, int depth)
{
	if (depth > TYPE_DEPTH_MAX)
		return false;
	for (uint32_t i = 0; i < btf_vlen(in); i++)
		if (type_search_member(search, in, i, base_bit + btf_member_bit_offset(in, i),
				       depth))
			return true;
	return false;
}

bool type__member(const struct type *of, const char *name, struct type *member,
		  uint32_t *offset_bytes)
{
	const struct type_search search = { of->btf, name, member, offset_bytes };
	const struct btf_type *t = type_composite(of);

	return t && *name && type_search_in(&search, t, 0, 0);
}

/* Counts the names, and writes those that fit. */
static size_t type_list_names(const struct btf *btf, const struct btf_type *in, const char **names,
			      size_t nr, int depth)
{
	for (uint32_t i = 0; depth <= TYPE_DEPTH_MAX && i < btf_vlen(in); i++) {
		const struct btf_member *m = &btf_members(in)[i];
		const struct btf_type *t;

		if (m->name_off) {
			if (names)
				names[nr] = type_name(btf, m->name_off);
			nr++;
			continue;
		}
		t = type__plain(btf, m->type);
		if (t && btf_is_composite(t))
			nr = type_list_names(btf, t, names, nr, depth + 1);
	}
	return nr;
}

const char **type__member_names(const struct type *of)
{
	const struct btf_type *t = type_composite(of);
	size_t nr = t ? type_list_names(of->btf, t, NULL, 0, 0) : 0;
	const char **names = calloc(nr + 1, sizeof(*names));

	if (names && t)
		type_list_names(of->btf, t, names, 0, 0);
	return names;
}

/* ---- as text ---- */

struct type_text {
	char *buf;
	size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void type_put(struct type_text *text, const char *fmt,
							   ...)
{
	size_t room = text->size - text->len;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(text->buf + text->len, room, fmt, args);
	va_end(args);
	if (len > 0)
		text->len += (size_t)len < room ? (size_t)len : room - 1;
}

static void type_put_id(struct type_text *text, const struct btf *btf, uint32_t id, int depth);

static void type_put_named(struct type_text *text, const char *word, const char *name)
{
	type_put(text, "%s%s%s", word, *word ? " " : "", *name ? name : "{...}");
}

static void type_put_params(struct type_text *text, const struct btf *btf,
			    const struct btf_type *proto, int depth)
{
	type_put(text, "(");
	for (uint32_t i = 0; i < btf_vlen(proto); i++) {
		const struct btf_param *p = &btf_params(proto)[i];

		type_put(text, "%s", i ? ", " : "");
		if (!p->type || i == TYPE_PARAMS_MAX) {
			type_put(text, "...");
			break;
		}
		type_put_id(text, btf, p->type, depth);
	}
	type_put(text, "%s)", btf_vlen(proto) ? "" : "void");
}

/* "struct bio *", "char **", "void (*)(struct bio *)". */
static void type_put_pointer(struct type_text *text, const struct btf *btf, uint32_t to, int depth)
{
	const struct btf_type *t = to ? btf__type_by_id(btf, to) : NULL;

	if (t && btf_is_func_proto(t)) {
		type_put_id(text, btf, t->type, depth);
		type_put(text, " (*)");
		type_put_params(text, btf, t, depth);
		return;
	}
	type_put_id(text, btf, to, depth);
	type_put(text, "%s", text->len && text->buf[text->len - 1] == '*' ? "*" : " *");
}

/* A qualifier of a pointer comes after it, any other before it. */
static void type_put_qualified(struct type_text *text, const struct btf *btf, const char *word,
			       uint32_t id, int depth)
{
	const struct btf_type *t = id ? btf__type_by_id(btf, id) : NULL;
	bool behind = t && btf_is_ptr(t);

	if (!behind)
		type_put(text, "%s ", word);
	type_put_id(text, btf, id, depth);
	if (behind)
		type_put(text, " %s", word);
}

static void type_put_array(struct type_text *text, const struct btf *btf, const struct btf_type *t,
			   int depth)
{
	const struct btf_array *array = btf_array(t);

	type_put_id(text, btf, array->type, depth);
	if (array->nelems)
		type_put(text, "[%u]", array->nelems);
	else
		type_put(text, "[]");
}

static void type_put_id(struct type_text *text, const struct btf *btf, uint32_t id, int depth)
{
	const struct btf_type *t = id ? btf__type_by_id(btf, id) : NULL;
	const char *name = t ? type_name(btf, t->name_off) : "void";

	depth++;
	if (depth > TYPE_DEPTH_MAX) {
		type_put(text, "...");
		return;
	}
	switch (t ? btf_kind(t) : BTF_KIND_UNKN) {
	case BTF_KIND_PTR: type_put_pointer(text, btf, t->type, depth); break;
	case BTF_KIND_ARRAY: type_put_array(text, btf, t, depth); break;
	case BTF_KIND_STRUCT: type_put_named(text, "struct", name); break;
	case BTF_KIND_UNION: type_put_named(text, "union", name); break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64: type_put_named(text, "enum", name); break;
	case BTF_KIND_FWD: type_put_named(text, btf_kflag(t) ? "union" : "struct", name); break;
	case BTF_KIND_CONST: type_put_qualified(text, btf, "const", t->type, depth); break;
	case BTF_KIND_VOLATILE: type_put_qualified(text, btf, "volatile", t->type, depth); break;
	case BTF_KIND_RESTRICT: type_put_qualified(text, btf, "restrict", t->type, depth); break;
	case BTF_KIND_TYPE_TAG:
		type_put_id(text, btf, t->type, depth);
		type_put(text, " __%s", name);
		break;
	case BTF_KIND_FUNC_PROTO:
		type_put_id(text, btf, t->type, depth);
		type_put(text, " ");
		type_put_params(text, btf, t, depth);
		break;
	default: type_put_named(text, "", name);
	}
}

/* The types known without BTF. */
static void type_put_plain(struct type_text *text, const struct type *type)
{
	switch (type->kind) {
	case TYPE_VOID: type_put(text, "void"); break;
	case TYPE_INT: type_put(text, "%c%u", type->is_signed ? 's' : 'u', type->size * 8); break;
	case TYPE_POINTER: type_put(text, "%s *", type->is_text ? "char" : "void"); break;
	case TYPE_STRUCT: type_put(text, "struct {...}"); break;
	case TYPE_TEXT:
	case TYPE_ARRAY:
		type_put(text, "%s", type->kind == TYPE_TEXT ? "char" : "u8");
		if (type->is_loc || !type->size)
			type_put(text, "[]");
		else
			type_put(text, "[%u]", type->size);
		break;
	}
}

char *type__print(const struct type *type, char *buf, size_t size)
{
	struct type_text text = { buf, size, 0 };

	buf[0] = 0;
	if (!type->btf || (!type->id && type->kind != TYPE_POINTER))
		type_put_plain(&text, type);
	else if (type->kind == TYPE_POINTER)
		type_put_pointer(&text, type->btf, type->id, 0);
	else
		type_put_id(&text, type->btf, type->id, 0);
	if (type->bits)
		type_put(&text, ":%u", type->bits);
	return buf;
}

char *type__declare(const char *type, const char *name, char *buf, size_t size)
{
	const char *inside = strstr(type, "(*)"), *array = strchr(type, '[');
	size_t len = strlen(type);
	int head;

	if (inside)
		head = (int)(inside + 2 - type);
	else if (array)
		head = (int)(array - type);
	else
		head = (int)len;
	snprintf(buf, size, "%.*s%s%s%s", head, type,
		 inside || (head && type[head - 1] == '*') ? "" : " ", name, type + head);
	return buf;
}

const char *type__enum_name(const struct type *type, int64_t value)
{
	const struct btf_type *t;

	if (type->kind != TYPE_INT || !type->btf || !type->id)
		return NULL;
	t = type__plain(type->btf, type->id);
	if (t && btf_is_enum(t) && (value < INT32_MIN || value > UINT32_MAX))
		return NULL;
	/* Before 6.0 BTF did not say whether an enum is signed: the bits are compared. */
	for (uint32_t i = 0; t && btf_is_enum(t) && i < btf_vlen(t); i++)
		if ((uint32_t)btf_enum(t)[i].val == (uint32_t)value)
			return type_name(type->btf, btf_enum(t)[i].name_off);
	for (uint32_t i = 0; t && btf_is_enum64(t) && i < btf_vlen(t); i++)
		if (btf_enum64_value(&btf_enum64(t)[i]) == (uint64_t)value)
			return type_name(type->btf, btf_enum64(t)[i].name_off);
	return NULL;
}
