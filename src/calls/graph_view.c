/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* asprintf */
#include "calls/graph_view.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "render/dot.h"
#include "render/flame.h"
#include "render/path.h"

/*
 *   count    total     self      avg      min      max share% call
 *       2   1.21ms   12.0us    605us    310us    900us  100.0 vfs_read
 *       2   1.20ms   1.05ms    600us    305us    895us   99.2   ext4_file_read_iter
 */
struct graph_row {
	uint64_t depth, count, total_ns, self_ns, avg_ns, min_ns, max_ns;
	double share;
	const char *function, *path, *line;
};

#define GRAPH(name) offsetof(struct graph_row, name)
static const struct column graph_columns[] = {
	{ "depth", "depth", CELL_COUNT, 3, "number of traced calls around it; not in text",
	  .at = GRAPH(depth), .not_in_text = true },
	{ "count", "count", CELL_COUNT, 7, "number of calls", .at = GRAPH(count) },
	{ "total_ns", "total", CELL_DURATION, 8, "total time from entry to return",
	  .at = GRAPH(total_ns) },
	{ "self_ns", "self", CELL_DURATION, 8,
	  "part of the total outside the calls shown inside it", .at = GRAPH(self_ns), .drop = 5 },
	{ "avg_ns", "avg", CELL_DURATION, 8, "average time of a call, where the return was seen",
	  .at = GRAPH(avg_ns), .drop = 3 },
	{ "min_ns", "min", CELL_DURATION, 8, "minimum time of a call", .at = GRAPH(min_ns),
	  .drop = 1 },
	{ "max_ns", "max", CELL_DURATION, 8, "maximum time of a call", .at = GRAPH(max_ns),
	  .drop = 2 },
	{ "share", "share%", CELL_PERCENT, 6,
	  "total, as a percentage of the time of all outermost calls", .at = GRAPH(share),
	  .drop = 4 },
	{ "function", "function", CELL_TEXT, 20, "name of the function; not in text",
	  .at = GRAPH(function), .not_in_text = true },
	{ "functions", "functions", CELL_TEXT, 20,
	  "functions from the outermost to this one; not in text", .at = GRAPH(path),
	  .not_in_text = true, .form = &form_list },
	{ "call", "call", CELL_TEXT, 20, "name of the function, indented by depth; in text only",
	  .at = GRAPH(line), .only_in_text = true },
	{ 0 },
};
const struct object graph_view_object = { "graph", { graph_columns } };

static const char *graph_name(const struct graph_view *v, const struct call_node *node)
{
	return node->name ? node->name : call_trace__probe(v->trace, node->function)->func;
}

/* ---- rows ---- */

static struct graph_row graph_row(const struct call_node *node, uint64_t all_ns)
{
	const bool is_timed = node->timed > 0;

	return (struct graph_row){
		.depth = node->depth,
		.count = node->count,
		.total_ns = is_timed ? node->total_ns : CELL_NO_NUMBER,
		.self_ns = is_timed ? node->self_ns : CELL_NO_NUMBER,
		.avg_ns = is_timed ? node->total_ns / node->timed : CELL_NO_NUMBER,
		.min_ns = is_timed ? node->min_ns : CELL_NO_NUMBER,
		.max_ns = is_timed ? node->max_ns : CELL_NO_NUMBER,
		.share = all_ns ? 100.0 * (double)node->total_ns / (double)all_ns : 0,
	};
}

static uint64_t graph_all_ns(const struct graph_view *v)
{
	uint64_t all_ns = 0;
	uint32_t nr;
	const struct call_node *nodes = call_graph__nodes(v->graph, &nr);

	for (uint32_t i = 0; i < nr; i++)
		if (nodes[i].parent == CALL_NODE_NONE)
			all_ns += nodes[i].total_ns;
	return all_ns;
}

/* In text a name, indented. */
static int graph_show_line(struct table *table, struct graph_row *row, table_put_fn put)
{
	char *line;

	if (asprintf(&line, "%*s%s", 2 * (int)(row->depth < 64 ? row->depth : 64), "",
		     row->function) < 0)
		return -ENOMEM;
	row->line = line;
	put(table, row);
	free(line);
	return 0;
}

