/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/hits.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "session/probe_source.h"
#include "session/table.h"
#include "symbol/frames.h"

enum { HIT_WIDEST_PROBE = 40 };

/* ---- columns ---- */

static bool hit_leads(const struct hit_view *v, const struct session *s, const struct column *c)
{
	if (c->at == HIT_AT(HIT_TID))
		return s->format != TABLE_TEXT;
	if (c->at == HIT_AT(HIT_PROBE))
		return s->format != TABLE_TEXT || v->request->plan.nr_probes > v->first + 1;
	if (c->at == HIT_AT(HIT_VALUES))
		return v->in_words;
	return true;
}

/* In text a stack is below its line. */
static size_t hit_pick(const struct hit_view *v, const struct session *s, struct hit_event *e)
{
	size_t nr = 0;

	for (const struct column *c = v->object->parts[0]; c->key; c++)
		if (hit_leads(v, s, c))
			e->picked[nr++] = c->at == HIT_AT(HIT_PROBE) ? &v->probe : c;
	for (size_t i = 0; i < e->nr && !v->in_words; i++)
		if (e->parts[i].shape.unit != VALUE_HIDDEN &&
		    (s->format != TABLE_TEXT || !values__is_stack(&e->parts[i])))
			e->picked[nr++] = &e->columns[i];
	return nr;
}

static int hit_make_columns(struct hit_view *v, size_t i)
{
	const struct plan_probe *p = &v->request->plan.probes[i];
	struct hit_event *e = &v->events[i];

	e->nr = p->nr_shown;
	e->parts = calloc(e->nr + 1, sizeof(*e->parts));
	e->columns = calloc(e->nr + 1, sizeof(*e->columns));
	e->picked = calloc(OBJECT_COLUMNS + e->nr, sizeof(const struct column *));
	if (!e->parts || !e->columns || !e->picked)
		return -ENOMEM;
	for (size_t part = 0; part < e->nr; part++)
		e->parts[part] = p->shown[part].part;
	return values__columns(v->values, e->parts, e->nr, HIT_FIRST, e->columns,
			       v->object->parts[0]);
}

/* Can the values of both events share columns? */
static bool hit_agrees(const struct hit_event *a, const struct hit_event *b)
{
	if (a->nr != b->nr)
		return false;
	for (size_t i = 0; i < a->nr; i++)
		if (a->columns[i].kind != b->columns[i].kind ||
		    a->columns[i].form != b->columns[i].form ||
		    strcmp(a->columns[i].key, b->columns[i].key))
			return false;
	return true;
}

static bool hit_all_agree(const struct hit_view *v)
{
	for (size_t i = v->first; i < v->request->plan.nr_probes; i++)
		if (!hit_agrees(&v->events[v->first], &v->events[i]))
			return false;
	return true;
}

/* JSON names each value; text and CSV have columns, which all events must share. An event that
 * shows all its fields has too many columns for text. */
static bool hit_is_in_words(const struct hit_view *v, const struct session *s)
{
	if (v->request->line.action != LINE_PRINT || s->format == TABLE_JSON)
		return false;
	return !hit_all_agree(v) || (s->format == TABLE_TEXT && !v->request->line.show);
}

static void hit_size_probe(struct hit_view *v)
{
	for (const struct column *c = v->object->parts[0]; c->key; c++)
		if (c->at == HIT_AT(HIT_PROBE))
			v->probe = *c;
	for (size_t i = 0; i < v->request->plan.nr_probes; i++) {
		size_t width = text__width(v->request->plan.probes[i].probe->name);

		if (width > (size_t)v->probe.width && width <= HIT_WIDEST_PROBE)
			v->probe.width = (int)width;
	}
}

