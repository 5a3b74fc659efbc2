/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* asprintf */
#include "diff/calls.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/call_graph.h"
#include "base/index.h"
#include "base/log.h"
#include "calls/capture.h"
#include "render/intern.h"
#include "render/path.h"
#include "session/probe_source.h"
#include "session/session.h"

/* One of the two. */
struct called_side {
	struct call_trace trace;
	struct call_trace_reader reader;
	struct call_graph *graph;
	struct call_sums sums;
	struct sample *samples; /* durations, by function; all zeros until it was called */
	uint32_t *names;	/* by function: its name's number, the same in both */
	const struct options *options;
};

/* A function of either, or of both. */
struct called_function {
	const char *name;
	const struct call_sum *sums[2];
	const struct sample *samples[2];
	struct shift shift; /* of the mean */
};

/* A node of either graph, or of both. The first is none of them: those that are in no other are in
 * it. */
struct called_node {
	const char *name;
	uint32_t name_nr;
	uint32_t parent, depth;
	uint32_t first, next; /* inside it, beside it; 0: none */
	const struct call_node *nodes[2];
};

struct diff_called {
	struct called_side sides[2];
	bool is_graph;
	struct intern names;
	struct called_function *functions; /* by name's number */
	size_t nr_functions;
	struct shift_list list;
	struct called_node *nodes;
	uint32_t nr_nodes;
	struct index index; /* of nodes by parent and name */
};

static int called_no_memory(void)
{
	return log_err(-ENOMEM, "out of memory");
}

/* ---- reading one ---- */

static int called_add_duration(struct called_side *side, const struct call *call)
{
	struct sample *sample = &side->samples[call->function];
	int err = 0;

	if (!sample->lats.place)
		err = sample__init(sample, SAMPLE_FINE);
	if (!err && call->end_ns)
		err = sample__add(sample,
				  &(struct sample_io){ .ns = call->end_ns - call->start_ns });
	return err;
}

static int called_add_durations(struct called_side *side, const struct call *root)
{
	int err = 0;

	for (const struct call *call = root; !err && call; call = call__next(call, root))
		err = called_add_duration(side, call);
	return err;
}

static int called_on_tree(void *arg, const struct call *root)
{
	static const struct call_limits all;
	struct called_side *side = arg;
	int err = call_graph__add(side->graph, root, NULL, &all);

	err = err ?: called_add_durations(side, root);
	return err ? called_no_memory() : 0;
}

static int called_on_known(void *arg)
{
	struct called_side *side = arg;

	side->graph = call_graph__new();
	side->samples = calloc(side->trace.nr + 1, sizeof(*side->samples));
	if (!side->graph || !side->samples)
		return called_no_memory();
	return call_trace__start(&side->trace, NULL);
}

static int called_on_part(void *state, struct session *s, struct capture_part *part)
{
	struct called_side *side = state;

	return call_trace_reader__follow(&side->reader, s, part);
}

static int called_settle(struct called_side *side)
{
	int err = call_graph__sums(side->graph, &side->sums);

	for (size_t i = 0; !err && i < side->trace.nr; i++)
		if (side->samples[i].lats.place)
			err = sample__settle(&side->samples[i], 0);
	return err ? called_no_memory() : 0;
}

static int called_on_end(void *state, struct session *s)
{
	struct called_side *side = state;
	int err = call_trace_reader__check(&side->reader);

	if (session__is_cut(s))
		return log_err(-EINTR, "no comparison: %s was not read to its end",
			       s->options->file.read.words[0]);
	err = err ?: call_trace__finish(&side->trace);
	s->incomplete |= !err && call_trace__tell_unkept(&side->trace);
	err = err ?: called_settle(side);
	if (!err && side->reader.has_counts)
		probe_source__tell_hits(s, &side->reader.counts);
	return err;
}

static struct request *called_asks(void *state)
{
	return &((struct called_side *)state)->trace.request;
}

static const struct session_view called_view = {
	.asks = called_asks,
	.on_part = called_on_part,
	.on_end = called_on_end,
};

