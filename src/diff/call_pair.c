/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/call_pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "session/probe_source.h"
#include "session/session.h"

/* ---- reading one ---- */

static int pair_add_duration(struct pair_side *side, const struct call *call)
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

static int pair_on_tree(void *arg, const struct call *root)
{
	static const struct call_limits all;
	struct pair_side *side = arg;
	int err = call_graph__add(side->graph, root, NULL, &all);

	for (const struct call *call = root; !err && call; call = call__next(call, root))
		err = pair_add_duration(side, call);
	return err ? log_no_memory() : 0;
}

static int pair_on_known(void *arg)
{
	struct pair_side *side = arg;

	side->graph = call_graph__new();
	side->samples = calloc(side->trace.nr + 1, sizeof(*side->samples));
	if (!side->graph || !side->samples)
		return log_no_memory();
	return call_trace__start(&side->trace, NULL);
}

static int pair_on_part(void *state, struct session *s, struct capture_part *part)
{
	struct pair_side *side = state;

	return call_trace_reader__follow(&side->reader, s, part);
}

static int pair_on_end(void *state, struct session *s)
{
	struct pair_side *side = state;
	int err = call_trace_reader__check(&side->reader);

	if (session__is_cut(s))
		return log_err(-EINTR, "cannot compare: %s was not read to its end",
			       s->options->file.read.words[0]);
	err = err ?: call_trace__finish(&side->trace);
	s->incomplete |= !err && call_trace__tell_unkept(&side->trace);
	if (err)
		return err;
	err = call_graph__sums(side->graph, &side->sums);
	for (size_t i = 0; !err && i < side->trace.nr; i++)
		if (side->samples[i].lats.place)
			err = sample__settle(&side->samples[i], 0);
	if (err)
		return log_no_memory();
	if (side->reader.has_counts)
		probe_source__tell_hits(s, &side->reader.counts);
	return 0;
}

static struct request *pair_asks(void *state)
{
	return &((struct pair_side *)state)->trace.request;
}

static const struct session_view pair_view = {
	.asks = pair_asks,
	.on_part = pair_on_part,
	.on_end = pair_on_end,
};

static int pair_read(struct pair_side *side, const char *path, const struct options *given,
		     bool *lost)
{
	struct options options = *given;
	const char *paths[] = { path };
	int err;

	options.file.read = (struct option_list){ paths, 1 };
	options.output = (struct output_options){ .path = "/dev/null" };
	side->trace.on_tree = pair_on_tree;
	side->trace.arg = side;
	side->reader.trace = &side->trace;
	side->reader.on_known = pair_on_known;
	side->reader.arg = side;
	log_note("%s:", path);
	err = session__run(&pair_view, side, &options, NULL);
	*lost |= err > 0;
	return err < 0 ? err : 0;
}

/* ---- by function ---- */

static const char *pair_name(const struct pair_side *side, uint32_t function)
{
	return call_trace__probe(&side->trace, function)->func;
}

/* Names get numbers, for fast comparison. */
static int pair_number_names(struct call_pair *d, struct pair_side *side)
{
	side->names = calloc(side->trace.nr + 1, sizeof(*side->names));
	if (!side->names)
		return log_no_memory();
	for (uint32_t i = 0; i < side->trace.nr; i++) {
		const char *name = pair_name(side, i);

		side->names[i] = intern__number(&d->names, name, strlen(name), NULL);
		if (side->names[i] == INTERN_NONE)
			return log_no_memory();
	}
	return 0;
}

static void pair_join_side_functions(struct call_pair *d, int i)
{
	const struct pair_side *side = &d->sides[i];

	for (size_t at = 0; at < side->sums.nr; at++) {
		const struct call_sum *sum = &side->sums.sums[at];
		struct pair_function *f = &d->functions[side->names[sum->function]];

		f->name = pair_name(side, sum->function);
		f->sums[i] = sum;
		f->samples[i] = &side->samples[sum->function];
	}
}

/* Functions that were never called are left out. */
static int pair_join_functions(struct call_pair *d)
{
	d->functions = calloc(d->names.nr + 1, sizeof(*d->functions));
	if (!d->functions)
		return log_no_memory();
	pair_join_side_functions(d, 0);
	pair_join_side_functions(d, 1);
	for (size_t i = 0; i < d->names.nr; i++)
		if (d->functions[i].name)
			d->functions[d->nr_functions++] = d->functions[i];
	return 0;
}

static bool pair_in_both(const struct pair_function *f)
{
	return f->sums[0] && f->sums[1];
}

static int pair_compare(struct call_pair *d)
{
	struct shift_list *list = &d->list;
	size_t at = 0;

	for (size_t i = 0; i < d->nr_functions; i++) {
		const struct pair_function *f = &d->functions[i];
		const size_t first = list->nr;

		if (!pair_in_both(f))
			continue;
		if (shift_list__compare(list, f->samples[0], f->samples[1]))
			return log_no_memory();
		/* Only the mean of each list is shown, and counts. */
		for (size_t j = first; j < list->nr; j++)
			if (list->shifts[j].what == SHIFT_MEAN)
				list->shifts[first] = list->shifts[j];
		list->nr = first + 1;
	}
	shift_list__settle(list);
	for (size_t i = 0; i < d->nr_functions; i++)
		if (pair_in_both(&d->functions[i]))
			d->functions[i].shift = list->shifts[at++];
	return 0;
}

