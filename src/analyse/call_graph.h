/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_graph.h: where does the time go, over all calls? Merges trees of calls into one: the same
 * function under the same parents is one node, whatever task called it. Costs one search per call.
 * Functions that are not traced are not seen: their time counts for their caller.
 */
#ifndef IOSONAR_ANALYSE_CALL_GRAPH_H
#define IOSONAR_ANALYSE_CALL_GRAPH_H

#include "analyse/calls.h"

#define CALL_NODE_NONE UINT32_MAX

/*
 * A call without a seen return is counted but has no time; calls inside it have their time, which
 * is not subtracted from the call around it.
 */
struct call_node {
	const char *name;  /* name of a group; NULL: a function */
	uint32_t function; /* the caller's number for it */
	uint32_t parent;   /* CALL_NODE_NONE: no parent */
	uint32_t depth;
	uint64_t count, timed;	    /* calls; calls with a seen return */
	uint64_t total_ns, self_ns; /* self: outside other shown calls */
	uint64_t min_ns, max_ns;    /* of one call; 0: none is timed */
	uint32_t first_child, next; /* made by call_graph__sort */
};

struct call_graph;

struct call_graph *call_graph__new(void); /* NULL: out of memory */
void call_graph__free(struct call_graph *graph);
/*
 * Adds a tree. group: a name to put it under, e.g. that of its task; NULL: none. limits: calls left
 * out count as if they were not traced. -ENOMEM.
 */
int call_graph__add(struct call_graph *graph, const struct call *root, const char *group,
		    const struct call_limits *limits);

/* Sorts siblings by time, then by count. first: the first node without a parent; CALL_NODE_NONE:
 * the graph is empty. -ENOMEM. */
int call_graph__sort(struct call_graph *graph, uint32_t *first);
/* Parents come before their children. */
const struct call_node *call_graph__nodes(const struct call_graph *graph, uint32_t *nr);
/* The next node in the order of call_graph__sort: children, then siblings. */
uint32_t call_graph__next(const struct call_graph *graph, uint32_t node);

/* ---- sums by function, wherever it was called ---- */

struct call_sum {
	uint32_t function;
	uint64_t count, total_ns, self_ns; /* total: recursion counts once */
};
struct call_edge {
	uint32_t from, to; /* functions */
	uint64_t count, total_ns;
};
struct call_sums {
	struct call_sum *sums; /* by function */
	struct call_edge *edges;
	size_t nr, nr_edges;
};
/* Groups are left out. -ENOMEM. */
int call_graph__sums(const struct call_graph *graph, struct call_sums *sums);
void call_sums__free(struct call_sums *sums);

#endif