static int called_read(struct called_side *side, const char *path, const struct options *given,
		       bool *lost)
{
	struct options options = *given;
	const char *paths[] = { path };
	int err;

	options.file.read = (struct option_list){ paths, 1 };
	options.output = (struct output_options){ .path = "/dev/null" };
	side->trace.on_tree = called_on_tree;
	side->trace.arg = side;
	side->reader.trace = &side->trace;
	side->reader.on_known = called_on_known;
	side->reader.arg = side;
	log_note("%s:", path);
	err = session__run(&called_view, side, &options, NULL);
	*lost |= err > 0;
	return err < 0 ? err : 0;
}

/* ---- by function ---- */

static const char *called_name(const struct called_side *side, uint32_t function)
{
	return call_trace__probe(&side->trace, function)->func;
}

/* Names get numbers, so that two of them are compared at once. */
static int called_number_names(struct diff_called *d, struct called_side *side)
{
	side->names = calloc(side->trace.nr + 1, sizeof(*side->names));
	if (!side->names)
		return called_no_memory();
	for (uint32_t i = 0; i < side->trace.nr; i++) {
		const char *name = called_name(side, i);

		side->names[i] = intern__number(&d->names, name, strlen(name), NULL);
		if (side->names[i] == INTERN_NONE)
			return called_no_memory();
	}
	return 0;
}

static void called_join_side_functions(struct diff_called *d, int i)
{
	const struct called_side *side = &d->sides[i];

	for (size_t at = 0; at < side->sums.nr; at++) {
		const struct call_sum *sum = &side->sums.sums[at];
		struct called_function *f = &d->functions[side->names[sum->function]];

		f->name = called_name(side, sum->function);
		f->sums[i] = sum;
		f->samples[i] = &side->samples[sum->function];
	}
}

/* Those that were never called are left out. */
static int called_join_functions(struct diff_called *d)
{
	d->functions = calloc(d->names.nr + 1, sizeof(*d->functions));
	if (!d->functions)
		return called_no_memory();
	called_join_side_functions(d, 0);
	called_join_side_functions(d, 1);
	for (size_t i = 0; i < d->names.nr; i++)
		if (d->functions[i].name)
			d->functions[d->nr_functions++] = d->functions[i];
	return 0;
}

/* Of all that a list has only the mean is shown, and counts. */
static void called_keep_mean(struct shift_list *list, size_t first)
{
	for (size_t i = first; i < list->nr; i++)
		if (list->shifts[i].what == SHIFT_MEAN)
			list->shifts[first] = list->shifts[i];
	list->nr = first + 1;
}

static bool called_in_both(const struct called_function *f)
{
	return f->sums[0] && f->sums[1];
}

static int called_compare(struct diff_called *d)
{
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; !err && i < d->nr_functions; i++) {
		const struct called_function *f = &d->functions[i];
		size_t first = d->list.nr;

		if (!called_in_both(f))
			continue;
		err = shift_list__compare(&d->list, f->samples[0], f->samples[1]);
		if (!err)
			called_keep_mean(&d->list, first);
	}
	if (err)
		return called_no_memory();
	shift_list__settle(&d->list);
	for (size_t i = 0; i < d->nr_functions; i++)
		if (called_in_both(&d->functions[i]))
			d->functions[i].shift = d->list.shifts[at++];
	return 0;
}

static uint64_t called_most_ns(const struct called_function *f)
{
	uint64_t a = f->sums[0] ? f->sums[0]->total_ns : 0;
	uint64_t b = f->sums[1] ? f->sums[1]->total_ns : 0;

	return a > b ? a : b;
}

static int called_by_time(const void *left, const void *right)
{
	uint64_t a = called_most_ns(left), b = called_most_ns(right);

	if (a != b)
		return a < b ? 1 : -1;
	return strcmp(((const struct called_function *)left)->name,
		      ((const struct called_function *)right)->name);
}

/* ---- by the functions around it ---- */

static bool called_is(const void *nodes, uint32_t number, const void *key)
{
	const struct called_node *node = (const struct called_node *)nodes + number, *like = key;

	return number && node->parent == like->parent && node->name_nr == like->name_nr;
}

static uint64_t called_hash(const struct called_node *node)
{
	return index__mix(0, (uint64_t)node->parent << 32 | node->name_nr);
}

