/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.c: what do the words of a line mean, for all its events together? Each text is parsed once
 * and typed for every probe; then parts get their places in keys, records and notes, wide enough
 * for all probes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "probe/lang/plan_inside.h"
#include "wire/probe_maps.h"

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
	for (size_t i = 0; i < nr; i++)
		if (!value__is_same(a[i], b[i]))
			return false;
	return true;
}

static bool plan_shows_alike(const struct plan_probe *a, const struct plan_probe *b)
{
	if (a->nr_shown != b->nr_shown)
		return false;
	for (size_t i = 0; i < a->nr_shown; i++)
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

/* ---- typing ---- */

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
	/* A line per pair has no rows: the keys of `by` are shown in that line. */
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

	for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]); i++)
		for (size_t j = 0; j < clauses[i]->nr; j++)
			expr__free(clauses[i]->trees[j]);
}

static int planning_type_alone(struct planning *p)
{
	struct plan *plan = p->plan;
	int err = 0;

	for (size_t i = 0; i < plan->nr_probes && !err; i++) {
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

	for (size_t i = 0; i < p->plan->nr_probes; i++) {
		struct plan_probe *probe = &p->plan->probes[i];
		struct value *v;

		if (p->plan->has_ends && !probe->is_end)
			continue;
		if (is_record && !probe->shown)
			probe->shown = calloc(2, sizeof(*probe->shown));
		v = is_record && !probe->shown ? NULL : make(op);
		if (!v)
			return log_no_memory();
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

/* ---- the whole plan ---- */

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
		return log_err(-EINVAL, "--linear requires FROM:TO:STEP with FROM below TO and a "
					"step above 0, as in 0:64:1");
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
		return log_no_memory();
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
	for (size_t i = 0; i < nr; i++)
		value__free(values[i]);
}

static void plan_free_probe(struct plan_probe *probe)
{
	value__free(probe->condition);
	value__free(probe->follows);
	value__free(probe->of);
	plan_free_values(probe->keys, PLAN_MAX_PARTS);
	plan_free_values(probe->on, PLAN_MAX_ON);
	plan_free_values(probe->saved, PLAN_MAX_PARTS);
	for (size_t i = 0; i < probe->nr_shown; i++)
		value__free(probe->shown[i].value);
	free(probe->shown);
}

void plan__free(struct plan *plan)
{
	for (size_t i = 0; i < plan->nr_probes; i++)
		plan_free_probe(&plan->probes[i]);
	for (size_t i = 0; i < sizeof(plan->texts) / sizeof(plan->texts[0]); i++)
		free(plan->texts[i]);
	for (size_t i = 0; i < PLAN_MAX_PARTS; i++)
		free(plan->saved_texts[i]);
	for (size_t i = 0; i < plan->nr_call_texts; i++)
		free(plan->call_texts[i]);
	free(plan->call_texts);
	free(plan->syscalls);
	free(plan->probes);
	memset(plan, 0, sizeof(*plan));
}

bool plan__has_comm(const struct plan *plan)
{
	bool has = plan__has_records(plan) || plan->has_ends;

	for (size_t i = 0; i < plan->nr_probes && !has; i++) {
		const struct plan_probe *probe = &plan->probes[i];

		has = value__has(probe->condition, VALUE_COMM);
		for (size_t k = 0; k < plan->nr_keys && !has; k++)
			has = value__has(probe->keys[k], VALUE_COMM);
	}
	return has;
}
