/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value_member.c: where does `req->q->disk->disk_name` lie? Follows BTF through pointers, structs
 * and what is anonymous in them; each -> is one read of memory, a dot none. value_index.c does
 * the same for elements of arrays.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>
#include "probe/lang/value_inside.h"

/*
 * What lies in the memory of a process points into it. BTF of kernels that gcc made does not tell
 * whose memory a function's argument points into: then the address does.
 */
enum value_memory typing__memory(const struct typing *t, const struct typed *pointer)
{
	switch (typing__probe(t)->kind) {
	case PROBE_USER:
	case PROBE_USERRET:
	case PROBE_USDT: return MEMORY_USER;
	default: break;
	}
	if (pointer->where == TYPED_MEMORY && pointer->memory != MEMORY_KERNEL)
		return pointer->memory;
	if (pointer->type.is_user)
		return MEMORY_USER;
	return typing__probe(t)->kind == PROBE_FN && pointer->where == TYPED_VALUE ? MEMORY_EITHER
										   : MEMORY_KERNEL;
}

static bool member_is_enum(const struct type *type)
{
	const struct btf_type *bt =
		type->btf && type->id ? btf__type_by_id(type->btf, type->id) : NULL;
	int i;

	for (i = 0; bt && i < 32 && (btf_is_mod(bt) || btf_is_typedef(bt)); i++)
		bt = btf__type_by_id(type->btf, bt->type);
	return bt && btf_is_any_enum(bt);
}

void typing__shape(struct value *v, const struct type *type)
{
	v->shape.is_signed = type->is_signed;
	v->size = type->size;
	if (type->kind == TYPE_POINTER) {
		v->shape.unit = VALUE_POINTER;
	} else if (member_is_enum(type)) {
		v->shape.unit = VALUE_ENUM;
		v->shape.type = *type;
	}
}

/* The bits of what was read; takes it. */
static struct value *member_bits(struct typing *t, const struct expr_node *node,
				 const struct type *type, struct value *unit)
{
	struct value *v = unit ? value__new(t, VALUE_BITS, node) : NULL;

	if (!v) {
		value__free(unit);
		return NULL;
	}
	v->left = unit;
	v->bits = type->bits;
	v->shift = type->shift;
	typing__shape(v, type);
	unit->shape.is_signed = false;
	unit->shape.unit = VALUE_PLAIN;
	return v;
}

static bool member_is_readable(struct typing *t, const struct expr_node *node,
			       const struct typed *typed)
{
	uint32_t size = typed->type.size;

	if (typed->where == TYPED_RECORD && typed->offset < 8) {
		expr_error__set(t->error, node->at,
				"%.*s: programs cannot read what stands before an event's own "
				"fields",
				typing__clip(t, node), typing__text(t, node));
		return false;
	}
	if (typed->type.kind == TYPE_TEXT || typed->type.kind == TYPE_ARRAY || size == 1 ||
	    size == 2 || size == 4 || size == 8)
		return true;
	expr_error__set(t->error, node->at, "%.*s is %u bytes wide: no number",
			typing__clip(t, node), typing__text(t, node), size);
	return false;
}

/* A number that lies somewhere. */
static struct value *member_load(struct typing *t, const struct expr_node *node,
				 struct typed *typed)
{
	bool is_record = typed->where == TYPED_RECORD;
	struct value *v = value__new(t, is_record ? VALUE_RECORD : VALUE_LOAD, node);

	if (!v) {
		value__free(typed->value);
		return NULL;
	}
	v->left = typed->value;
	v->offset = typed->offset;
	v->memory = typed->memory;
	typing__shape(v, &typed->type);
	return typed->type.bits ? member_bits(t, node, &typed->type, v) : v;
}

static uint32_t member_chars(const struct type *type)
{
	if (type->is_loc || !type->size)
		return VALUE_STR_DEFAULT;
	return type->size < VALUE_STR_MOST ? type->size : VALUE_STR_MOST;
}

