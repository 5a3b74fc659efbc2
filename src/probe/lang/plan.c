/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.c: what do the words of a line mean, for all its events together? Each text is parsed once
 * and typed for every probe; then parts get their places in keys, records and notes, wide enough
 * for all of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "probe/lang/plan_inside.h"
#include "wire/probe_maps.h"

bool plan__has_buckets(const struct plan *plan)
{
	return plan->action == LINE_HIST || (plan->action == LINE_PAIR && !plan->each);
}

bool plan__has_records(const struct plan *plan)
{
	return plan->action == LINE_PRINT || (plan->action == LINE_PAIR && plan->each);
}

uint32_t plan__row_key_bytes(const struct plan *plan)
{
	if (plan__has_records(plan))
		return 0;
	return plan->key_bytes + (plan__has_buckets(plan) ? 8 : 0);
}

uint32_t plan__start_key_bytes(const struct plan *plan)
{
	return 8 * (uint32_t)plan->nr_on;
}

uint32_t plan__start_bytes(const struct plan *plan)
{
	return (uint32_t)sizeof(struct probe_start) + plan->saved_bytes;
}

uint32_t plan__record_bytes(const struct plan_probe *probe)
{
	return (uint32_t)sizeof(struct probe_record) + probe->shown_bytes;
}

static bool plan_is_alike_list(struct value *const *a, struct value *const *b, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!value__is_same(a[i], b[i]))
			return false;
	return true;
}

static bool plan_shows_alike(const struct plan_probe *a, const struct plan_probe *b)
{
	size_t i;

	if (a->nr_shown != b->nr_shown)
		return false;
	for (i = 0; i < a->nr_shown; i++)
		if (!value__is_same(a->shown[i].value, b->shown[i].value) ||
		    a->shown[i].part.at != b->shown[i].part.at)
			return false;
	return true;
}

bool plan__is_alike(const struct plan_probe *a, const struct plan_probe *b)
{
	return a->probe->kind == b->probe->kind && a->is_end == b->is_end &&
	       value__is_same(a->condition, b->condition) && value__is_same(a->of, b->of) &&
	       value__is_same(a->follows, b->follows) && a->is_birth == b->is_birth &&
	       plan_is_alike_list(a->keys, b->keys, PLAN_MAX_PARTS) &&
	       plan_is_alike_list(a->on, b->on, PLAN_MAX_ON) &&
	       plan_is_alike_list(a->saved, b->saved, PLAN_MAX_PARTS) && plan_shows_alike(a, b);
}

/* ---- what is typed ---- */

int planning__say(const struct planning *p, const struct plan_clause *clause,
		  const struct expr_error *error, const struct probe *probe)
{
	char lines[256];

	expr__point_at(clause->text, error, lines, sizeof(lines));
	if (probe && p->plan->nr_probes > 1)
		return log_err_lines(-EINVAL, lines, "%s: %s: %s", clause->word, probe->name,
				     error->message);
	return log_err_lines(-EINVAL, lines, "%s: %s", clause->word, error->message);
}

static int planning_parse(struct planning *p, struct plan_clause *clause, size_t room)
{
	struct expr_error error = { 0 };

	if (!clause->text)
		return 0;
	if (expr__parse_list(clause->text, clause->trees, room, &clause->nr, &error))
		return planning__say(p, clause, &error, NULL);
	return 0;
}

static int planning_parse_all(struct planning *p)
{
	const struct line *line = p->line;
	int err;

	p->keys = (struct plan_clause){ .word = "by", .text = line->each ? NULL : line->by };
	/* A line for each pair has no rows: what `by` says is shown there. */
	p->shown = line->each ? (struct plan_clause){ .word = "by", .text = line->by }
			      : (struct plan_clause){ .word = "show", .text = line->show };
	p->plan->syscalls = planning__raw_syscalls(p->plan, line);
	if (p->plan->syscalls)
		p->shown.text = p->plan->syscalls;
	p->of = (struct plan_clause){ .word = "of", .text = line->of };
	p->condition = (struct plan_clause){ .word = "if", .text = line->condition };
	err = planning_parse(p, &p->keys, PLAN_MAX_PARTS - 2);
	err = err ? err : planning_parse(p, &p->shown, PLAN_MAX_PARTS - 2);
	err = err ? err : planning_parse(p, &p->of, 1);
	return err ? err : planning_parse(p, &p->condition, 1);
}

