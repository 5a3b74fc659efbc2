/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value_index.c: where does `cmd->cdw10[2]` lie? A constant index moves the place and costs
 * nothing; one that is only known at the hit is compared there with the array's length, and nothing
 * outside of the array is read. The number of elements behind a pointer is unknown.
 */
#include "probe/lang/value_inside.h"

static bool index_refuse(struct typing *t, const struct expr_node *node, const char *why)
{
	const struct expr_node *left = typing__node(t, node->left);

	expr_error__set(t->error, node->op_at, "%.*s %s", typing__clip(t, left),
			typing__text(t, left), why);
	return false;
}

/* The elements that the index counts, and their number; 0: unknown. */
static bool index_element(struct typing *t, const struct expr_node *node, struct typed *typed,
			  struct type *element, uint32_t *nr)
{
	const bool is_pointer = typed->type.kind == TYPE_POINTER;
	const bool is_array = typed->type.kind == TYPE_ARRAY || typed->type.kind == TYPE_TEXT;

	if (!is_pointer && (!is_array || typed->where == TYPED_VALUE))
		return index_refuse(t, node, "is not an array: it has no elements");
	if (typed->type.is_loc)
		return index_refuse(t, node, "has a variable length: it cannot be indexed");
	*element = type__target(&typed->type);
	if (element->kind == TYPE_VOID || !element->size)
		return index_refuse(t, node, "has elements of unknown size");
	*nr = is_pointer ? 0 : typed->type.size / element->size;
	return true;
}

enum { INDEX_MOST = 1 << 20 }; /* bytes from the first element */

static bool index_constant(struct typing *t, const struct expr_node *node, struct typed *typed,
			   uint64_t index, uint32_t size, uint32_t nr)
{
	const struct expr_node *left = typing__node(t, node->left),
			       *right = typing__node(t, node->right);

	if (nr && index >= nr)
		expr_error__set(t->error, right->at, "%.*s has %u elements: 0 to %u",
				typing__clip(t, left), typing__text(t, left), nr, nr - 1);
	else if (index >= INDEX_MOST / size)
		expr_error__set(t->error, right->at, "expected an index from 0 to %u, not %.*s",
				INDEX_MOST / size - 1, typing__clip(t, right),
				typing__text(t, right));
	else
		typed->offset += (uint32_t)index * size;
	return (!nr || index < nr) && index < INDEX_MOST / size;
}

/* left + offset + index * size; takes left and index. */
static struct value *index_address(struct typing *t, const struct expr_node *node,
				   const struct typed *typed, struct value *index, uint32_t size)
{
	struct value *near = value__join(t, VALUE_ADD, node, typed->value,
					 value__new_number(t, node, typed->offset));
	struct value *far =
		value__join(t, VALUE_MUL, node, index, value__new_number(t, node, size));

	return value__join(t, VALUE_ADD, node, near, far);
}

/* Outside of the array the address is 0, where nothing can be read, and that is counted. Takes
 * the address and the index. */
static struct value *index_inside(struct typing *t, const struct expr_node *node,
				  struct value *address, struct value *index, uint32_t nr)
{
	struct value *inside =
		value__join(t, VALUE_LT, node, index, value__new_number(t, node, nr));
	struct value *v = value__join(t, VALUE_CHOOSE, node, inside, address);

	if (v)
		v->other = value__new_number(t, node, 0);
	if (v && v->other)
		return v;
	value__free(v);
	return NULL;
}

/* An index that is only known at the hit; the tree holds it twice, once for the bounds check. */
static bool index_variable(struct typing *t, const struct expr_node *node, struct typed *typed,
			   struct value *index, uint32_t size, uint32_t nr)
{
	struct value *again = nr ? typing__number(t, node->right) : NULL;

	if (typed->where == TYPED_RECORD || (nr && !again)) {
		value__free(index);
		value__free(again);
		return again || !nr
			       ? index_refuse(
					 t, node,
					 "is a field of a tracepoint: its index must be a constant")
			       : false;
	}
	typed->value = index_address(t, node, typed, index, size);
	typed->offset = 0;
	if (typed->value && nr)
		typed->value = index_inside(t, node, typed->value, again, nr);
	else
		value__free(again);
	return typed->value;
}

bool typing__index(struct typing *t, const struct expr_node *node, struct typed *typed)
{
	struct type element;
	struct value *index;
	uint32_t nr = 0;
	bool done;

	if (!index_element(t, node, typed, &element, &nr))
		return false;
	index = typing__number(t, node->right);
	if (!index)
		return false;
	if (typed->type.kind == TYPE_POINTER && !typing__follow(t, node, typed)) {
		value__free(index);
		return false;
	}
	typed->type = element;
	if (index->op != VALUE_CONST)
		return index_variable(t, node, typed, index, element.size, nr);
	done = index_constant(t, node, typed, index->number, element.size, nr);
	value__free(index);
	return done;
}
