/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* asprintf */
#include "diff/view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "base/log.h"
#include "render/path.h"

/*
 *    A    B  total A  total B   each A   each B    shift verdict  function
 *    1    1    105ms    812us    105ms    812us   -99.2% too few  vfs_read
 *    1    0   86.2ms        -   86.2ms        -        - only A   page_cache_sync_ra
 */
struct call_row {
	const char *name, *path, *line, *verdict, *shift_words;
	uint64_t depth, count[2], total_ns[2], self_ns[2], mean_ns[2];
	double shift, low, high;
	char words[24];
};

#define ROW(name) offsetof(struct call_row, name)
static const struct column count_columns[] = {
	{ "count_a", "count A", CELL_COUNT, 7, "number of calls in A", .at = ROW(count[0]),
	  .drop = 1 },
	{ "count_b", "count B", CELL_COUNT, 7, "number of calls in B", .at = ROW(count[1]),
	  .drop = 2 },
	{ "total_a_ns", "total A", CELL_DURATION, 7,
	  "total time from entry to return of all calls in A", .at = ROW(total_ns[0]), .drop = 5 },
	{ "total_b_ns", "total B", CELL_DURATION, 7,
	  "total time from entry to return of all calls in B", .at = ROW(total_ns[1]), .drop = 6 },
	{ "self_a_ns", "self A", CELL_DURATION, 7,
	  "time of these calls in A, without the traced calls inside them", .at = ROW(self_ns[0]),
	  .drop = 3 },
	{ "self_b_ns", "self B", CELL_DURATION, 7,
	  "time of these calls in B, without the traced calls inside them", .at = ROW(self_ns[1]),
	  .drop = 4 },
	{ "mean_a_ns", "each A", CELL_DURATION, 7, "mean time of a call in A",
	  .at = ROW(mean_ns[0]) },
	{ "mean_b_ns", "each B", CELL_DURATION, 7, "mean time of a call in B",
	  .at = ROW(mean_ns[1]) },
	{ 0 },
};

static const struct column function_columns[] = {
	{ "function", "function", CELL_TEXT, 20, "name of the function", .at = ROW(name) },
	{ "shift", "shift", CELL_RATE, 7,
	  "change from mean_a_ns to mean_b_ns, in percent of mean_a_ns", .at = ROW(shift) },
	{ "low", "from", CELL_RATE, 7,
	  "lower end of the interval of the shift; null: it cannot be judged", .at = ROW(low) },
	{ "high", "to", CELL_RATE, 7,
	  "upper end of the interval of the shift; null: it cannot be judged", .at = ROW(high) },
	{ "verdict", "verdict", CELL_TEXT, 7, "noise, slower, faster, too few, only A, only B",
	  .at = ROW(verdict) },
	{ 0 },
};

static const struct column path_columns[] = {
	{ "depth", "depth", CELL_COUNT, 3, "number of traced calls around it", .at = ROW(depth) },
	{ "function", "function", CELL_TEXT, 20, "name of the function", .at = ROW(name) },
	{ "functions", "functions", CELL_TEXT, 20, "functions around it and the function itself",
	  .at = ROW(path), .form = &form_list },
	{ "verdict", "verdict", CELL_TEXT, 7, "only A, only B; null: in both", .at = ROW(verdict) },
	{ 0 },
};
const struct object diff_function_object = { "function", { function_columns, count_columns } };
const struct object diff_path_object = { "path", { path_columns, count_columns } };

/* In text the name comes last: it is indented, and long. */
static const struct column text_columns[] = {
	{ "shift", "   shift", CELL_TEXT, 8, "", .at = ROW(shift_words) }, /* not for call paths */
	{ "verdict", "verdict", CELL_TEXT, 7, "", .at = ROW(verdict) },
	{ "call", "function", CELL_TEXT, 20, "", .at = ROW(line) },
	{ 0 },
};

static size_t view_text_columns(bool is_graph, const struct column *columns[OBJECT_COLUMNS])
{
	size_t nr = 0;

	for (const struct column *c = count_columns; c->key; c++)
		if (is_graph ? c->at < ROW(mean_ns) : c->at < ROW(self_ns) || c->at >= ROW(mean_ns))
			columns[nr++] = c;
	for (const struct column *c = text_columns + is_graph; c->key; c++)
		columns[nr++] = c;
	return nr;
}

static const char *view_verdict(bool in_a, bool in_b)
{
	return !in_b ? "only A" : !in_a ? "only B" : NULL;
}

