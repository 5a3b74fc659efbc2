/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_pair.c: what does a line mean where two events belong together? Clauses are typed at the
 * ends, `on` at both; values that the ends need from their starts are typed there and get a number,
 * the same for all starts. Functions and their returns are matched by thread and function.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "probe/lang/plan_inside.h"
#include "wire/probe_maps.h"

/* ---- values that starts save ---- */

static bool pair_is_text(const struct plan_part *part, const struct value *v)
{
	return part->text_len == v->len && !memcmp(part->text, v->source + v->at, v->len);
}

static int pair_new_part(struct plan *plan, const struct value *v)
{
	if (plan->nr_saved == PLAN_MAX_PARTS)
		return -E2BIG;
	plan->saved[plan->nr_saved] = (struct plan_part){ .text = v->source + v->at,
							  .text_len = v->len,
							  .shape = v->shape };
	return (int)plan->nr_saved++;
}

/* The same text is the same value, in any clause. Takes the value. */
static int pair_save(void *arg, struct value *value)
{
	struct planning *p = arg;
	struct plan *plan = p->plan;
	int number;
	size_t i;

	for (i = 0; i < plan->nr_saved && !pair_is_text(&plan->saved[i], value); i++)
		;
	number = i < plan->nr_saved ? (int)i : pair_new_part(plan, value);
	if (number < 0 || p->saver->saved[number] ||
	    plan_shape__widen(&plan->saved[number].shape, &value->shape)) {
		if (number >= 0 && !p->saver->saved[number])
			number = -E2BIG;
		value__free(value);
		return number;
	}
	p->saver->saved[number] = value;
	return number;
}

static struct value_scope pair_scope(struct planning *p, size_t start, size_t end)
{
	return (struct value_scope){
		.probe = p->plan->probes[end].probe,
		.number = end,
		.entry = p->plan->probes[start].probe,
		.entry_number = start,
		.save = pair_save,
		.arg = p,
	};
}

/* ---- values that the other starts must save as the first one does ---- */

static int pair_refuse_saved(const struct planning *p, size_t number, const char *text,
			     const struct expr_error *error, const struct probe *start)
{
	const struct plan_clause clause = { .word = "at the start", .text = text };
	struct expr_error misfit;

	if (error) /* some messages name the event by themselves */
		return planning__say(p, &clause, error,
				     strstr(error->message, start->name) ? NULL : start);
	expr_error__set(&misfit, 0, "this is a %s here, but not at the other starts",
			p->plan->saved[number].shape.is_text ? "number" : "text");
	return planning__say(p, &clause, &misfit, start);
}

static int pair_save_at(struct planning *p, size_t number, const struct expr *tree, size_t start)
{
	struct plan_probe *probe = &p->plan->probes[start];
	struct value_scope scope = pair_scope(p, start, p->nr_starts);
	struct expr_error error = { 0 };
	struct value *value = value__make_at_entry(tree, &scope, &error);

	probe->saved[number] = value;
	if (!value)
		return pair_refuse_saved(p, number, tree->source, &error, probe->probe);
	if (plan_shape__widen(&p->plan->saved[number].shape, &value->shape))
		return pair_refuse_saved(p, number, tree->source, NULL, probe->probe);
	return 0;
}

/* The same text, typed at that start. */
static int pair_save_everywhere(struct planning *p, size_t number)
{
	struct plan *plan = p->plan;
	const struct plan_part *part = &plan->saved[number];
	struct expr_error error = { 0 };
	struct expr *tree = NULL;
	int err = 0;

	plan->saved_texts[number] = strndup(part->text, part->text_len);
	if (plan->saved_texts[number])
		tree = expr__parse_tree(plan->saved_texts[number], &error);
	if (!tree)
		return log_no_memory();
	for (size_t start = 0; start < p->nr_starts && !err; start++)
		if (!plan->probes[start].saved[number])
			err = pair_save_at(p, number, tree, start);
	expr__free(tree);
	return err;
}

/* ---- which start belongs to an end ---- */

static bool pair_is_same_function(const struct probe *a, const struct probe *b)
{
	return !strcmp(a->func, b->func) &&
	       (a->path && b->path ? !strcmp(a->path, b->path) : a->path == b->path);
}

static int pair_no_start(const struct plan_probe *end)
{
	return log_err(-EINVAL, "%s is an end without a start", end->probe->name);
}

