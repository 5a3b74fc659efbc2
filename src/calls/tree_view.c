/* SPDX-License-Identifier: BSD-2-Clause */
#include "calls/tree_view.h"

#include <errno.h>
#include "base/log.h"

bool tree_view__needs_calls(const struct options *options)
{
	const int format = options->output.format;

	return format == OUTPUT_FOLDED || format == OUTPUT_SVG || format == OUTPUT_CHROME ||
	       format == OUTPUT_HTML;
}

static bool tree_is_graph(const struct tree_view *v, const struct session *s)
{
	const int format = s->options->output.format;

	return format != OUTPUT_CHROME && format != OUTPUT_HTML &&
	       (v->is_graph || format > OUTPUT_CSV);
}

/* ---- Trace Event JSON ---- */

static int tree_put_event(void *arg, const struct call *call, const union value_slot *slots)
{
	struct tree_view *v = arg;
	const struct probe *probe = call_trace__probe(v->calls.trace, call->function);
	const struct chrome_event event = {
		.name = probe->func,
		.category = probe->kind == PROBE_USER ? "user" : "kernel",
		.start_ns = slots[CALL_TIME].n,
		.duration_ns = call->end_ns ? call->end_ns - call->start_ns : CHROME_NO_DURATION,
		.pid = call->pid,
		.tid = call->tid,
		.cpu = call->cpu,
		.comm = call->comm,
		.args = {
			{ "arguments", slots[CALL_ARGUMENTS].text },
			{ "ret", slots[CALL_RET].text },
			{ "object", slots[CALL_OBJECT].text },
			{ "data", slots[CALL_DATA].text },
		},
		.nr_args = 4,
	};

	return chrome__put(v->chrome, &event) ? log_no_memory() : 0;
}

/* ---- the run ---- */

/* The functions of a capture are known later. */
int tree_view__prepare(struct tree_view *v, const struct options *options,
		       const struct call_trace *trace)
{
	if (v->page.source_dir && options->output.format != OUTPUT_HTML)
		return log_err(-EINVAL, "--source requires -o html");
	return options->file.read.nr ? 0 : trace_page__read_source(&v->page, trace);
}

int tree_view__start(struct tree_view *v, struct session *s, struct call_trace *trace)
{
	v->calls.limits = v->graph.limits = v->page.limits = v->limits;
	v->is_page = s->options->output.format == OUTPUT_HTML;
	if (v->is_page)
		return trace_page__start(&v->page, s, trace);
	if (tree_is_graph(v, s))
		return graph_view__start(&v->graph, s, trace);
	if (s->options->output.format == OUTPUT_CHROME) {
		v->calls.on_row = tree_put_event;
		v->calls.arg = v;
		v->chrome = chrome__begin(s->out);
		if (!v->chrome)
			return log_no_memory();
	}
	return calls_view__start(&v->calls, s, trace);
}

int tree_view__tree(struct tree_view *v, const struct call *root)
{
	if (v->is_page)
		return trace_page__tree(&v->page, root);
	return v->graph.graph ? graph_view__tree(&v->graph, root)
			      : calls_view__tree(&v->calls, root);
}

int tree_view__life(struct tree_view *v, const struct life *life, bool is_wanted)
{
	return v->is_page ? trace_page__life(&v->page, life, is_wanted) : 0;
}

int tree_view__end(struct tree_view *v, const struct run_counts *counts)
{
	if (v->is_page)
		return trace_page__end(&v->page, counts);
	if (v->chrome)
		chrome__end(v->chrome);
	return v->graph.graph ? graph_view__end(&v->graph) : 0;
}

void tree_view__free(struct tree_view *v)
{
	chrome__free(v->chrome);
	trace_page__free(&v->page);
	graph_view__free(&v->graph);
	calls_view__free(&v->calls);
}
