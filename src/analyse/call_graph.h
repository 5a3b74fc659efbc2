/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_graph.h: where does the time go, of all calls together? Trees of calls become one: the same
 * function under the same parents is one node, whatever task called it. Costs a search per call.
 * What is not traced is not seen: its time is that of who called it.
 */
#ifndef IOSONAR_ANALYSE_CALL_GRAPH_H
#define IOSONAR_ANALYSE_CALL_GRAPH_H

#include "analyse/calls.h"

#define CALL_NODE_NONE UINT32_MAX

/*
 * A call whose return was not seen is counted, and has no time; calls inside it do, which is not
 * that of whom it is in.
 */
struct call_node {
	const char *name;  /* of a group; NULL: it is a function */
	uint32_t function; /* the caller's number for it */
	uint32_t parent;   /* CALL_NODE_NONE: it is in none */
	uint32_t depth;
	uint64_t count, timed;	    /* calls; of these the return was seen */
	uint64_t total_ns, self_ns; /* self: not inside others that are shown */
	uint64_t min_ns, max_ns;    /* of one; 0 if none is timed */
	uint32_t first_child, next; /* made by call_graph__sort */
};

struct call_graph;

struct call_graph *call_graph__new(void); /* NULL: out of memory */
void call_graph__free(struct call_graph *graph);
/*
 * A tree. group: a name below which it stands, as its task's; NULL: none. limits: what is left out
 * is as if it were not traced. -ENOMEM.
 */
int call_graph__add(struct call_graph *graph, const struct call *root, const char *group,
		    const struct call_limits *limits);

/* Those beside one another by their time, then by count. first: of those that are in none;
 * CALL_NODE_NONE: there are none. -ENOMEM. */
int call_graph__sort(struct call_graph *graph, uint32_t *first);
/* Parents come before those inside them. */
const struct call_node *call_graph__nodes(const struct call_graph *graph, uint32_t *nr);
/* In the order of call_graph__sort: what is inside, then what is beside. */
uint32_t call_graph__next(const struct call_graph *graph, uint32_t node);

/* ---- the same by function, wherever it was called ---- */

struct call_sum {
	uint32_t function;
	uint64_t count, total_ns, self_ns; /* total: one inside itself is in it once */
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