static void row_put_function(struct table *table, const struct pair_function *f, table_put_fn put)
{
	struct call_row row = {
		.name = f->name, .line = f->name, .shift = NAN, .low = NAN, .high = NAN
	};

	for (int i = 0; i < 2; i++) {
		double timed = f->samples[i] ? sample__total(f->samples[i], SAMPLE_COUNT) : 0;

		row.count[i] = f->sums[i] ? f->sums[i]->count : 0;
		row.total_ns[i] = timed > 0 ? f->sums[i]->total_ns : CELL_NO_NUMBER;
		row.self_ns[i] = timed > 0 ? f->sums[i]->self_ns : CELL_NO_NUMBER;
		row.mean_ns[i] = CELL_NO_NUMBER;
		if (timed > 0)
			row.mean_ns[i] =
				(uint64_t)(sample__total(f->samples[i], SAMPLE_NS) / timed + 0.5);
	}
	row.verdict = view_verdict(f->sums[0], f->sums[1]);
	if (!row.verdict) {
		row.shift = f->shift.shift;
		row.low = f->shift.low;
		row.high = f->shift.high;
		row.verdict = diff_view__verdict(&f->shift);
	}
	row.shift_words = diff_view__percent(row.shift, row.words, sizeof(row.words));
	put(table, &row);
}

static struct call_row row_of_node(const struct pair_node *n, const char *line, const char *path)
{
	struct call_row row = { .name = n->name, .line = line, .path = path, .depth = n->depth };

	row.verdict = view_verdict(n->nodes[0], n->nodes[1]);
	for (int i = 0; i < 2; i++) {
		uint64_t timed = n->nodes[i] ? n->nodes[i]->timed : 0;

		row.count[i] = n->nodes[i] ? n->nodes[i]->count : 0;
		row.total_ns[i] = timed ? n->nodes[i]->total_ns : CELL_NO_NUMBER;
		row.self_ns[i] = timed ? n->nodes[i]->self_ns : CELL_NO_NUMBER;
		row.mean_ns[i] = timed ? n->nodes[i]->total_ns / timed : CELL_NO_NUMBER;
	}
	return row;
}

/* In text its name, indented. */
static int view_put_line(const struct pair_node *n, struct table *table, table_put_fn put)
{
	struct call_row row;
	char *line;

	if (asprintf(&line, "%*s%s", 2 * (int)(n->depth < 64 ? n->depth : 64), "", n->name) < 0)
		return -ENOMEM;
	row = row_of_node(n, line, NULL);
	put(table, &row);
	free(line);
	return 0;
}

/* First child, then sibling, then up. 0: the end. */
static uint32_t node_next(const struct call_pair *d, uint32_t node)
{
	if (d->nodes[node].first)
		return d->nodes[node].first;
	while (node && !d->nodes[node].next)
		node = d->nodes[node].parent;
	return d->nodes[node].next;
}

static int view_put_lines(const struct call_pair *d, struct table *table, table_put_fn put)
{
	int err = 0;

	for (uint32_t i = d->nodes[0].first; !err && i; i = node_next(d, i))
		err = view_put_line(&d->nodes[i], table, put);
	return err;
}

static int view_put_paths(const struct call_pair *d, struct table *table)
{
	struct path path = { 0 };
	struct call_row row;
	int err = 0;

	for (uint32_t i = d->nodes[0].first; !err && i; i = node_next(d, i)) {
		err = path__enter(&path, d->nodes[i].depth, d->nodes[i].name);
		row = row_of_node(&d->nodes[i], NULL, path.text);
		if (!err)
			table__row(table, &row);
	}
	if (path.cut)
		log_note("%" PRIu64 " paths are deeper than %d functions: only the first %d "
			 "functions and the last are shown",
			 path.cut, PATH_MOST, PATH_MOST);
	path__free(&path);
	return err;
}

static int view_put_functions(const struct call_pair *d, struct table *table, table_put_fn put)
{
	for (size_t i = 0; i < d->nr_functions; i++)
		row_put_function(table, &d->functions[i], put);
	return 0;
}

/* A text has the widths of all its rows from the first one on. */
static int view_put_text(const struct call_pair *d, struct table *table)
{
	int (*put_all)(const struct call_pair *d, struct table *table, table_put_fn put) =
		d->is_graph ? view_put_lines : view_put_functions;
	int err = put_all(d, table, table__fit);

	return err ?: put_all(d, table, table__row);
}

static int view_put_data(const struct call_pair *d, struct table *table)
{
	return d->is_graph ? view_put_paths(d, table) : view_put_functions(d, table, table__row);
}

int call_view__show(const struct call_pair *d, const struct diff_show *show)
{
	const struct object *object = d->is_graph ? &diff_path_object : &diff_function_object;
	const struct column *columns[OBJECT_COLUMNS];
	size_t nr = show->format == TABLE_TEXT ? view_text_columns(d->is_graph, columns)
					       : object__columns(object, columns);
	struct table *table = table__new(show->out, show->format, object->type, columns, nr);
	int err = table ? 0 : -ENOMEM;

	if (!err)
		err = show->format == TABLE_TEXT ? view_put_text(d, table)
						 : view_put_data(d, table);
	table__free(table);
	return err ? log_no_memory() : 0;
}