/* Typed with the first start that it may end; the others save the same values. */
static int pair_type_clauses(struct planning *p, size_t end)
{
	struct plan *plan = p->plan;

	for (size_t i = 0; i < p->nr_starts; i++) {
		struct plan_probe *start = &plan->probes[i];
		struct value_scope scope;

		/* PAIR: any start may; a function's return only ends that function. */
		if (plan->action != LINE_PAIR &&
		    !pair_is_same_function(start->probe, plan->probes[end].probe))
			continue;
		scope = pair_scope(p, i, end);
		p->saver = start;
		return planning__type_probe(p, &plan->probes[end], &scope);
	}
	return pair_no_start(&plan->probes[end]);
}

/* ---- values that both share ---- */

/* One key of `on`: "pid = next_pid" is two texts, "pid" one text twice; `end`: where it ends. */
struct pair_on {
	const char *text[2], *end;
	size_t len[2];
};

static bool pair_is_equal_sign(const char *text, const char *at)
{
	return *at == '=' && at[1] != '=' && at[1] != '~' &&
	       (at == text || !strchr("=!<>", at[-1]));
}

/* Up to a comma or an equal sign outside of quotes and parentheses. */
static const char *pair_on_end(const char *text)
{
	const char *at;
	int depth = 0;
	char quote = 0;

	for (at = text; *at; at++) {
		if (quote)
			quote = *at == quote ? 0 : quote;
		else if (*at == '"' || *at == '\'')
			quote = *at;
		else if (*at == '(')
			depth++;
		else if (*at == ')')
			depth--;
		else if (!depth && (*at == ',' || pair_is_equal_sign(text, at)))
			break;
	}
	return at;
}

static void pair_on_split(const char *text, struct pair_on *on)
{
	const char *end = pair_on_end(text);

	on->text[0] = on->text[1] = text;
	on->len[0] = on->len[1] = (size_t)(end - text);
	if (*end == '=') {
		on->text[1] = end + 1;
		end = pair_on_end(end + 1);
		on->len[1] = (size_t)(end - on->text[1]);
	}
	on->end = end;
}

static int pair_on_refuse(const struct planning *p, const char *at, const char *why,
			  const struct probe *probe)
{
	const struct plan_clause clause = { .word = "on", .text = p->line->on };
	struct expr_error error;

	expr_error__set(&error, (size_t)(at - p->line->on), "%s", why);
	return planning__say(p, &clause, &error, probe);
}

static struct value *pair_on_value(const char *text, const struct value_scope *scope,
				   struct expr_error *error)
{
	struct expr *tree = expr__parse_tree(text, error);
	struct value *value = NULL;

	if (tree && tree->nodes[tree->root].op == OP_EQ)
		expr_error__set(error, tree->nodes[tree->root].op_at,
				"write a single =, as in: on 'pid = next_pid'");
	else if (tree)
		value = value__make(tree, scope, error);
	expr__free(tree);
	return value;
}

static int pair_type_on(struct planning *p, const struct pair_on *on, bool is_end, size_t probe)
{
	struct plan *plan = p->plan;
	struct value_scope scope = { .probe = plan->probes[probe].probe, .number = probe };
	struct expr_error error = { 0 };
	struct value *value = pair_on_value(plan->texts[2 * plan->nr_on + is_end], &scope, &error);

	if (value && (value->shape.is_text || value__is_stack(value))) {
		expr_error__set(&error, value->at,
				"start and end must share a number, as in: on tid");
		value__free(value);
		value = NULL;
	}
	plan->probes[probe].on[plan->nr_on] = value;
	return value ? 0
		     : pair_on_refuse(p, on->text[is_end] + error.at, error.message, scope.probe);
}

static int pair_type_side(struct planning *p, const struct pair_on *on, bool is_end)
{
	struct plan *plan = p->plan;
	char **text = &plan->texts[2 * plan->nr_on + is_end];
	size_t i = is_end ? p->nr_starts : 0, end = is_end ? plan->nr_probes : p->nr_starts;
	int err = 0;

	*text = strndup(on->text[is_end], on->len[is_end]);
	if (!*text)
		return log_no_memory();
	for (; i < end && !err; i++)
		err = pair_type_on(p, on, is_end, i);
	return err;
}

