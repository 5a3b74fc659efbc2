/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * value_name.c: what does a name mean? A field or an argument of the event first, then the builtins
 * of every event: task, CPU, time. For an unknown name suggests the most similar.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "probe/find/find.h"
#include "probe/lang/value_inside.h"

const struct probe *typing__probe(const struct typing *t)
{
	return t->at_entry ? t->scope->entry : t->scope->probe;
}

/* A builtin, without its text: most are numbers. */
static const struct name_builtin {
	const char *name;
	enum value_op op;
	enum value_unit unit;
} name_builtins[] = {
	{ "pid", VALUE_PID, VALUE_PLAIN },
	{ "tid", VALUE_TID, VALUE_PLAIN },
	{ "uid", VALUE_UID, VALUE_PLAIN },
	{ "comm", VALUE_COMM, VALUE_PLAIN },
	{ "cpu", VALUE_CPU, VALUE_PLAIN },
	{ "cgroup", VALUE_CGROUP, VALUE_CGROUP_PATH },
	{ "nsecs", VALUE_NSECS, VALUE_PLAIN },
	{ "time", VALUE_NSECS, VALUE_TIME },
	{ "probe", VALUE_PROBE, VALUE_PROBE_NAME },
	{ "func", VALUE_PROBE, VALUE_FUNC_NAME },
	{ "kstack", VALUE_KSTACK, VALUE_KSTACK_ID },
	{ "ustack", VALUE_USTACK, VALUE_USTACK_ID },
	{ "latency", VALUE_LATENCY, VALUE_DURATION },
	{ "ret", VALUE_RET, VALUE_PLAIN },
};
enum {
	NAME_NR_BUILTINS = sizeof(name_builtins) / sizeof(name_builtins[0]),
	NAME_COMM_ROOM = 16,
};

static const struct name_builtin *name_builtin(const struct expr_node *node)
{
	for (size_t i = 0; i < NAME_NR_BUILTINS; i++)
		if (typing__is_named(node, name_builtins[i].name))
			return &name_builtins[i];
	return NULL;
}

const struct probe_field *typing__field(const struct probe *probe, const struct expr_node *node)
{
	for (size_t i = 0; i < probe->nr_fields; i++)
		if (typing__is_named(node, probe->fields[i].name))
			return &probe->fields[i];
	return NULL;
}

/* "arg3": its number, or -1. */
static int name_argument(const struct expr_node *node)
{
	int number;

	if (node->text_len < 4 || node->text_len > 5 || memcmp(node->text, "arg", 3) ||
	    !isdigit((unsigned char)node->text[3]))
		return -1;
	number = node->text[3] - '0';
	if (node->text_len == 4)
		return number;
	return number && isdigit((unsigned char)node->text[4]) ? 10 * number + node->text[4] - '0'
							       : -1;
}

bool typing__is_unknown(const struct typing *t, const struct expr_node *node)
{
	const struct probe *entry = t->scope->entry;

	return node->op == OP_WORD && !typing__field(t->scope->probe, node) &&
	       !(entry && typing__field(entry, node)) && !name_builtin(node) &&
	       name_argument(node) < 0;
}

/* ---- fields ---- */

static struct value *name_argument_value(const struct typing *t, const struct expr_node *node,
					 const struct probe_field *field)
{
	struct value *v = value__new(t, VALUE_ARG, node);

	if (!v)
		return NULL;
	v->number = field->at;
	v->offset = field->reg;
	v->shift = field->slot;
	return v;
}

/* A struct by value is in registers, where it has no address. */
static bool name_fits_register(const struct typing *t, const struct expr_node *node,
			       const struct type *type)
{
	if (type->kind == TYPE_INT || type->kind == TYPE_POINTER)
		return true;
	if (type->kind == TYPE_VOID)
		expr_error__set(t->error, node->at, "the type of %.*s is unknown",
				typing__clip(t, node), typing__text(t, node));
	else
		expr_error__set(t->error, node->at,
				"%.*s is passed by value: its members cannot be read",
				typing__clip(t, node), typing__text(t, node));
	return false;
}

static bool name_take_field(const struct typing *t, const struct expr_node *node,
			    const struct probe_field *field, struct typed *typed)
{
	typed->type = field->type;
	if (field->place == PLACE_RECORD) {
		typed->where = TYPED_RECORD;
		typed->offset = field->at;
		return true;
	}
	if (!name_fits_register(t, node, &field->type))
		return false;
	typed->where = TYPED_VALUE;
	typed->value = field->place == PLACE_ARG ? name_argument_value(t, node, field)
						 : value__new(t, VALUE_RET, node);
	if (typed->value)
		typing__shape(typed->value, &field->type);
	return typed->value;
}