static void planning_free(struct planning *p)
{
	struct plan_clause *clauses[] = { &p->keys, &p->shown, &p->of, &p->condition };
	size_t i, j;

	for (i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		for (j = 0; j < clauses[i]->nr; j++)
			expr__free(clauses[i]->trees[j]);
}

/* Whose values a message is about, if there could be a doubt: a pair has one start, one end. */
static const struct probe *planning_doubtful(const struct planning *p, const struct probe *probe)
{
	return p->plan->has_ends && p->plan->nr_probes == 2 ? NULL : probe;
}

int planning__type(struct planning *p, const struct plan_clause *clause, size_t i,
		   const struct value_scope *scope, struct value **value)
{
	struct expr_error error = { 0 };

	p->typed = clause;
	*value = value__make(clause->trees[i], scope, &error);
	return *value ? 0 : planning__say(p, clause, &error, planning_doubtful(p, scope->probe));
}

/* What is added up, and what decides, is a number. */
static int planning_type_number(struct planning *p, const struct plan_clause *clause,
				const struct value_scope *scope, struct value **value)
{
	struct expr_error error = { 0 };
	int err;

	if (!clause->text)
		return 0;
	err = planning__type(p, clause, 0, scope, value);
	if (err || (!(*value)->shape.is_text && !value__is_stack(*value)))
		return err;
	expr_error__set(&error, (*value)->at, "a number is wanted here, and this is %s",
			(*value)->shape.unit == VALUE_HEX ? "an array"
			: (*value)->shape.is_text	  ? "a text"
							  : "a stack");
	return planning__say(p, clause, &error, planning_doubtful(p, scope->probe));
}

static int planning_type_keys(struct planning *p, struct plan_probe *probe,
			      const struct value_scope *scope)
{
	size_t i;
	int err = 0;

	for (i = 0; i < p->keys.nr && !err; i++)
		err = planning__type(p, &p->keys, i, scope, &probe->keys[i]);
	return err;
}

static int planning_type_shown(struct planning *p, struct plan_probe *probe,
			       const struct value_scope *scope)
{
	size_t i;
	int err = 0;

	if (!p->shown.text || !plan__has_records(p->plan))
		return 0;
	probe->shown = calloc(PLAN_MAX_PARTS, sizeof(*probe->shown));
	if (!probe->shown)
		return log_err(-ENOMEM, "out of memory");
	for (i = 0; i < p->shown.nr && !err; i++) {
		err = planning__type(p, &p->shown, i, scope, &probe->shown[i].value);
		probe->nr_shown += !err;
	}
	if (!err && p->plan->syscalls)
		planning__mark_raw_syscalls(probe);
	return err;
}

/* Every field that has a value. */
static int planning_show_fields(struct plan_probe *probe)
{
	const struct probe *event = probe->probe;
	size_t i;

	probe->shown = calloc(event->nr_fields + 2, sizeof(*probe->shown));
	if (!probe->shown)
		return log_err(-ENOMEM, "out of memory");
	for (i = 0; i < event->nr_fields; i++) {
		struct value *value = value__of_field(event, &event->fields[i]);

		if (value)
			probe->shown[probe->nr_shown++].value =
				planning__field_in_words(event, i, value);
	}
	return 0;
}

int planning__type_probe(struct planning *p, struct plan_probe *probe,
			 const struct value_scope *scope)
{
	int err = planning_type_keys(p, probe, scope);

	err = err ? err : planning_type_number(p, &p->of, scope, &probe->of);
	err = err ? err : planning_type_number(p, &p->condition, scope, &probe->condition);
	err = err ? err : planning_type_shown(p, probe, scope);
	if (!err && p->plan->action == LINE_PRINT && !p->shown.text)
		err = planning_show_fields(probe);
	return err;
}

static int planning_type_alone(struct planning *p)
{
	struct plan *plan = p->plan;
	size_t i;
	int err = 0;

	for (i = 0; i < plan->nr_probes && !err; i++) {
		struct value_scope scope = { .probe = plan->probes[i].probe, .number = i };

		err = planning__type_probe(p, &plan->probes[i], &scope);
	}
	return err;
}

/* ---- stacks that an option asks for ---- */

static struct value *planning_stack(enum value_op op)
{
	struct value *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->op = op;
	v->source = op == VALUE_KSTACK ? "kstack" : "ustack";
	v->len = strlen(v->source);
	v->shape = (struct value_shape){
		.is_signed = true,
		.size = 8,
		.unit = op == VALUE_KSTACK ? VALUE_KSTACK_ID : VALUE_USTACK_ID,
	};
	return v;
}

static int planning_add_stack(struct planning *p, struct value *(*make)(enum value_op),
			      enum value_op op)
{
	bool is_record = plan__has_records(p->plan);
	size_t i;

	for (i = 0; i < p->plan->nr_probes; i++) {
		struct plan_probe *probe = &p->plan->probes[i];
		struct value *v;

		if (p->plan->has_ends && !probe->is_end)
			continue;
		if (is_record && !probe->shown)
			probe->shown = calloc(2, sizeof(*probe->shown));
		v = is_record && !probe->shown ? NULL : make(op);
		if (!v)
			return log_err(-ENOMEM, "out of memory");
		if (is_record)
			probe->shown[probe->nr_shown++].value = v;
		else
			probe->keys[p->plan->nr_keys] = v;
	}
	p->plan->nr_keys += !is_record;
	return 0;
}

static int planning_add_stacks(struct planning *p)
{
	struct value *(*make)(enum value_op) =
		p->plan->has_ends ? planning__start_stack : planning_stack;
	bool wants_kernel = p->line->kernel_stack, wants_user = p->line->user_stack;
	int err = 0;

	if (p->line->action == LINE_STACKS && !wants_kernel && !wants_user)
		wants_kernel = true;
	if (wants_kernel)
		err = planning_add_stack(p, make, VALUE_KSTACK);
	if (!err && wants_user)
		err = planning_add_stack(p, make, VALUE_USTACK);
	return err;
}

/* ---- the whole ---- */

void planning__take_options(struct planning *p)
{
	const struct line *line = p->line;
	struct plan *plan = p->plan;

	plan->action = line->action;
	plan->each = line->each;
	plan->buckets = line->buckets;
	plan->linear_from = line->linear_from;
	plan->linear_to = line->linear_to;
	plan->linear_step = line->linear_step;
	plan->pid = line->pid;
	plan->children = line->children;
	plan->cgroup = line->cgroup;
}

static int planning_check_steps(const struct plan *plan)
{
	enum { MOST_STEPS = 65536 };
	uint64_t span = (uint64_t)plan->linear_to - (uint64_t)plan->linear_from;

	if (plan->buckets != BUCKETS_LINEAR)
		return 0;
	if (plan->linear_step < 1 || plan->linear_to <= plan->linear_from)
		return log_err(-EINVAL, "--linear wants FROM:TO:STEP with FROM below TO and a step "
					"above 0, as in 0:64:1");
	if (span / (uint64_t)plan->linear_step > MOST_STEPS)
		return log_err(-EINVAL, "--linear: too many steps: at most %d", MOST_STEPS);
	return 0;
}

static int planning_list_probes(struct planning *p, const struct probe_list *probes,
				const struct probe_list *ends)
{
	size_t nr_ends = ends ? ends->nr : 0, i;
	struct plan *plan = p->plan;

	plan->probes = calloc(probes->nr + nr_ends, sizeof(*plan->probes));
	if (!plan->probes)
		return log_err(-ENOMEM, "out of memory");
	for (i = 0; i < probes->nr; i++)
		plan->probes[plan->nr_probes++].probe = &probes->probes[i];
	for (i = 0; i < nr_ends; i++) {
		plan->probes[plan->nr_probes].is_end = true;
		plan->probes[plan->nr_probes++].probe = &ends->probes[i];
	}
	p->nr_starts = probes->nr;
	plan->has_ends = nr_ends > 0;
	plan->is_same_task = plan->has_ends && plan->action != LINE_PAIR;
	return 0;
}

static int planning_make(struct planning *p, const struct probe_list *probes,
			 const struct probe_list *ends)
{
	int err;

	planning__take_options(p);
	err = planning_check_steps(p->plan);
	err = err ? err : planning_list_probes(p, probes, ends);
	err = err ? err : planning_parse_all(p);
	if (err)
		return err;
	p->plan->nr_keys = p->keys.nr;
	err = p->plan->has_ends ? planning__type_pairs(p) : planning_type_alone(p);
	err = err ? err : planning_add_stacks(p);
	return err ? err : planning__lay_out(p);
}

int plan__make(struct plan *plan, const struct line *line, const struct probe_list *probes,
	       const struct probe_list *ends)
{
	struct planning p = { .plan = plan, .line = line };
	int err;

	memset(plan, 0, sizeof(*plan));
	err = planning_make(&p, probes, ends);
	planning_free(&p);
	if (err)
		plan__free(plan);
	return err;
}

static void plan_free_values(struct value **values, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		value__free(values[i]);
}

static void plan_free_probe(struct plan_probe *probe)
{
	size_t i;

	value__free(probe->condition);
	value__free(probe->follows);
	value__free(probe->of);
	plan_free_values(probe->keys, PLAN_MAX_PARTS);
	plan_free_values(probe->on, PLAN_MAX_ON);
	plan_free_values(probe->saved, PLAN_MAX_PARTS);
	for (i = 0; i < probe->nr_shown; i++)
		value__free(probe->shown[i].value);
	free(probe->shown);
}

void plan__free(struct plan *plan)
{
	size_t i;

	for (i = 0; i < plan->nr_probes; i++)
		plan_free_probe(&plan->probes[i]);
	for (i = 0; i < sizeof(plan->texts) / sizeof(plan->texts[0]); i++)
		free(plan->texts[i]);
	for (i = 0; i < PLAN_MAX_PARTS; i++)
		free(plan->saved_texts[i]);
	for (i = 0; i < plan->nr_call_texts; i++)
		free(plan->call_texts[i]);
	free(plan->call_texts);
	free(plan->syscalls);
	free(plan->probes);
	memset(plan, 0, sizeof(*plan));
}
