/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value_inside.h: what the files of value*.c share while a tree is typed. Functions that make a
 * value return NULL after they have filled the error.
 */
#ifndef IOSONAR_PROBE_LANG_VALUE_INSIDE_H
#define IOSONAR_PROBE_LANG_VALUE_INSIDE_H

#include "probe/lang/value.h"

struct typing {
	const struct expr *tree;
	const struct value_scope *scope;
	struct expr_error *error;
	bool at_entry; /* at a pair's end: names are the start's */
};

/* Something with a type: a number, or bytes in memory or in the record that are not read yet,
 * since perhaps only a member of them is wanted. */
enum typed_where { TYPED_VALUE, TYPED_MEMORY, TYPED_RECORD };
struct typed {
	enum typed_where where;
	struct value *value; /* the number; MEMORY: the address */
	struct type type;
	uint32_t offset; /* MEMORY, RECORD */
	enum value_memory memory;
	bool is_member; /* MEMORY: of a struct that starts at the address */
};

static inline const struct expr_node *typing__node(const struct typing *t, uint32_t index)
{
	return &t->tree->nodes[index];
}

/* value_node.c: how much of a node's text fits in a message, and that text: for "%.*s". */
int typing__clip(const struct typing *t, const struct expr_node *node);
static inline const char *typing__text(const struct typing *t, const struct expr_node *node)
{
	return t->tree->source + node->at;
}
bool typing__is_named(const struct expr_node *node, const char *name);

struct value *value__new(const struct typing *t, enum value_op op, const struct expr_node *node);
/* Takes its left side, even on failure; left NULL: returns NULL, the error is already set. */
struct value *value__new_of(const struct typing *t, enum value_op op, const struct expr_node *node,
			    struct value *left);
/* Like value__new_of, with both sides. */
struct value *value__join(const struct typing *t, enum value_op op, const struct expr_node *node,
			  struct value *left, struct value *right);
struct value *value__new_number(const struct typing *t, const struct expr_node *node,
				uint64_t number);
uint32_t value__text_room(size_t chars); /* with its end */

/* value_load.c: makes a value of what was found; takes its parts. */
struct value *typing__settle(struct typing *t, const struct expr_node *node, struct typed *typed);
/* Sets the width and how it is shown. */
void typing__shape(struct value *v, const struct type *type);

/* value.c: any node as a number or a text. */
struct value *typing__value(struct typing *t, uint32_t index);
/* Like typing__value, but must be a number: not a text, not a stack. */
struct value *typing__number(struct typing *t, uint32_t index);

/* value_member.c: a word, or a chain of members. */
bool typing__chain(struct typing *t, uint32_t index, struct typed *typed);
/* The left side of the node is a pointer: gives its target, not yet read. */
bool typing__follow(struct typing *t, const struct expr_node *node, struct typed *typed);
/* value_index.c: an element of `typed`. */
bool typing__index(struct typing *t, const struct expr_node *node, struct typed *typed);
/* The memory that a pointer points into. */
enum value_memory typing__memory(const struct typing *t, const struct typed *pointer);

/* value_name.c */
const struct probe_field *typing__field(const struct probe *probe, const struct expr_node *node);
bool typing__name(struct typing *t, const struct expr_node *node, struct typed *typed);
const struct probe *typing__probe(const struct typing *t);
/* A word that is neither a field nor a builtin: may be a text. */
bool typing__is_unknown(const struct typing *t, const struct expr_node *node);
/* "arg3", if the probe has arguments. */
bool typing__is_argument_of(const struct probe *probe, const struct expr_node *node);
struct value *typing__stack(struct typing *t, const struct expr_node *node, bool is_user,
			    uint32_t depth);

/* value_pair.c: does it use only the start? Then it is saved there. */
bool typing__is_entry(const struct typing *t, uint32_t index);
struct value *typing__saved(struct typing *t, uint32_t index);

/* value_call.c */
struct value *typing__call(struct typing *t, const struct expr_node *node);

#endif