/* ---- arguments by number ---- */

static bool name_has_arguments(const struct probe *probe)
{
	switch (probe->kind) {
	case PROBE_RAW:
	case PROBE_FN:
	case PROBE_USER:
	case PROBE_USDT: return true;
	default: return false;
	}
}

bool typing__is_argument_of(const struct probe *probe, const struct expr_node *node)
{
	return name_argument(node) >= 0 && name_has_arguments(probe);
}

static size_t name_nr_arguments(const struct probe *probe)
{
	size_t i, nr = 0;

	for (i = 0; i < probe->nr_fields; i++)
		nr += probe->fields[i].place == PLACE_ARG;
	return nr;
}

static bool name_refuse_argument(const struct typing *t, const struct expr_node *node,
				 const struct probe *probe)
{
	size_t nr = probe->kind == PROBE_USDT	? probe->nr_args
		    : probe->btf		? name_nr_arguments(probe)
		    : name_has_arguments(probe) ? (size_t)PROBE_MAX_ARGS
						: 0;

	if (!nr)
		expr_error__set(t->error, expr_node__name_at(node), "this event has no arguments");
	else if (nr == 1)
		expr_error__set(t->error, expr_node__name_at(node),
				"this event has one argument: arg0");
	else
		expr_error__set(t->error, expr_node__name_at(node),
				"this event has %zu arguments: arg0 to arg%zu", nr, nr - 1);
	return false;
}

/* A known prototype limits the number of arguments. */
static bool name_may_have_argument(const struct probe *probe, uint32_t at)
{
	if (probe->kind == PROBE_USDT)
		return at < probe->nr_args;
	return name_has_arguments(probe) && !probe->btf && at < PROBE_MAX_ARGS;
}

static bool name_take_argument(const struct typing *t, const struct expr_node *node, uint32_t at,
			       struct typed *typed)
{
	const struct probe *probe = typing__probe(t);
	struct probe_field plain = {
		.type = { .kind = TYPE_INT, .size = 8 },
		.place = PLACE_ARG,
		.at = at,
		.reg = find_abi__plain_register(at),
		.slot = at,
	};

	for (size_t i = 0; i < probe->nr_fields; i++)
		if (probe->fields[i].place == PLACE_ARG && probe->fields[i].at == at)
			return name_take_field(t, node, &probe->fields[i], typed);
	if (!name_may_have_argument(probe, at))
		return name_refuse_argument(t, node, probe);
	if (probe->kind == PROBE_USDT)
		plain.type.is_signed = probe->args[at].is_signed;
	return name_take_field(t, node, &plain, typed);
}

/* ---- builtins ---- */

static bool name_refuse_latency(const struct typing *t, const struct expr_node *node)
{
	if (t->at_entry)
		expr_error__set(t->error, expr_node__name_at(node),
				"the start has no latency; write latency");
	else
		expr_error__set(t->error, expr_node__name_at(node),
				"latency requires a pair, or functions: 'hist fn:NAME of latency'");
	return false;
}

static bool name_take_ret(const struct typing *t, const struct expr_node *node)
{
	const struct probe *probe = typing__probe(t);

	if (probe->kind == PROBE_USERRET)
		return true;
	expr_error__set(t->error, expr_node__name_at(node), "%s",
			probe->returns_nothing
				? "ret is not available: the function returns nothing"
				: "ret is available only where a function returns (ret:NAME, "
				  "userret:PATH:NAME)");
	return false;
}

static bool name_is_there(const struct typing *t, const struct expr_node *node, enum value_op op)
{
	if (op == VALUE_LATENCY && (t->at_entry || !t->scope->entry))
		return name_refuse_latency(t, node);
	return op != VALUE_RET || name_take_ret(t, node);
}

static bool name_take_builtin(const struct typing *t, const struct expr_node *node,
			      const struct name_builtin *builtin, struct typed *typed)
{
	struct value *v =
		name_is_there(t, node, builtin->op) ? value__new(t, builtin->op, node) : NULL;

	if (!v)
		return false;
	v->shape.unit = builtin->unit;
	v->shape.is_signed = v->op == VALUE_KSTACK || v->op == VALUE_USTACK || v->op == VALUE_RET;
	v->size = 8;
	if (v->op == VALUE_PROBE)
		v->number = t->at_entry ? t->scope->entry_number : t->scope->number;
	if (v->op == VALUE_COMM) {
		v->shape.is_text = true;
		v->shape.size = NAME_COMM_ROOM;
	}
	typed->where = TYPED_VALUE;
	typed->value = v;
	typed->type.kind = v->shape.is_text ? TYPE_TEXT : TYPE_INT;
	return true;
}