static uint64_t pair_most_ns(const struct pair_function *f)
{
	uint64_t a = f->sums[0] ? f->sums[0]->total_ns : 0;
	uint64_t b = f->sums[1] ? f->sums[1]->total_ns : 0;

	return a > b ? a : b;
}

static int pair_by_time(const void *left, const void *right)
{
	uint64_t a = pair_most_ns(left), b = pair_most_ns(right);

	if (a != b)
		return a < b ? 1 : -1;
	return strcmp(((const struct pair_function *)left)->name,
		      ((const struct pair_function *)right)->name);
}

/* ---- by call path ---- */

static bool pair_is(const void *nodes, uint32_t number, const void *key)
{
	const struct pair_node *node = (const struct pair_node *)nodes + number, *like = key;

	return number && node->parent == like->parent && node->name_nr == like->name_nr;
}

static uint64_t pair_hash(const struct pair_node *node)
{
	return index__mix(0, (uint64_t)node->parent << 32 | node->name_nr);
}

static uint32_t pair_node(struct call_pair *d, uint32_t parent, const struct pair_side *side,
			  uint32_t function)
{
	const struct pair_node node = { .name = pair_name(side, function),
					.name_nr = side->names[function],
					.parent = parent,
					.depth = parent ? d->nodes[parent].depth + 1 : 0 };
	uint32_t at = index__find(&d->index, pair_hash(&node), pair_is, d->nodes, &node);

	if (at == INDEX_NONE) {
		at = index__add(&d->index, pair_hash(&node));
		d->nodes[at] = node;
		d->nr_nodes++;
	}
	return at;
}

/* Parents come first, so a node's parent is already joined. */
static int pair_join_side(struct call_pair *d, int side)
{
	uint32_t nr, *gone;
	const struct call_node *nodes = call_graph__nodes(d->sides[side].graph, &nr);

	gone = calloc(nr + 1, sizeof(*gone));
	if (!gone)
		return log_no_memory();
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t parent = nodes[i].parent == CALL_NODE_NONE ? 0 : gone[nodes[i].parent];

		gone[i] = pair_node(d, parent, &d->sides[side], nodes[i].function);
		d->nodes[gone[i]].nodes[side] = &nodes[i];
	}
	free(gone);
	return 0;
}

static uint64_t pair_node_most_ns(const struct pair_node *n)
{
	uint64_t a = n->nodes[0] ? n->nodes[0]->total_ns : 0;
	uint64_t b = n->nodes[1] ? n->nodes[1]->total_ns : 0;

	return a > b ? a : b;
}

static int pair_node_by_time(const void *left, const void *right)
{
	const struct pair_node *a = *(const struct pair_node *const *)left;
	const struct pair_node *b = *(const struct pair_node *const *)right;
	uint64_t most_a = pair_node_most_ns(a), most_b = pair_node_most_ns(b);

	if (most_a != most_b)
		return most_a < most_b ? -1 : 1;
	return strcmp(b->name, a->name);
}

/* Sorts siblings by time: links them again, the last first. */
static int pair_sort_nodes(struct call_pair *d)
{
	struct pair_node **order = calloc(d->nr_nodes, sizeof(struct pair_node *));

	if (!order)
		return log_no_memory();
	for (uint32_t i = 0; i < d->nr_nodes; i++) {
		order[i] = &d->nodes[i];
		d->nodes[i].first = 0;
	}
	qsort(order + 1, d->nr_nodes - 1, sizeof(struct pair_node *), pair_node_by_time);
	for (uint32_t i = 1; i < d->nr_nodes; i++) {
		struct pair_node *parent = &d->nodes[order[i]->parent];

		order[i]->next = parent->first;
		parent->first = (uint32_t)(order[i] - d->nodes);
	}
	free(order);
	return 0;
}

static int pair_join_graphs(struct call_pair *d)
{
	uint32_t nr[2];
	int err;

	for (int i = 0; i < 2; i++)
		call_graph__nodes(d->sides[i].graph, &nr[i]);
	d->nodes = calloc((size_t)nr[0] + nr[1] + 1, sizeof(*d->nodes));
	if (!d->nodes || index__make_room(&d->index, (size_t)nr[0] + nr[1] + 1))
		return log_no_memory();
	d->nr_nodes = index__add(&d->index, 0) + 1;
	err = pair_join_side(d, 0);
	err = err ?: pair_join_side(d, 1);
	return err ?: pair_sort_nodes(d);
}

/* ---- both ---- */

int call_pair__read(const struct call_pair_wants *wants, struct call_pair **pair, bool *lost)
{
	struct call_pair *d = calloc(1, sizeof(*d));
	int err = d ? 0 : log_no_memory();

	*pair = d;
	for (int i = 0; !err && i < 2; i++)
		err = pair_read(&d->sides[i], wants->files[i].path, wants->options, lost);
	for (int i = 0; !err && i < 2; i++)
		err = pair_number_names(d, &d->sides[i]);
	if (err)
		return err;
	d->is_graph = wants->graph;
	if (d->is_graph)
		return pair_join_graphs(d);
	err = pair_join_functions(d);
	err = err ?: pair_compare(d);
	if (!err)
		qsort(d->functions, d->nr_functions, sizeof(*d->functions), pair_by_time);
	return err;
}

static void pair_free(struct pair_side *side)
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

void call_pair__free(struct call_pair *d)
{
	if (!d)
		return;
	for (int i = 0; i < 2; i++)
		pair_free(&d->sides[i]);
	shift_list__free(&d->list);
	free(d->functions);
	free(d->nodes);
	index__free(&d->index);
	intern__free(&d->names);
	free(d);
}
