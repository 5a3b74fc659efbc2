/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_calls.c: a plan that is not made from a line: a record for each entry and each return of
 * many functions, with their arguments, return values, and members of an object.
 */
#define _GNU_SOURCE
#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "probe/lang/plan_inside.h"

/* Thread 0 exists on every CPU: there the CPU. */
static const char calls_task[] = "tid ? tid : cpu | 1 << 32";

/* Values point into it as long as the plan lives. */
static const char *calls_keep(struct plan *plan, const char *text)
{
	char *copy = strdup(text);

	if (copy)
		plan->call_texts[plan->nr_call_texts++] = copy;
	return copy;
}

static int calls_type(struct planning *p, struct plan_clause *clause,
		      const struct value_scope *scope, struct value **values)
{
	struct expr_error error = { 0 };
	int err = 0;

	if (expr__parse_list(clause->text, clause->trees, PLAN_MAX_PARTS, &clause->nr, &error))
		return planning__say(p, clause, &error, scope->probe);
	for (size_t i = 0; i < clause->nr && !err; i++)
		err = planning__type(p, clause, i, scope, &values[i]);
	for (size_t i = 0; i < clause->nr; i++)
		expr__free(clause->trees[i]);
	return err;
}

static int calls_follow(struct planning *p, struct plan_probe *probe,
			const struct value_scope *scope, const char *follows)
{
	struct plan_clause clause = { .word = "object" };
	struct value *values[PLAN_MAX_PARTS] = { 0 };
	int err;

	clause.text = calls_keep(p->plan, follows ?: calls_task);
	if (!clause.text)
		return log_no_memory();
	err = calls_type(p, &clause, scope, values);
	probe->follows = values[0];
	return err;
}

/* fentry does not provide pointers to functions, nor to pointers (6.12), and one of them would
 * make the kernel refuse it. */
static bool calls_is_refused(const struct type *type)
{
	const struct btf_type *t;

	if (type->kind != TYPE_POINTER || !type->btf)
		return false;
	for (t = btf__type_by_id(type->btf, type->id); t && (btf_is_mod(t) || btf_is_typedef(t));)
		t = btf__type_by_id(type->btf, t->type);
	return t && (btf_is_func_proto(t) || btf_is_ptr(t));
}

/* The arguments at the entry, the result at the return. */
static int calls_show_fields(struct plan_probe *probe)
{
	const struct probe *event = probe->probe;
	const bool is_return = event->kind == PROBE_RET || event->kind == PROBE_USERRET;

	probe->shown = calloc(event->nr_fields + PLAN_MAX_PARTS, sizeof(*probe->shown));
	if (!probe->shown)
		return log_no_memory();
	for (size_t i = 0; i < event->nr_fields; i++) {
		const struct probe_field *field = &event->fields[i];
		struct value *value = NULL;

		if ((field->place == PLACE_RET) == is_return && !calls_is_refused(&field->type))
			value = value__of_field(event, field);
		if (value)
			probe->shown[probe->nr_shown++].value = value;
	}
	return 0;
}

/* Members of what an argument or the result points to. */
static void calls_move_behind(struct value *v, uint32_t bytes)
{
	if (!v)
		return;
	if ((v->op == VALUE_LOAD || v->op == VALUE_CHARS) && v->left &&
	    (v->left->op == VALUE_ARG || v->left->op == VALUE_RET)) {
		v->offset += bytes;
		v->is_member &= !bytes;
	}
	calls_move_behind(v->left, bytes);
}

static int calls_show(struct planning *p, struct plan_probe *probe, const struct value_scope *scope,
		      const struct plan_call *call)
{
	struct plan_clause clause = { .word = "fields" };
	struct value *values[PLAN_MAX_PARTS] = { 0 };
	int err = calls_show_fields(probe);

	if (err || !call->shown)
		return err;
	clause.text = calls_keep(p->plan, call->shown);
	if (!clause.text)
		return log_no_memory();
	err = calls_type(p, &clause, scope, values);
	for (size_t i = 0; i < PLAN_MAX_PARTS && values[i]; i++) {
		calls_move_behind(values[i], call->behind_bytes);
		probe->shown[probe->nr_shown++].value = values[i];
	}
	return err;
}

static int calls_plan(struct planning *p, size_t i, const struct plan_call *call)
{
	const struct value_scope scope = { .probe = call->probe, .number = i };
	struct plan_probe *probe = &p->plan->probes[i];
	int err;

	probe->probe = call->probe;
	probe->is_birth = call->is_birth;
	err = calls_follow(p, probe, &scope, call->follows);
	return err ?: calls_show(p, probe, &scope, call);
}

int plan__make_calls(struct plan *plan, const struct line *tasks, const struct plan_call *calls,
		     size_t nr)
{
	struct planning p = { .plan = plan, .line = tasks };
	int err = 0;

	memset(plan, 0, sizeof(*plan));
	planning__take_options(&p);
	plan->action = LINE_PRINT;
	plan->is_calls = true;
	plan->nr_probes = nr;
	plan->probes = calloc(nr, sizeof(*plan->probes));
	plan->call_texts = calloc(2 * nr, sizeof(*plan->call_texts));
	if (!plan->probes || !plan->call_texts)
		err = log_no_memory();
	for (size_t i = 0; !err && i < nr; i++)
		err = calls_plan(&p, i, &calls[i]);
	err = err ?: planning__lay_out(&p);
	if (err) {
		plan->nr_probes = plan->probes ? nr : 0;
		plan__free(plan);
	}
	return err;
}