static int graph_show_nodes(const struct graph_view *v, struct table *table, struct path *path,
			    table_put_fn put)
{
	const uint64_t all_ns = graph_all_ns(v);
	uint32_t nr, node;
	const struct call_node *nodes = call_graph__nodes(v->graph, &nr);
	int err = call_graph__sort(v->graph, &node);

	for (; !err && node != CALL_NODE_NONE; node = call_graph__next(v->graph, node)) {
		struct graph_row row = graph_row(&nodes[node], all_ns);

		row.function = graph_name(v, &nodes[node]);
		if (v->session->format == TABLE_TEXT) {
			err = graph_show_line(table, &row, put);
			continue;
		}
		err = path__enter(path, (uint32_t)row.depth, row.function);
		row.path = path->text;
		if (!err)
			put(table, &row);
	}
	return err;
}

static int graph_show(const struct graph_view *v)
{
	const struct session *s = v->session;
	struct path path = { 0 };
	struct table *table = table__of(s->out, s->format, &graph_view_object, NULL, NULL);
	int err = table ? 0 : -ENOMEM;

	if (!err && s->format == TABLE_TEXT)
		err = graph_show_nodes(v, table, &path, table__fit);
	err = err ?: graph_show_nodes(v, table, &path, table__row);
	if (path.cut)
		log_note("%" PRIu64 " paths are deeper than %d functions: they show the first %d "
			 "and the last one",
			 path.cut, PATH_MOST, PATH_MOST);
	path__free(&path);
	table__free(table);
	return err;
}

/* ---- folded lines and the flame graph ---- */

static enum flame_kind graph_kind(const struct graph_view *v, const struct call_node *node)
{
	if (node->name)
		return FLAME_COMM;
	return call_trace__probe(v->trace, node->function)->kind == PROBE_USER ? FLAME_USER
									       : FLAME_KERNEL;
}

/* The tree of a graph as frames. A node without time, in itself and inside it, is not a frame. */
struct graph_flame {
	struct flame *flame;
	const struct call_node *nodes;
	uint32_t nr;
	bool *has_time;	  /* by node: it, or a node inside it, has time */
	uint32_t *frames; /* by node */
	uint64_t deep;	  /* nodes below the depth limit, added to the last node above it */
};

static void flame_note_times(struct graph_flame *f)
{
	for (uint32_t i = f->nr; i-- > 0;) {
		f->has_time[i] |= f->nodes[i].self_ns > 0;
		if (f->has_time[i] && f->nodes[i].parent != CALL_NODE_NONE)
			f->has_time[f->nodes[i].parent] = true;
	}
}

/* Parents come first, so the frame below is known. */
static int flame_add_node(const struct graph_view *v, struct graph_flame *f, uint32_t i)
{
	const struct call_node *node = &f->nodes[i];
	const struct flame_frame frame = { graph_name(v, node), graph_kind(v, node) };
	const uint32_t below =
		node->parent == CALL_NODE_NONE ? FLAME_ROOT : f->frames[node->parent];

	if (!f->has_time[i])
		return 0;
	f->deep += node->depth > PATH_MOST;
	f->frames[i] = node->depth > PATH_MOST ? below : flame__enter(f->flame, below, &frame);
	if (f->frames[i] == FLAME_NOBODY)
		return -ENOMEM;
	return flame__add_to(f->flame, f->frames[i], node->name ? 0 : node->self_ns);
}

/* A group has no time of its own. */
static int graph_fill_flame(const struct graph_view *v, struct flame *flame)
{
	struct graph_flame f = { .flame = flame, .nodes = call_graph__nodes(v->graph, &f.nr) };
	int err = 0;

	f.has_time = calloc((size_t)f.nr + 1, sizeof(*f.has_time));
	f.frames = calloc((size_t)f.nr + 1, sizeof(*f.frames));
	if (!f.has_time || !f.frames)
		err = -ENOMEM;
	else
		flame_note_times(&f);
	for (uint32_t i = 0; !err && i < f.nr; i++)
		err = flame_add_node(v, &f, i);
	if (f.deep)
		log_note("%" PRIu64 " paths are deeper than %d functions: their time is added to "
			 "the function at that depth",
			 f.deep, PATH_MOST);
	free(f.has_time);
	free(f.frames);
	return err;
}