static struct value *member_text(struct typing *t, const struct expr_node *node,
				 struct typed *typed)
{
	struct value *v = value__new(t, VALUE_CHARS, node);

	if (!v) {
		value__free(typed->value);
		return NULL;
	}
	v->left = typed->value;
	v->offset = typed->offset;
	v->memory = typed->memory;
	v->is_loc = typed->type.is_loc;
	v->is_rel = typed->type.is_rel;
	v->size = member_chars(&typed->type);
	v->shape.is_text = true;
	v->shape.size = value__text_room(v->size);
	return v;
}

/* All of a small array, as it lies there. */
static struct value *member_array(struct typing *t, const struct expr_node *node,
				  struct typed *typed)
{
	const struct type element = type__target(&typed->type);
	struct value *v = value__new(t, VALUE_ARRAY, node);

	if (!v) {
		value__free(typed->value);
		return NULL;
	}
	v->left = typed->value;
	v->offset = typed->offset;
	v->memory = typed->memory;
	v->size = typed->type.size;
	v->shape.is_text = true;
	v->shape.size = (v->size + 7) / 8 * 8;
	v->shape.unit = VALUE_HEX;
	v->shape.bytes = v->size;
	v->shape.element =
		element.kind == TYPE_INT || element.kind == TYPE_POINTER ? element.size : 1;
	return v;
}

static bool member_is_small_array(const struct typed *typed)
{
	return typed->type.kind == TYPE_ARRAY && !typed->type.is_loc &&
	       typed->where != TYPED_VALUE && typed->type.size &&
	       typed->type.size <= VALUE_ARRAY_MOST;
}

/* "bio is struct bio: name a member: bi_next, bi_bdev, ..." */
static void member_refuse_struct(struct typing *t, const struct expr_node *node,
				 const struct type *type)
{
	const char **names = type__member_names(type);
	char shown[64], *message = t->error->message;
	size_t i, len;

	expr_error__set(t->error, node->at, "%.*s is %s: name a member", typing__clip(t, node),
			typing__text(t, node), type__print(type, shown, sizeof(shown)));
	for (i = 0; names && names[i]; i++) {
		len = strlen(message);
		if (len + strlen(names[i]) + 8 > sizeof(t->error->message)) {
			snprintf(message + len, sizeof(t->error->message) - len, ", ...");
			break;
		}
		snprintf(message + len, sizeof(t->error->message) - len, "%s%s", i ? ", " : ": ",
			 names[i]);
	}
	free(names);
}

static void member_refuse(struct typing *t, const struct expr_node *node, const struct type *type)
{
	char shown[64];

	if (type->kind == TYPE_STRUCT)
		member_refuse_struct(t, node, type);
	else if (type->kind == TYPE_ARRAY)
		expr_error__set(t->error, node->at,
				"%.*s is %s: an array is shown up to %d bytes; name an element: "
				"%.*s[0]",
				typing__clip(t, node), typing__text(t, node),
				type__print(type, shown, sizeof(shown)), VALUE_ARRAY_MOST,
				typing__clip(t, node), typing__text(t, node));
	else
		expr_error__set(t->error, node->at, "nobody knows what %.*s is",
				typing__clip(t, node), typing__text(t, node));
}

/* Makes a value of it, and takes what it is made of. */
struct value *typing__settle(struct typing *t, const struct expr_node *node, struct typed *typed)
{
	bool is_number = typed->type.kind == TYPE_INT || typed->type.kind == TYPE_POINTER;

	if (typed->where == TYPED_VALUE && (is_number || typed->type.kind == TYPE_TEXT))
		return typed->value;
	if (!is_number && typed->type.kind != TYPE_TEXT && !member_is_small_array(typed))
		member_refuse(t, node, &typed->type);
	else if (member_is_readable(t, node, typed))
		return is_number			? member_load(t, node, typed)
		       : typed->type.kind == TYPE_ARRAY ? member_array(t, node, typed)
							: member_text(t, node, typed);
	value__free(typed->value);
	return NULL;
}

/* ---- . and -> ---- */

