/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/top_troubles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/log.h"
#include "decode/record.h"
#include "session/io_source.h"
#include "session/table.h"
#include "view/latency_rows.h"

static const uint64_t troubles_stuck_ns = 1000000000;
static const double troubles_share = 0.01;	  /* of the time, for looks at the tags */
static const double troubles_stuck_pause_s = 0.9; /* at most, between looks at stuck commands */

#define FIELD(name) offsetof(struct top_trouble, name)
static const struct column trouble_columns[] = {
	{ "time_s", "time", CELL_SECONDS, 5, "end of the interval, in seconds since the start",
	  .at = FIELD(time_s) },
	{ "what", "what", CELL_TEXT, 6, "failed, or stuck: in flight for more than a second",
	  .at = FIELD(what) },
	{ "dev", "dev", CELL_TEXT, 7, "disk, or controller", .at = FIELD(dev) },
	{ "op", "op", CELL_TEXT, 6, "operation", .at = FIELD(op) },
	{ "status", "status", CELL_TEXT, 6,
	  "how the commands ended, in words; of stuck ones the state, as in inflight",
	  .at = FIELD(status) },
	{ "count", "count", CELL_COUNT, 5, "failed: commands since the start; stuck: commands now",
	  .at = FIELD(count) },
	{ "recent", "recent", CELL_COUNT, 5, "failed: commands in the interval; stuck: as count",
	  .at = FIELD(recent) },
	{ "last_s", "last", CELL_SECONDS, 5,
	  "failed: when the last one ended, in seconds since the start; null for stuck",
	  .at = FIELD(last_s) },
	{ "oldest_ns", "oldest", CELL_DURATION, 6,
	  "stuck: age of the oldest command; null for failed", .at = FIELD(oldest_ns) },
	{ 0 },
};
#undef FIELD

const struct object top_trouble_rows = { "trouble", { trouble_columns } };

/* ---- failed commands ---- */

static struct top_trouble *troubles_find_failed(struct top_troubles *t, const struct io_failed *f)
{
	for (size_t i = 0; i < t->nr_failed; i++) {
		struct top_trouble *row = &t->failed[i];

		if (row->status_code == f->status && row->tags.device == f->tags.device &&
		    row->tags.kind == f->tags.kind && row->tags.op == f->tags.op)
			return row;
	}
	return NULL;
}

static void trouble_name(struct top_trouble *row, const struct session *s)
{
	struct io_record record = { .kind = row->tags.kind,
				    .op = row->tags.op,
				    .status = row->status_code,
				    .what = RECORD_END };
	struct words w = words__on(row->status_text, sizeof(row->status_text));
	struct latency_row *label = calloc(1, sizeof(*label));

	if (label && s) {
		latency_row__label(label, s, &row->tags, 1u << BY_DEV | 1u << BY_OP);
		snprintf(row->dev_text, sizeof(row->dev_text), "%s", label->dev ? label->dev : "?");
		snprintf(row->op_text, sizeof(row->op_text), "%s", label->op ? label->op : "?");
	}
	free(label);
	record__status(&w, &record);
	row->status = words__done(&w);
	row->dev = row->dev_text;
	row->op = row->op_text;
}

void top_troubles__add_failed(void *troubles, const struct io_failed *f)
{
	struct top_troubles *t = troubles;
	struct top_trouble *row = troubles_find_failed(t, f);
	uint64_t start_ns = t->session ? t->session->start_ns : 0;
	double last_s = (double)(int64_t)(f->last_ns - start_ns) / 1e9;

	if (!row && t->nr_failed == TOP_TROUBLES)
		return; /* the ledger counts all */
	if (!row) {
		row = &t->failed[t->nr_failed++];
		*row = (struct top_trouble){ .what = "failed",
					     .tags = f->tags,
					     .status_code = f->status,
					     .oldest_ns = CELL_NO_NUMBER };
		trouble_name(row, t->session);
	}
	row->count += f->count;
	row->last_s = last_s > row->last_s ? last_s : row->last_s;
}

/* ---- stuck commands ---- */

/* The first of a kind is the oldest. */
static struct top_trouble *troubles_stuck_row(struct top_troubles *t, const struct inflight_row *r)
{
	struct top_trouble *row;

	for (size_t i = 0; i < t->nr_stuck; i++) {
		row = &t->stuck[i];
		if (!strcmp(row->dev, r->dev) && !strcmp(row->op, r->op) &&
		    !strcmp(row->status, r->state))
			return row;
	}
	if (t->nr_stuck == TOP_TROUBLES)
		return NULL;
	row = &t->stuck[t->nr_stuck++];
	*row = (struct top_trouble){ .what = "stuck", .last_s = NAN, .oldest_ns = r->age_ns };
	snprintf(row->dev_text, sizeof(row->dev_text), "%s", r->dev);
	snprintf(row->op_text, sizeof(row->op_text), "%s", r->op);
	snprintf(row->status_text, sizeof(row->status_text), "%s", r->state);
	row->dev = row->dev_text;
	row->op = row->op_text;
	row->status = row->status_text;
	return row;
}

