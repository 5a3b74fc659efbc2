/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * graph_view.h: all calls added up: one row for each function under the same parents, with count
 * and time, indented in text; or folded lines, a flame graph, a graph of functions for Graphviz.
 * Prints only at the end.
 */
#ifndef IOSONAR_CALLS_GRAPH_VIEW_H
#define IOSONAR_CALLS_GRAPH_VIEW_H

#include "analyse/call_graph.h"
#include "calls/trace.h"
#include "session/session.h"

extern const struct object graph_view_object; /* "graph" */

struct graph_view {
	const struct call_trace *trace;
	struct session *session;
	struct call_limits limits;
	struct call_graph *graph;
};

int graph_view__start(struct graph_view *view, struct session *session,
		      const struct call_trace *trace);
int graph_view__tree(struct graph_view *view, const struct call *root);
int graph_view__end(struct graph_view *view); /* as -o says */
void graph_view__free(struct graph_view *view);

#endif