struct value *typing__stack(struct typing *t, const struct expr_node *node, bool is_user,
			    uint32_t depth)
{
	struct value *v = value__new(t, is_user ? VALUE_USTACK : VALUE_KSTACK, node);

	if (!v)
		return NULL;
	v->shape.unit = is_user ? VALUE_USTACK_ID : VALUE_KSTACK_ID;
	v->shape.is_signed = true;
	v->shape.depth = depth;
	return v;
}

/* ---- all names ---- */

static size_t name_list_fields(const struct probe *probe, const char **names)
{
	size_t i;

	for (i = 0; probe && i < probe->nr_fields; i++)
		names[i] = probe->fields[i].name;
	return i;
}

/* Names that are not available here must not be suggested. */
static bool name_is_offered(const struct typing *t, enum value_op op)
{
	if (op == VALUE_LATENCY)
		return t->scope->entry && !t->at_entry;
	return op != VALUE_RET || typing__probe(t)->kind == PROBE_USERRET;
}

/* "entry" alone, or as a pointer: it is neither a value nor a pointer. */
static bool name_refuse_side_word(const struct typing *t, const struct expr_node *node)
{
	bool is_entry = typing__is_named(node, "entry");

	expr_error__set(t->error, node->at,
			"%s is the %s of the pair: name a value of it, e.g. %s.cpu",
			is_entry ? "entry" : "exit", is_entry ? "start" : "end",
			is_entry ? "entry" : "exit");
	return false;
}

/* Suggests the fields of the event first: they are the most likely ones. */
static bool name_refuse(const struct typing *t, const struct expr_node *node)
{
	const struct probe *probe = typing__probe(t);
	bool is_side = node->op == OP_MEMBER; /* entry.x, exit.x */
	const struct probe *entry = t->at_entry || is_side ? NULL : t->scope->entry;
	size_t room = probe->nr_fields + (entry ? entry->nr_fields : 0) + NAME_NR_BUILTINS, i;
	const char **names = calloc(room, sizeof(*names));
	char says[80];
	size_t nr = 0;

	if (!names) {
		expr_error__set(t->error, node->at, "out of memory");
		return false;
	}
	nr = name_list_fields(probe, names);
	nr += name_list_fields(entry, names + nr);
	for (i = 0; i < NAME_NR_BUILTINS; i++)
		if (name_is_offered(t, name_builtins[i].op) &&
		    !probe__field(probe, name_builtins[i].name))
			names[nr++] = name_builtins[i].name;
	snprintf(says, sizeof(says), "%s has no field", probe->name);
	expr_error__unknown(t->error, node, is_side ? says : "unknown field", names, nr);
	free(names);
	return false;
}

static bool name_refuse_side(const struct typing *t, const struct expr_node *node)
{
	expr_error__set(t->error, node->at, "%.*s: entry and exit require a pair; write %.*s",
			typing__clip(t, node), typing__text(t, node), (int)node->text_len,
			node->text);
	return false;
}

bool typing__name(struct typing *t, const struct expr_node *node, struct typed *typed)
{
	const struct probe_field *field = typing__field(typing__probe(t), node);
	const struct name_builtin *builtin = name_builtin(node);
	int argument = name_argument(node);

	if (node->op == OP_MEMBER && !t->scope->entry)
		return name_refuse_side(t, node);
	if (field)
		return name_take_field(t, node, field, typed);
	if (builtin)
		return name_take_builtin(t, node, builtin, typed);
	if (argument >= 0)
		return name_take_argument(t, node, (uint32_t)argument, typed);
	if (t->scope->entry && (typing__is_named(node, "entry") || typing__is_named(node, "exit")))
		return name_refuse_side_word(t, node);
	return name_refuse(t, node);
}

struct value *value__of_field(const struct probe *probe, const struct probe_field *field)
{
	struct expr tree = { .source = field->name };
	struct expr_node node = { .op = OP_WORD,
				  .text = field->name,
				  .text_len = strlen(field->name),
				  .len = strlen(field->name) };
	struct value_scope scope = { .probe = probe };
	struct expr_error error;
	struct typing t = { .tree = &tree, .scope = &scope, .error = &error };
	struct typed typed = { 0 };

	if (!name_take_field(&t, &node, field, &typed))
		return NULL;
	return typing__settle(&t, &node, &typed);
}