static uint32_t called_node(struct diff_called *d, uint32_t parent, const struct called_side *side,
			    uint32_t function)
{
	const struct called_node node = { .name = called_name(side, function),
					  .name_nr = side->names[function],
					  .parent = parent,
					  .depth = parent ? d->nodes[parent].depth + 1 : 0 };
	uint32_t at = index__find(&d->index, called_hash(&node), called_is, d->nodes, &node);

	if (at == INDEX_NONE) {
		at = index__add(&d->index, called_hash(&node));
		d->nodes[at] = node;
		d->nr_nodes++;
	}
	return at;
}

/* Parents come first: where each has gone is known when those inside come. */
static int called_join_side(struct diff_called *d, int side)
{
	uint32_t nr, *gone;
	const struct call_node *nodes = call_graph__nodes(d->sides[side].graph, &nr);

	gone = calloc(nr + 1, sizeof(*gone));
	if (!gone)
		return called_no_memory();
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t parent = nodes[i].parent == CALL_NODE_NONE ? 0 : gone[nodes[i].parent];

		gone[i] = called_node(d, parent, &d->sides[side], nodes[i].function);
		d->nodes[gone[i]].nodes[side] = &nodes[i];
	}
	free(gone);
	return 0;
}

static uint64_t node_most_ns(const struct called_node *n)
{
	uint64_t a = n->nodes[0] ? n->nodes[0]->total_ns : 0;
	uint64_t b = n->nodes[1] ? n->nodes[1]->total_ns : 0;

	return a > b ? a : b;
}

static int node_by_time(const void *left, const void *right)
{
	const struct called_node *a = *(const struct called_node *const *)left;
	const struct called_node *b = *(const struct called_node *const *)right;
	uint64_t most_a = node_most_ns(a), most_b = node_most_ns(b);

	if (most_a != most_b)
		return most_a < most_b ? -1 : 1;
	return strcmp(b->name, a->name);
}

/* Those beside one another by their time: linked anew, the last first. */
static int called_sort_nodes(struct diff_called *d)
{
	struct called_node **order = calloc(d->nr_nodes, sizeof(struct called_node *));

	if (!order)
		return called_no_memory();
	for (uint32_t i = 0; i < d->nr_nodes; i++) {
		order[i] = &d->nodes[i];
		d->nodes[i].first = 0;
	}
	qsort(order + 1, d->nr_nodes - 1, sizeof(struct called_node *), node_by_time);
	for (uint32_t i = 1; i < d->nr_nodes; i++) {
		struct called_node *parent = &d->nodes[order[i]->parent];

		order[i]->next = parent->first;
		parent->first = (uint32_t)(order[i] - d->nodes);
	}
	free(order);
	return 0;
}

static int called_join_graphs(struct diff_called *d)
{
	uint32_t nr[2];
	int err;

	for (int i = 0; i < 2; i++)
		call_graph__nodes(d->sides[i].graph, &nr[i]);
	d->nodes = calloc((size_t)nr[0] + nr[1] + 1, sizeof(*d->nodes));
	if (!d->nodes || index__make_room(&d->index, (size_t)nr[0] + nr[1] + 1))
		return called_no_memory();
	d->nr_nodes = index__add(&d->index, 0) + 1;
	err = called_join_side(d, 0);
	err = err ?: called_join_side(d, 1);
	return err ?: called_sort_nodes(d);
}

/* ---- both ---- */

int diff_calls__read(const struct diff_calls *calls, struct diff_called **called, bool *lost)
{
	struct diff_called *d = calloc(1, sizeof(*d));
	int err = d ? 0 : called_no_memory();

	*called = d;
	for (int i = 0; !err && i < 2; i++)
		err = called_read(&d->sides[i], calls->files[i].path, calls->options, lost);
	for (int i = 0; !err && i < 2; i++)
		err = called_number_names(d, &d->sides[i]);
	if (err)
		return err;
	d->is_graph = calls->graph;
	if (d->is_graph)
		return called_join_graphs(d);
	err = called_join_functions(d);
	err = err ?: called_compare(d);
	if (!err)
		qsort(d->functions, d->nr_functions, sizeof(*d->functions), called_by_time);
	return err;
}

static void called_free(struct called_side *side)
{
	for (size_t i = 0; side->samples && i < side->trace.nr; i++)
		sample__free(&side->samples[i]);
	free(side->samples);
	free(side->names);
	call_sums__free(&side->sums);
	call_graph__free(side->graph);
	call_trace_reader__free(&side->reader);
	call_trace__free(&side->trace);
}