static int pair_type_all_on(struct planning *p)
{
	const char *text = p->line->on;
	struct pair_on on;
	int err = 0;

	while (text && !err) {
		pair_on_split(text, &on);
		if (p->plan->nr_on == PLAN_MAX_ON)
			return pair_on_refuse(p, text, "too many: at most 4", NULL);
		if (*on.end == '=')
			return pair_on_refuse(p, on.end, "use = only once: start = end", NULL);
		err = pair_type_side(p, &on, false);
		err = err ? err : pair_type_side(p, &on, true);
		p->plan->nr_on++;
		text = *on.end ? on.end + 1 : NULL;
	}
	return err;
}

/* ---- functions and their returns ---- */

static struct value *pair_leaf(enum value_op op, uint64_t number)
{
	struct value *v = calloc(1, sizeof(*v));

	if (v) {
		v->op = op;
		v->number = number;
		v->size = 8;
		v->shape.size = 8;
	}
	return v;
}

static struct value *pair_node(enum value_op op, struct value *left, struct value *right,
			       struct value *other)
{
	struct value *v = pair_leaf(op, 0);

	if (!v) {
		value__free(left);
		value__free(right);
		value__free(other);
		return NULL;
	}
	v->left = left;
	v->right = right;
	v->other = other;
	return v;
}

/* The idle tasks of all CPUs are thread 0: there the CPU tells them apart, ~cpu being no thread. */
static struct value *pair_thread(void)
{
	struct value *cpu = pair_node(VALUE_COMPLEMENT, pair_leaf(VALUE_CPU, 0), NULL, NULL);

	return pair_node(VALUE_CHOOSE, pair_leaf(VALUE_TID, 0), pair_leaf(VALUE_TID, 0), cpu);
}

static bool pair_is_whole(const struct value *v)
{
	return v && (v->op != VALUE_CHOOSE || (v->left && v->right && v->other && v->other->left));
}

static int pair_meet_by_thread(struct plan_probe *probe, size_t start)
{
	probe->on[0] = pair_thread();
	probe->on[1] = pair_leaf(VALUE_PROBE, start);
	if (pair_is_whole(probe->on[0]) && probe->on[1])
		return 0;
	return log_no_memory();
}

static int pair_meet_functions(struct planning *p)
{
	struct plan *plan = p->plan;
	size_t i, start;
	int err = 0;

	plan->nr_on = 2;
	for (i = 0; i < plan->nr_probes && !err; i++) {
		for (start = 0; start < p->nr_starts; start++)
			if (pair_is_same_function(plan->probes[start].probe, plan->probes[i].probe))
				break;
		err = start == p->nr_starts ? pair_no_start(&plan->probes[i])
					    : pair_meet_by_thread(&plan->probes[i], start);
	}
	return err;
}

/* ---- the whole ---- */

static int pair_add_latency(struct planning *p, struct plan_probe *end)
{
	if (p->plan->action != LINE_PAIR || p->plan->each)
		return 0;
	end->of = pair_leaf(VALUE_LATENCY, 0);
	if (!end->of)
		return log_no_memory();
	end->of->shape.unit = VALUE_DURATION;
	return 0;
}

int planning__type_pairs(struct planning *p)
{
	struct plan *plan = p->plan;
	int err = plan->action == LINE_PAIR ? pair_type_all_on(p) : pair_meet_functions(p);

	for (size_t i = p->nr_starts; i < plan->nr_probes && !err; i++) {
		err = pair_type_clauses(p, i);
		err = err ? err : pair_add_latency(p, &plan->probes[i]);
	}
	for (size_t i = 0; i < plan->nr_saved && !err; i++)
		err = pair_save_everywhere(p, i);
	return err;
}

/* Where the pair began: the note holds the number of its stack plus 1. */
struct value *planning__start_stack(enum value_op op)
{
	bool is_user = op == VALUE_USTACK;
	struct value *noted = pair_leaf(VALUE_SAVED, VALUE_IN_HEAD);
	struct value *v = pair_node(VALUE_SUB, noted, pair_leaf(VALUE_CONST, 1), NULL);

	if (!noted || !v || !v->right) {
		value__free(v);
		return NULL;
	}
	noted->offset = is_user ? offsetof(struct probe_start, user_stack)
				: offsetof(struct probe_start, kernel_stack);
	noted->size = 4;
	v->shape.is_signed = true;
	v->shape.unit = is_user ? VALUE_USTACK_ID : VALUE_KSTACK_ID;
	v->source = is_user ? "ustack" : "kstack";
	v->len = strlen(v->source);
	return v;
}