void top_troubles__add_stuck(struct top_troubles *t, const struct inflight_list *list,
			     char *const *op_names)
{
	struct inflight_row row;

	t->nr_stuck = 0;
	for (size_t i = 0; i < list->nr; i++) {
		struct top_trouble *stuck;

		if (!inflight_command__is_older(&list->commands[i], troubles_stuck_ns))
			continue;
		inflight_row__fill(&row, &list->commands[i], 0, op_names);
		stuck = troubles_stuck_row(t, &row);
		if (stuck)
			stuck->recent = ++stuck->count;
	}
}

/* A look that takes long is not repeated at once, unless something is stuck. */
static int troubles_look_at_tags(struct top_troubles *t)
{
	const double now_s = t->session->elapsed_s;
	uint64_t start_ns = clock__mono_ns();
	double pause_s;
	int err;

	for (size_t i = 0; i < t->nr_stuck; i++)
		t->stuck[i].recent = 0; /* of the last look */
	if (!t->inflight || now_s < t->next_look_s)
		return 0;
	err = inflight__look(t->inflight, &t->list);
	if (err)
		return err;
	top_troubles__add_stuck(t, &t->list, io_source__op_names(t->session));
	pause_s = (double)(clock__mono_ns() - start_ns) / 1e9 / troubles_share;
	if (t->nr_stuck && pause_s > troubles_stuck_pause_s)
		pause_s = troubles_stuck_pause_s;
	t->next_look_s = now_s + pause_s;
	return 0;
}

/* ---- an interval ---- */

static int trouble_compare(const void *left, const void *right)
{
	const struct top_trouble *a = left, *b = right;

	return a->last_s > b->last_s ? -1 : a->last_s < b->last_s;
}

void top_troubles__begin(struct top_troubles *t, double now_s)
{
	for (size_t i = 0; i < t->nr_failed; i++) {
		t->failed[i].before = t->failed[i].count;
		t->failed[i].count = 0;
		t->failed[i].time_s = now_s;
	}
}

/* Texts are in the rows themselves: they move. */
void top_troubles__end(struct top_troubles *t)
{
	if (t->nr_failed)
		qsort(t->failed, t->nr_failed, sizeof(*t->failed), trouble_compare);
	for (size_t i = 0; i < t->nr_failed; i++) {
		struct top_trouble *row = &t->failed[i];

		row->recent = row->count > row->before ? row->count - row->before : 0;
		row->dev = row->dev_text;
		row->op = row->op_text;
		row->status = row->status_text;
	}
}

int top_troubles__look(struct top_troubles *t)
{
	struct session *s = t->session;
	int err;

	if (!s)
		return 0;
	top_troubles__begin(t, s->elapsed_s);
	io__failures(io_source__collector(s), top_troubles__add_failed, t);
	top_troubles__end(t);
	err = troubles_look_at_tags(t);
	for (size_t i = 0; i < t->nr_failed; i++)
		t->failed[i].time_s = s->elapsed_s;
	for (size_t i = 0; i < t->nr_stuck; i++)
		t->stuck[i].time_s = s->elapsed_s;
	return err;
}

const struct top_trouble *top_troubles__nth(const struct top_troubles *t, size_t nth)
{
	if (nth < t->nr_stuck)
		return &t->stuck[nth];
	nth -= t->nr_stuck;
	return nth < t->nr_failed ? &t->failed[nth] : NULL;
}

void top_troubles__print(struct top_troubles *t)
{
	const struct top_trouble *row;

	for (size_t i = 0; t->table && (row = top_troubles__nth(t, i)); i++)
		if (row->recent)
			table__row(t->table, row);
}

int top_troubles__open(struct top_troubles *t, struct session *s)
{
	struct io *io = io_source__collector(s);

	if (!io)
		return 0;
	t->session = s;
	t->table = session__table(s, &top_trouble_rows, NULL, NULL);
	if (!t->table)
		return log_no_memory();
	if (inflight__open(&t->inflight, io)) {
		inflight__free(t->inflight);
		t->inflight = NULL;
	}
	return 0;
}

void top_troubles__free(struct top_troubles *t)
{
	inflight__free(t->inflight);
	inflight_list__free(&t->list);
	table__free(t->table);
	memset(t, 0, sizeof(*t));
}