void diff_calls__free(struct diff_called *d)
{
	if (!d)
		return;
	for (int i = 0; i < 2; i++)
		called_free(&d->sides[i]);
	shift_list__free(&d->list);
	free(d->functions);
	free(d->nodes);
	index__free(&d->index);
	intern__free(&d->names);
	free(d);
}

/* ---- rows ---- */

/*
 *    A    B  total A  total B   each A   each B    shift verdict  function
 *    1    1    105ms    812us    105ms    812us   -99.2% too few  vfs_read
 *    1    0   86.2ms        -   86.2ms        -        - only A   page_cache_sync_ra
 */
struct called_row {
	const char *name, *path, *line, *verdict, *shift_words;
	uint64_t depth, count[2], total_ns[2], self_ns[2], mean_ns[2];
	double shift, low, high;
	char words[24];
};

#define ROW(name) offsetof(struct called_row, name)
static const struct column count_columns[] = {
	{ "count_a", "count A", CELL_COUNT, 7, "calls in A", .at = ROW(count[0]) },
	{ "count_b", "count B", CELL_COUNT, 7, "calls in B", .at = ROW(count[1]) },
	{ "total_a_ns", "total A", CELL_DURATION, 7, "from entry to return, of all calls in A",
	  .at = ROW(total_ns[0]) },
	{ "total_b_ns", "total B", CELL_DURATION, 7, "of all in B", .at = ROW(total_ns[1]) },
	{ "self_a_ns", "self A", CELL_DURATION, 7, "of that, outside others that were traced, in A",
	  .at = ROW(self_ns[0]) },
	{ "self_b_ns", "self B", CELL_DURATION, 7, "the same in B", .at = ROW(self_ns[1]) },
	{ "mean_a_ns", "each A", CELL_DURATION, 7, "of one call in A", .at = ROW(mean_ns[0]) },
	{ "mean_b_ns", "each B", CELL_DURATION, 7, "of one call in B", .at = ROW(mean_ns[1]) },
	{ 0 },
};

static const struct column function_columns[] = {
	{ "function", "function", CELL_TEXT, 20, "its name", .at = ROW(name) },
	{ "shift", "shift", CELL_RATE, 7, "mean_b_ns less mean_a_ns, in percent of that",
	  .at = ROW(shift) },
	{ "low", "from", CELL_RATE, 7, "the interval of the shift: from here", .at = ROW(low) },
	{ "high", "to", CELL_RATE, 7, "to here; null: it cannot be judged", .at = ROW(high) },
	{ "verdict", "verdict", CELL_TEXT, 7, "noise, slower, faster, too few, only A, only B",
	  .at = ROW(verdict) },
	{ 0 },
};

static const struct column path_columns[] = {
	{ "depth", "depth", CELL_COUNT, 3, "traced calls that it is in", .at = ROW(depth) },
	{ "function", "function", CELL_TEXT, 20, "its name", .at = ROW(name) },
	{ "path", "path", CELL_TEXT, 20, "the functions that it is in, and itself, with ; between",
	  .at = ROW(path) },
	{ "verdict", "verdict", CELL_TEXT, 7, "only A, only B; null: both have it",
	  .at = ROW(verdict) },
	{ 0 },
};
const struct object diff_function_object = { "function", { function_columns, count_columns } };
const struct object diff_path_object = { "path", { path_columns, count_columns } };

/* In text the name comes last: it is indented, and long. */
static const struct column shift_column = { "shift", "   shift", CELL_TEXT,
					    8,	     "",	 .at = ROW(shift_words) };
static const struct column verdict_column = { "verdict", "verdict", CELL_TEXT,
					      7,	 "",	    .at = ROW(verdict) };
static const struct column line_column = { "call", "function", CELL_TEXT, 20, "", .at = ROW(line) };

static size_t called_text_columns(bool is_graph, const struct column *columns[OBJECT_COLUMNS])
{
	size_t nr = 0;

	for (const struct column *c = count_columns; c->key; c++)
		if (is_graph ? c->at < ROW(mean_ns) : c->at < ROW(self_ns) || c->at >= ROW(mean_ns))
			columns[nr++] = c;
	if (!is_graph)
		columns[nr++] = &shift_column;
	columns[nr++] = &verdict_column;
	columns[nr++] = &line_column;
	return nr;
}