int hit_view__start(struct hit_view *v, struct session *s)
{
	const struct plan *plan = &v->request->plan;
	size_t nr = plan->nr_probes;
	struct hit_event *e;
	int err = 0;

	values__start(v->values, probe_source__run(s));
	v->events = calloc(nr, sizeof(*v->events));
	if (!v->events)
		return log_no_memory();
	/* Starts of pairs have no lines, and come first. */
	v->first = 0;
	while (plan->has_ends && !plan->probes[v->first].is_end)
		v->first++;
	hit_size_probe(v);
	for (size_t i = v->first; !err && i < nr; i++)
		err = hit_make_columns(v, i);
	if (!err) {
		v->in_words = hit_is_in_words(v, s);
		v->is_shared = v->in_words || hit_all_agree(v);
	}
	for (size_t i = v->first; !err && i < nr && (i == v->first || !v->is_shared); i++) {
		e = &v->events[i];
		e->table = session__table_new(s, v->object->type, e->picked, hit_pick(v, s, e));
		err = e->table ? 0 : -ENOMEM;
	}
	return err ? log_err(err, "out of memory") : 0;
}

/* ---- one line ---- */

/* Uses its own name, not the column's, which must differ from the leading columns. */
static void hit_put_word(FILE *out, const struct plan_part *part, struct cell cell)
{
	fprintf(out, "%.*s=", (int)part->text_len, part->text);
	if (cell.kind == CELL_TEXT)
		fputs(cell.text, out); /* escaped by the table */
	else if (cell.kind == CELL_SIGNED)
		fprintf(out, "%" PRId64, (int64_t)cell.n);
	else if (cell.kind != CELL_NONE)
		fprintf(out, "%" PRIu64, cell.n);
	else
		fputc('-', out);
}

/* "dev=vda sector=2048 rwbs=R"; below: stacks are shown elsewhere */
static const char *hit_words(struct hit_view *v, const struct hit_event *e, bool below)
{
	const char *gap = "";
	FILE *out;

	free(v->words_text);
	v->words_text = NULL;
	out = open_memstream(&v->words_text, &v->words_size);
	if (!out)
		return NULL;
	for (size_t i = 0; i < e->nr; i++) {
		if ((below && values__is_stack(&e->parts[i])) ||
		    e->parts[i].shape.unit == VALUE_HIDDEN)
			continue;
		fputs(gap, out);
		gap = " ";
		hit_put_word(out, &e->parts[i], column__cell(&e->columns[i], v->slots));
	}
	return fclose(out) ? NULL : v->words_text;
}

static void hit_lead(struct hit_view *v, const struct session *s, const struct probe_record *r)
{
	const struct probe *probe = run__probe(probe_source__run(s), r->probe);
	union value_slot *slots = v->slots;

	memcpy(v->comm, r->comm, sizeof(r->comm));
	slots[HIT_TIME].n = r->ns > s->start_ns ? r->ns - s->start_ns : 0;
	slots[HIT_CPU].n = r->cpu;
	slots[HIT_COMM].text = v->comm;
	slots[HIT_PID].n = r->pid;
	slots[HIT_TID].n = r->tid;
	slots[HIT_PROBE].text = probe ? probe->name : NULL;
	slots[HIT_LATENCY].n = r->latency_ns;
}

void hit_view__line(struct hit_view *v, const struct session *s, const struct probe_record *r,
		    const void *values)
{
	const struct hit_event *e = &v->events[r->probe];

	hit_lead(v, s, r);
	values__whose(v->values, r->pid);
	values__fill(v->values, e->parts, e->nr, values, &v->slots[HIT_FIRST]);
	if (v->in_words)
		v->slots[HIT_VALUES].text = hit_words(v, e, s->format == TABLE_TEXT);
	table__row(v->is_shared ? v->events[v->first].table : e->table, v->slots);
	for (size_t i = 0; s->format == TABLE_TEXT && i < e->nr; i++)
		if (values__is_stack(&e->parts[i]))
			frames__put(s->out, v->slots[HIT_FIRST + i].text);
}

void hit_view__free(struct hit_view *v)
{
	for (size_t i = 0; v->events && i < v->request->plan.nr_probes; i++) {
		free(v->events[i].parts);
		free(v->events[i].columns);
		free(v->events[i].picked);
		table__free(v->events[i].table);
	}
	free(v->events);
	free(v->words_text);
	values__free(v->values);
}
