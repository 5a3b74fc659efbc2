/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan_layout.c: where does each part of a key, of a record and of a start's note lie? One after
 * the other, each a multiple of 8 bytes; a text as wide as the widest among the events.
 */
#include <errno.h>
#include <string.h>
#include "base/log.h"
#include "probe/lang/plan_inside.h"
#include "wire/probe_maps.h"

int plan_shape__widen(struct value_shape *shape, const struct value_shape *other)
{
	if (shape->is_text != other->is_text || shape->bytes != other->bytes)
		return -EINVAL;
	if (shape->size < other->size)
		shape->size = other->size;
	shape->is_signed |= other->is_signed;
	if (shape->unit != other->unit)
		shape->unit = VALUE_PLAIN;
	return 0;
}

static void layout_name(struct plan_part *part, const struct value *v)
{
	part->text = v->source + v->at;
	part->text_len = v->len;
	part->shape = v->shape;
	if (v->shape.unit == VALUE_USTACK_ID)
		part->shape.size = 16; /* its number, and its process, which gives the names */
}

static bool layout_is_counted(const struct plan *plan, const struct plan_probe *probe)
{
	return !plan->has_ends || probe->is_end;
}

static uint32_t layout_place(struct plan_part *part, uint32_t at)
{
	part->at = at;
	return at + part->shape.size;
}

/* ---- values that a start saves; its ends refer to them by number ---- */

static void layout_settle(const struct plan *plan, struct value *v)
{
	if (!v)
		return;
	layout_settle(plan, v->left);
	layout_settle(plan, v->right);
	layout_settle(plan, v->other);
	if (v->op == VALUE_SAVED && v->number != VALUE_IN_HEAD) {
		v->offset = (uint32_t)sizeof(struct probe_start) + plan->saved[v->number].at;
		v->shape.size = plan->saved[v->number].shape.size;
	} else if (v->op == VALUE_CHOOSE && v->shape.is_text) {
		v->shape.size = v->right->shape.size > v->other->shape.size ? v->right->shape.size
									    : v->other->shape.size;
	}
}

static void layout_settle_probe(const struct plan *plan, struct plan_probe *probe)
{
	layout_settle(plan, probe->condition);
	layout_settle(plan, probe->of);
	for (size_t i = 0; i < PLAN_MAX_PARTS; i++)
		layout_settle(plan, probe->keys[i]);
	for (size_t i = 0; i < probe->nr_shown; i++)
		layout_settle(plan, probe->shown[i].value);
}

static int layout_saved(struct plan *plan)
{
	for (size_t i = 0; i < plan->nr_saved; i++)
		plan->saved_bytes = layout_place(&plan->saved[i], plan->saved_bytes);
	if (plan->saved_bytes > PLAN_MAX_SAVED)
		return log_err(-EINVAL,
			       "the end uses %u bytes of the start, the maximum is %d; shorten its "
			       "texts: str(x, 32)",
			       plan->saved_bytes, PLAN_MAX_SAVED);
	for (size_t i = 0; i < plan->nr_probes; i++)
		layout_settle_probe(plan, &plan->probes[i]);
	return 0;
}

/* ---- keys ---- */

static int layout_refuse_kind(const struct plan *plan, size_t key, const struct plan_probe *probe)
{
	const struct plan_part *part = &plan->keys[key];

	return log_err(-EINVAL, "by: '%.*s' is a %s for %s, but not for the events before it",
		       (int)part->text_len, part->text, part->shape.is_text ? "number" : "text",
		       probe->probe->name);
}

static int layout_widen_keys(struct plan *plan, const struct plan_probe *probe, bool is_first)
{
	for (size_t i = 0; i < plan->nr_keys; i++) {
		if (is_first)
			layout_name(&plan->keys[i], probe->keys[i]);
		else if (plan_shape__widen(&plan->keys[i].shape, &probe->keys[i]->shape))
			return layout_refuse_kind(plan, i, probe);
	}
	return 0;
}

static int layout_keys(struct plan *plan)
{
	bool is_first = true;
	int err = 0;

	for (size_t i = 0; i < plan->nr_probes && !err; i++) {
		if (!layout_is_counted(plan, &plan->probes[i]))
			continue;
		err = layout_widen_keys(plan, &plan->probes[i], is_first);
		is_first = false;
	}
	if (err)
		return err;
	for (size_t i = 0; i < plan->nr_keys; i++)
		plan->key_bytes = layout_place(&plan->keys[i], plan->key_bytes);
	if (plan->key_bytes <= PLAN_MAX_KEY)
		return 0;
	return log_err(-EINVAL,
		       "by: the key is %u bytes, the maximum is %d; shorten its texts: str(x, 32)",
		       plan->key_bytes, PLAN_MAX_KEY);
}

/* ---- the rest ---- */

static int layout_shown(struct plan_probe *probe)
{
	for (size_t i = 0; i < probe->nr_shown; i++) {
		layout_name(&probe->shown[i].part, probe->shown[i].value);
		probe->shown_bytes = layout_place(&probe->shown[i].part, probe->shown_bytes);
	}
	if (probe->shown_bytes <= PLAN_MAX_SHOWN)
		return 0;
	return log_err(-EINVAL,
		       "show: %u bytes for %s, the maximum is %d; show fewer or shorter texts",
		       probe->shown_bytes, probe->probe->name, PLAN_MAX_SHOWN);
}

static void layout_of(struct plan *plan)
{
	bool is_first = true;

	for (size_t i = 0; i < plan->nr_probes; i++) {
		const struct value *of = plan->probes[i].of;

		if (!of)
			continue;
		plan->of_is_signed |= of->shape.is_signed;
		plan->of_type = of->shape.type;
		plan->of_unit =
			is_first || plan->of_unit == of->shape.unit ? of->shape.unit : VALUE_PLAIN;
		plan->is_latency |= of->op == VALUE_LATENCY;
		is_first = false;
	}
}

static bool layout_has_noted(const struct value *v, size_t offset)
{
	return v && ((v->op == VALUE_SAVED && v->number == VALUE_IN_HEAD && v->offset == offset) ||
		     layout_has_noted(v->left, offset));
}

/* Notes where a key or record holds a stack; the start takes it, or the event itself. */
static void layout_stack(struct plan *plan, const struct value *v)
{
	if (v->shape.unit == VALUE_KSTACK_ID)
		plan->kernel_stack = true;
	if (v->shape.unit == VALUE_USTACK_ID)
		plan->user_stack = true;
	plan->start_kernel_stack |= layout_has_noted(v, offsetof(struct probe_start, kernel_stack));
	plan->start_user_stack |= layout_has_noted(v, offsetof(struct probe_start, user_stack));
}

int planning__lay_out(struct planning *p)
{
	struct plan *plan = p->plan;
	int err = layout_saved(plan);

	err = err ? err : layout_keys(plan);
	for (size_t i = 0; i < plan->nr_probes && !err; i++) {
		struct plan_probe *probe = &plan->probes[i];

		err = layout_shown(probe);
		for (size_t j = 0; j < plan->nr_keys && layout_is_counted(plan, probe); j++)
			layout_stack(plan, probe->keys[j]);
		for (size_t j = 0; j < probe->nr_shown; j++)
			layout_stack(plan, probe->shown[j].value);
	}
	layout_of(plan);
	return err;
}