static struct table *called_table(const struct diff_called *d, const struct diff_show *show,
				  const struct column *columns[OBJECT_COLUMNS])
{
	const struct object *object = d->is_graph ? &diff_path_object : &diff_function_object;
	size_t nr = show->format == TABLE_TEXT ? called_text_columns(d->is_graph, columns)
					       : object__columns(object, columns);

	return table__new(show->out, show->format, object->type, columns, nr);
}

static const char *called_verdict(bool in_a, bool in_b)
{
	return !in_b ? "only A" : !in_a ? "only B" : NULL;
}

static void row_put_function(struct table *table, const struct called_function *f)
{
	struct called_row row = {
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
	row.verdict = called_verdict(f->sums[0], f->sums[1]);
	if (!row.verdict) {
		row.shift = f->shift.shift;
		row.low = f->shift.low;
		row.high = f->shift.high;
		row.verdict = diff_view__verdict(&f->shift);
	}
	row.shift_words = diff_view__percent(row.shift, row.words, sizeof(row.words));
	table__row(table, &row);
}

static void row_put_node(const struct called_node *n, struct table *table, const char *line,
			 const char *path)
{
	struct called_row row = { .name = n->name, .line = line, .path = path, .depth = n->depth };

	row.verdict = called_verdict(n->nodes[0], n->nodes[1]);
	for (int i = 0; i < 2; i++) {
		uint64_t timed = n->nodes[i] ? n->nodes[i]->timed : 0;

		row.count[i] = n->nodes[i] ? n->nodes[i]->count : 0;
		row.total_ns[i] = timed ? n->nodes[i]->total_ns : CELL_NO_NUMBER;
		row.self_ns[i] = timed ? n->nodes[i]->self_ns : CELL_NO_NUMBER;
		row.mean_ns[i] = timed ? n->nodes[i]->total_ns / timed : CELL_NO_NUMBER;
	}
	table__row(table, &row);
}

/* In text its name, indented. */
static int called_put_line(const struct called_node *n, struct table *table)
{
	char *line;

	if (asprintf(&line, "%*s%s", 2 * (int)(n->depth < 64 ? n->depth : 64), "", n->name) < 0)
		return -ENOMEM;
	row_put_node(n, table, line, NULL);
	free(line);
	return 0;
}

static int called_put_path(const struct called_node *n, struct table *table, struct path *path)
{
	int err = path__enter(path, n->depth, n->name);

	if (!err)
		row_put_node(n, table, NULL, path->text);
	return err;
}

/* Inside it first, then beside it, then up. 0: that was all. */
static uint32_t node_next(const struct diff_called *d, uint32_t node)
{
	if (d->nodes[node].first)
		return d->nodes[node].first;
	while (node && !d->nodes[node].next)
		node = d->nodes[node].parent;
	return d->nodes[node].next;
}

static int called_put_nodes(const struct diff_called *d, const struct diff_show *show,
			    struct table *table)
{
	struct path path = { 0 };
	int err = 0;

	for (uint32_t i = d->nodes[0].first; !err && i; i = node_next(d, i))
		err = show->format == TABLE_TEXT ? called_put_line(&d->nodes[i], table)
						 : called_put_path(&d->nodes[i], table, &path);
	if (path.cut)
		log_note("%" PRIu64 " paths are deeper than %d functions: they leave out those "
			 "between the first %d and the last",
			 path.cut, PATH_MOST, PATH_MOST);
	path__free(&path);
	return err;
}

int diff_calls__show(const struct diff_called *d, const struct diff_show *show)
{
	const struct column *columns[OBJECT_COLUMNS];
	struct table *table = called_table(d, show, columns);
	int err = table ? 0 : -ENOMEM;

	if (!err && d->is_graph)
		err = called_put_nodes(d, show, table);
	for (size_t i = 0; !err && !d->is_graph && i < d->nr_functions; i++)
		row_put_function(table, &d->functions[i]);
	table__free(table);
	return err ? called_no_memory() : 0;
}
