/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tree_view.h: shows nested calls: one row each, added up (--graph, -o folded, svg and dot), as
 * Trace Event JSON (-o chrome), or as a page (-o html). Shared by `calls` and `class --calls`.
 */
#ifndef IOSONAR_CALLS_TREE_VIEW_H
#define IOSONAR_CALLS_TREE_VIEW_H

#include "calls/calls_view.h"
#include "calls/graph_view.h"
#include "calls/page.h"
#include "render/chrome.h"

/* Does the format show calls, whatever the other options are? */
bool tree_view__needs_calls(const struct options *options);

struct tree_view {
	/* given */
	struct call_limits limits;
	bool is_graph;
	/* made */
	struct calls_view calls;
	struct graph_view graph;
	struct chrome *chrome;
	struct trace_page page; /* source_dir and command are set by the caller */
	bool is_page;
};

/* --source: call before anything is attached or opened. 0 or a negative errno, said. */
int tree_view__prepare(struct tree_view *view, const struct options *options,
		       const struct call_trace *trace);
int tree_view__start(struct tree_view *view, struct session *session, struct call_trace *trace);
int tree_view__tree(struct tree_view *view, const struct call *root);
/* Adds a dead object to the page. */
int tree_view__life(struct tree_view *view, const struct life *life, bool is_wanted);
int tree_view__end(struct tree_view *view, const struct run_counts *counts); /* NULL: not known */
void tree_view__free(struct tree_view *view);				     /* all zeros, too */

#endif
