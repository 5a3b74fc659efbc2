/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/top_tables.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "session/table.h"
#include "view/intervals.h"
#include "view/latency_order.h"

enum { TOP_TOTALS = 40 }; /* rows of the run in text */

static bool tables_show(const void *model, const struct column *column)
{
	return latency_column__is_asked(column, top_model__finest(model)->mask);
}

/* Text is about the whole run, and does not have what was in flight at a moment. */
static bool tables_show_text(const void *model, const struct column *column)
{
	return tables_show(model, column) && strcmp(column->key, "in_flight");
}

int top_tables__parse(struct top_tables *t, struct top_model *m)
{
	int err = row_conditions__parse(&t->conditions, &top_rows, tables_show, m);

	if (err)
		return err;
	err = top_model__filter_all(m, t->conditions.only_if);
	return err ? log_no_memory() : 0;
}

int top_tables__open(struct top_tables *t, const struct session *s, const struct top_model *m)
{
	t->rows = session__table(s, &top_rows,
				 s->format == TABLE_TEXT ? tables_show_text : tables_show, m);
	t->samples = session__table(s, &top_samples, NULL, NULL);
	return t->rows && t->samples ? 0 : log_no_memory();
}

void top_tables__free(struct top_tables *t)
{
	table__free(t->rows);
	table__free(t->samples);
	row_conditions__free(&t->conditions);
}

/* False: --if hides it. */
static bool tables_complete(const struct top_tables *t, struct session *s,
			    const struct top_model *m, struct top_row *row)
{
	row->shown.time_s = s->elapsed_s;
	latency_row__label(&row->shown, s, &row->from->tags, top_model__finest(m)->mask);
	return row_conditions__admit(&t->conditions, s, row);
}

int top_tables__put_interval(struct top_tables *t, struct session *s, struct top_model *m,
			     struct top_sample *sample)
{
	const struct breakdown *finest = top_model__finest(m);
	struct breakdown_row **rows = malloc((finest->nr + 1) * sizeof(*rows));
	struct top_row row;

	if (!rows)
		return log_no_memory();
	for (size_t i = 0; i < finest->nr; i++)
		rows[i] = finest->rows[i];
	qsort(rows, finest->nr, sizeof(*rows), breakdown_row__compare);
	for (size_t i = 0; i < finest->nr; i++) {
		top_model__measure(m, m->nr_keys - 1, rows[i], &row);
		row.shown.span = "interval";
		if ((row.shown.count || row.track->in_flight) && tables_complete(t, s, m, &row))
			table__row(t->rows, &row);
	}
	free(rows);
	sample->shown = m->all;
	sample->shown.span = "interval";
	sample->shown.time_s = s->elapsed_s;
	table__row(t->samples, sample);
	return 0;
}

/* Of the run, or of the last interval. */
struct tables_span {
	struct session *session;
	struct top_model *model;
	bool whole;
	double seconds;
};

static struct top_row tables_measure(const struct tables_span *span,
				     const struct breakdown_row *from)
{
	struct top_row row = { .shown.span = span->whole ? "total" : "interval",
			       .in_flight = CELL_NO_NUMBER,
			       .from = from };
	struct hist *total = &span->model->interval;

	if (span->whole)
		*total = from->total;
	else
		breakdown_row__interval(from, total);
	hist__mend_max(total);
	latency_row__measure(&row.shown, total, span->seconds);
	latency_row__measure_percentiles(&row.shown, total);
	return row;
}

/* Text has the first ones. Returns how many rows there are. */
static size_t tables_put_ranks(struct top_tables *t, const struct tables_span *span,
			       const struct latency_rank *ranks, size_t nr)
{
	size_t shown = 0;

	for (size_t i = 0; i < nr; i++) {
		struct top_row row = tables_measure(span, ranks[i].row);

		if (!tables_complete(t, span->session, span->model, &row))
			continue;
		if (span->session->format == TABLE_JSON || shown < TOP_TOTALS)
			table__row(t->rows, &row);
		shown++;
	}
	return shown;
}

static int tables_put_span(struct top_tables *t, const struct tables_span *span, const char *title)
{
	const struct session *s = span->session;
	const struct breakdown *finest = top_model__finest(span->model);
	struct latency_rank *ranks = malloc((finest->nr + 1) * sizeof(*ranks));
	bool is_text = s->format == TABLE_TEXT;
	size_t nr, shown;

	if (!ranks)
		return log_no_memory();
	nr = latency_ranks__make(finest, span->whole, LATENCY_SORT_COUNT, ranks);
	if (title)
		fprintf(s->out, "%s:\n", title);
	else if (nr)
		intervals__say_whole(s);
	if (title && !nr)
		fprintf(s->out, "no I/O\n");
	shown = tables_put_ranks(t, span, ranks, nr);
	if (is_text && nr && !shown)
		fprintf(s->out, "no row meets the condition\n");
	if (is_text && shown > TOP_TOTALS)
		fprintf(s->out, "and %zu more rows; iosonar latency shows all\n",
			shown - TOP_TOTALS);
	free(ranks);
	return 0;
}

int top_tables__put_window(struct top_tables *t, struct session *s, struct top_model *m,
			   const char *title)
{
	return tables_put_span(t, &(struct tables_span){ s, m, false, m->seconds }, title);
}

int top_tables__put_totals(struct top_tables *t, struct session *s, struct top_model *m)
{
	return tables_put_span(t, &(struct tables_span){ s, m, true, s->span_s }, NULL);
}
