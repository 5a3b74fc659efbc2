/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_clause.c: the clauses of a line, for one of its probes: turns their trees into values. Error
 * messages name the clause and the place in its text.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/log.h"
#include "probe/lang/plan_inside.h"

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

/* Names the event in a message if it could be unclear: a pair has one start, one end. */
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

/* Values to add up, and conditions, must be numbers. */
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
	expr_error__set(&error, (*value)->at, "expected a number, but this is %s",
			(*value)->shape.unit == VALUE_HEX ? "an array"
			: (*value)->shape.is_text	  ? "a text"
							  : "a stack");
	return planning__say(p, clause, &error, planning_doubtful(p, scope->probe));
}

static int planning_type_shown(struct planning *p, struct plan_probe *probe,
			       const struct value_scope *scope)
{
	int err = 0;

	if (!p->shown.text || !plan__has_records(p->plan))
		return 0;
	probe->shown = calloc(PLAN_MAX_PARTS, sizeof(*probe->shown));
	if (!probe->shown)
		return log_no_memory();
	for (size_t i = 0; i < p->shown.nr && !err; i++) {
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

	probe->shown = calloc(event->nr_fields + 2, sizeof(*probe->shown));
	if (!probe->shown)
		return log_no_memory();
	for (size_t i = 0; i < event->nr_fields; i++) {
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
	int err = 0;

	for (size_t i = 0; i < p->keys.nr && !err; i++)
		err = planning__type(p, &p->keys, i, scope, &probe->keys[i]);
	err = err ? err : planning_type_number(p, &p->of, scope, &probe->of);
	err = err ? err : planning_type_number(p, &p->condition, scope, &probe->condition);
	err = err ? err : planning_type_shown(p, probe, scope);
	if (!err && p->plan->action == LINE_PRINT && !p->shown.text)
		err = planning_show_fields(probe);
	return err;
}