static int graph_write_svg(const struct graph_view *v, struct flame *flame)
{
	char note[96], total[32];
	const struct flame_style style = { .title = "Time in calls, by task",
					   .note = note,
					   .value = CELL_DURATION };
	struct flame_drawn drawn;
	int err;

	snprintf(note, sizeof(note), "%s in %.1f s",
		 text__duration(total, sizeof(total), flame__total(flame)), v->session->span_s);
	err = flame__write_svg(flame, &style, v->session->out, &drawn);
	if (!err && drawn.left_out)
		log_note("%" PRIu64 " calls are too narrow to draw and were left out",
			 drawn.left_out);
	return err;
}

static int graph_write_flame(const struct graph_view *v)
{
	uint32_t nr;
	struct flame *flame = flame__new();
	int err = flame ? graph_fill_flame(v, flame) : -ENOMEM;

	call_graph__nodes(v->graph, &nr);
	if (!err && nr && !flame__total(flame))
		log_note("nothing to draw: no returns were seen, so no call has a duration");
	if (!err)
		err = v->session->options->output.format == OUTPUT_SVG
			      ? graph_write_svg(v, flame)
			      : flame__write_folded(flame, v->session->out);
	flame__free(flame);
	return err;
}

/* ---- Graphviz ---- */

static void graph_put_node(const struct graph_view *v, const struct call_sum *sum)
{
	char count[32], times[64], total[32], self[32];
	const struct dot_label label = {
		.lines = { call_trace__probe(v->trace, sum->function)->func, count, times },
		.nr = sum->total_ns ? 3 : 2,
	};

	snprintf(count, sizeof(count), "%" PRIu64 " calls", sum->count);
	snprintf(times, sizeof(times), "%s, self %s",
		 text__duration(total, sizeof(total), sum->total_ns),
		 text__duration(self, sizeof(self), sum->self_ns));
	dot__node(v->session->out, sum->function, &label);
}

static void graph_put_edge(const struct graph_view *v, const struct call_edge *edge)
{
	char count[32];
	const struct dot_label label = { .lines = { count }, .nr = 1 };

	snprintf(count, sizeof(count), "%" PRIu64, edge->count);
	dot__edge(v->session->out, edge->from, edge->to, &label);
}

static int graph_write_dot(const struct graph_view *v)
{
	struct call_sums sums;
	int err = call_graph__sums(v->graph, &sums);

	if (err)
		return err;
	dot__begin(v->session->out, "calls");
	for (size_t i = 0; i < sums.nr; i++)
		graph_put_node(v, &sums.sums[i]);
	for (size_t i = 0; i < sums.nr_edges; i++)
		graph_put_edge(v, &sums.edges[i]);
	dot__end(v->session->out);
	call_sums__free(&sums);
	return 0;
}

/* ---- the run ---- */

static bool graph_is_by_task(const struct graph_view *v)
{
	const int format = v->session->options->output.format;

	return format == OUTPUT_FOLDED || format == OUTPUT_SVG;
}

int graph_view__start(struct graph_view *v, struct session *s, const struct call_trace *trace)
{
	v->session = s;
	v->trace = trace;
	v->graph = call_graph__new();
	return v->graph ? 0 : log_no_memory();
}

int graph_view__tree(struct graph_view *v, const struct call *root)
{
	const char *group = graph_is_by_task(v) ? root->comm : NULL;

	return call_graph__add(v->graph, root, group, &v->limits) ? log_no_memory() : 0;
}

int graph_view__end(struct graph_view *v)
{
	int err = graph_is_by_task(v)				     ? graph_write_flame(v)
		  : v->session->options->output.format == OUTPUT_DOT ? graph_write_dot(v)
								     : graph_show(v);

	return err ? log_err(err, "cannot show the calls: %s", strerror(-err)) : 0;
}

void graph_view__free(struct graph_view *v)
{
	call_graph__free(v->graph);
}
