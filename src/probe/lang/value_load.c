/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value_load.c: turns something with a type into a value: a number, some bits of one, a text, a
 * small array, read from memory or from the record. Refuses anything else and says what to write
 * instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/btf.h>
#include "probe/lang/value_inside.h"

void typing__shape(struct value *v, const struct type *type)
{
	const struct btf_type *t = type->btf ? type__plain(type->btf, type->id) : NULL;

	v->shape.is_signed = type->is_signed;
	v->size = type->size;
	if (type->kind == TYPE_POINTER) {
		v->shape.unit = VALUE_POINTER;
	} else if (t && btf_is_any_enum(t)) {
		v->shape.unit = VALUE_ENUM;
		v->shape.type = *type;
	}
}

/* The bits of a loaded number; takes it. */
static struct value *load_bits(struct typing *t, const struct expr_node *node,
			       const struct type *type, struct value *unit)
{
	struct value *v = value__new_of(t, VALUE_BITS, node, unit);

	if (!v)
		return NULL;
	v->bits = type->bits;
	v->shift = type->shift;
	typing__shape(v, type);
	unit->shape.is_signed = false;
	unit->shape.unit = VALUE_PLAIN;
	return v;
}

static bool load_is_readable(struct typing *t, const struct expr_node *node,
			     const struct typed *typed)
{
	uint32_t size = typed->type.size;

	if (typed->where == TYPED_RECORD && typed->offset < 8) {
		expr_error__set(t->error, node->at,
				"%.*s: programs cannot read the common fields of an event",
				typing__clip(t, node), typing__text(t, node));
		return false;
	}
	if (typed->type.kind == TYPE_TEXT || typed->type.kind == TYPE_ARRAY || size == 1 ||
	    size == 2 || size == 4 || size == 8)
		return true;
	expr_error__set(t->error, node->at, "%.*s is %u bytes wide: not a number",
			typing__clip(t, node), typing__text(t, node), size);
	return false;
}

/* Loads it; takes the address, which a record does not have. */
static struct value *load_new(struct typing *t, enum value_op op, const struct expr_node *node,
			      const struct typed *typed)
{
	struct value *v = value__new(t, op, node);

	if (!v) {
		value__free(typed->value);
		return NULL;
	}
	v->left = typed->value;
	v->offset = typed->offset;
	v->memory = typed->memory;
	v->is_member = typed->is_member;
	return v;
}

/* A number in memory or in the record. */
static struct value *load_number(struct typing *t, const struct expr_node *node,
				 struct typed *typed)
{
	struct value *v =
		load_new(t, typed->where == TYPED_RECORD ? VALUE_RECORD : VALUE_LOAD, node, typed);

	if (!v)
		return NULL;
	typing__shape(v, &typed->type);
	return typed->type.bits ? load_bits(t, node, &typed->type, v) : v;
}

static uint32_t load_chars(const struct type *type)
{
	if (type->is_loc || !type->size)
		return VALUE_STR_DEFAULT;
	return type->size < VALUE_STR_MOST ? type->size : VALUE_STR_MOST;
}

static struct value *load_text(struct typing *t, const struct expr_node *node, struct typed *typed)
{
	struct value *v = load_new(t, VALUE_CHARS, node, typed);

	if (!v)
		return NULL;
	v->is_loc = typed->type.is_loc;
	v->is_rel = typed->type.is_rel;
	v->size = load_chars(&typed->type);
	v->shape.is_text = true;
	v->shape.size = value__text_room(v->size);
	return v;
}

/* All of a small array, as raw bytes. */
static struct value *load_array(struct typing *t, const struct expr_node *node, struct typed *typed)
{
	const struct type element = type__target(&typed->type);
	struct value *v = load_new(t, VALUE_ARRAY, node, typed);

	if (!v)
		return NULL;
	v->size = typed->type.size;
	v->shape.is_text = true;
	v->shape.size = (v->size + 7) / 8 * 8;
	v->shape.unit = VALUE_HEX;
	v->shape.bytes = v->size;
	v->shape.element =
		element.kind == TYPE_INT || element.kind == TYPE_POINTER ? element.size : 1;
	return v;
}

static bool load_is_small_array(const struct typed *typed)
{
	return typed->type.kind == TYPE_ARRAY && !typed->type.is_loc &&
	       typed->where != TYPED_VALUE && typed->type.size &&
	       typed->type.size <= VALUE_ARRAY_MOST;
}

/* "bio is struct bio: name a member: bi_next, bi_bdev, ..." */
static void load_refuse_struct(struct typing *t, const struct expr_node *node,
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

static void load_refuse(struct typing *t, const struct expr_node *node, const struct type *type)
{
	char shown[64];

	if (type->kind == TYPE_STRUCT)
		load_refuse_struct(t, node, type);
	else if (type->kind == TYPE_ARRAY)
		expr_error__set(t->error, node->at,
				"%.*s is %s: an array is shown up to %d bytes; name an element: "
				"%.*s[0]",
				typing__clip(t, node), typing__text(t, node),
				type__print(type, shown, sizeof(shown)), VALUE_ARRAY_MOST,
				typing__clip(t, node), typing__text(t, node));
	else
		expr_error__set(t->error, node->at, "the type of %.*s is unknown",
				typing__clip(t, node), typing__text(t, node));
}

/* Makes a value of it, and takes its parts. */
struct value *typing__settle(struct typing *t, const struct expr_node *node, struct typed *typed)
{
	bool is_number = typed->type.kind == TYPE_INT || typed->type.kind == TYPE_POINTER;

	if (typed->where == TYPED_VALUE && (is_number || typed->type.kind == TYPE_TEXT))
		return typed->value;
	if (!is_number && typed->type.kind != TYPE_TEXT && !load_is_small_array(typed))
		load_refuse(t, node, &typed->type);
	else if (load_is_readable(t, node, typed))
		return is_number			? load_number(t, node, typed)
		       : typed->type.kind == TYPE_ARRAY ? load_array(t, node, typed)
							: load_text(t, node, typed);
	value__free(typed->value);
	return NULL;
}