static bool member_has_none(struct typing *t, const struct expr_node *node,
			    const struct typed *typed)
{
	const struct expr_node *left = typing__node(t, node->left);
	bool is_arrow = node->op == OP_ARROW;

	if (typed->type.kind == TYPE_POINTER && !is_arrow)
		expr_error__set(t->error, node->op_at, "%.*s is a pointer: write ->",
				typing__clip(t, left), typing__text(t, left));
	else if (typed->type.kind == TYPE_STRUCT && is_arrow)
		expr_error__set(t->error, node->op_at, "%.*s is no pointer: write .",
				typing__clip(t, left), typing__text(t, left));
	else if (typed->type.kind == TYPE_POINTER)
		expr_error__set(t->error, node->op_at, "nobody knows what %.*s points to",
				typing__clip(t, left), typing__text(t, left));
	else
		expr_error__set(t->error, node->op_at, "%.*s has no members: it is no struct",
				typing__clip(t, left), typing__text(t, left));
	return false;
}

static bool member_unknown(struct typing *t, const struct expr_node *node, const struct type *of)
{
	const char **names = type__member_names(of);
	char says[80], shown[48];
	size_t nr = 0;

	while (names && names[nr])
		nr++;
	snprintf(says, sizeof(says), "%s has no member", type__print(of, shown, sizeof(shown)));
	expr_error__unknown(t->error, node, says, names, nr);
	free(names);
	return false;
}

static bool member_find(struct typing *t, const struct expr_node *node, const struct type *of,
			struct typed *typed)
{
	struct type member = { 0 };
	uint32_t offset = 0;
	char *name = strndup(node->text, node->text_len);
	bool found = name && type__member(of, name, &member, &offset);

	free(name);
	if (!found)
		return member_unknown(t, node, of);
	typed->type = member;
	typed->offset += offset;
	return true;
}

/* Behind a pointer: what it points to has not been read yet. */
bool typing__follow(struct typing *t, const struct expr_node *node, struct typed *typed)
{
	enum value_memory memory = typing__memory(t, typed);

	typed->value = typing__settle(t, typing__node(t, node->left), typed);
	if (!typed->value)
		return false;
	typed->where = TYPED_MEMORY;
	typed->memory = memory;
	typed->offset = 0;
	return true;
}

static bool member_step(struct typing *t, const struct expr_node *node, struct typed *typed)
{
	bool is_arrow = node->op == OP_ARROW;
	struct type of = typed->type;

	if (is_arrow && of.kind == TYPE_POINTER)
		of = type__target(&typed->type);
	else if (is_arrow || typed->where == TYPED_VALUE)
		return member_has_none(t, node, typed);
	if (of.kind != TYPE_STRUCT)
		return member_has_none(t, node, typed);
	if (is_arrow && !typing__follow(t, node, typed))
		return false;
	return member_find(t, node, &of, typed);
}

static bool member_is_of_pair(const struct typing *t, const struct expr_node *node,
			      const char *side)
{
	const struct expr_node *left = typing__node(t, node->left);

	return node->op == OP_MEMBER && left->op == OP_WORD && typing__is_named(left, side) &&
	       typing__is_unknown(t, left);
}

bool typing__chain(struct typing *t, uint32_t index, struct typed *typed)
{
	const struct expr_node *node = typing__node(t, index);

	memset(typed, 0, sizeof(*typed));
	if (node->op == OP_WORD || member_is_of_pair(t, node, "entry") ||
	    member_is_of_pair(t, node, "exit"))
		return typing__name(t, node, typed);
	if (node->op != OP_MEMBER && node->op != OP_ARROW && node->op != OP_INDEX) {
		typed->value = typing__value(t, index);
		typed->type.kind =
			typed->value && typed->value->shape.is_text ? TYPE_TEXT : TYPE_INT;
		return typed->value;
	}
	if (!typing__chain(t, node->left, typed))
		return false;
	if (node->op == OP_INDEX ? typing__index(t, node, typed) : member_step(t, node, typed))
		return true;
	value__free(typed->value);
	return false;
}
