/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_pair.h: two traces of calls, joined: which functions, how often, how long; by function or by
 * call path. Functions match by name: kernels may differ. The time of a function is unknown if its
 * return was not traced.
 */
#ifndef IOSONAR_DIFF_CALL_PAIR_H
#define IOSONAR_DIFF_CALL_PAIR_H

#include "analyse/call_graph.h"
#include "analyse/shift.h"
#include "base/index.h"
#include "calls/capture.h"
#include "diff/diff.h"
#include "render/intern.h"

/* One of the two traces. */
struct pair_side {
	struct call_trace trace;
	struct call_trace_reader reader;
	struct call_graph *graph;
	struct call_sums sums;
	struct sample *samples; /* durations, by function; all zeros before its first call */
	uint32_t *names;	/* by function: number of its name, the same in both */
	const struct options *options;
};

/* A function of either, or of both. */
struct pair_function {
	const char *name;
	const struct call_sum *sums[2];
	const struct sample *samples[2];
	struct shift shift; /* of the mean */
};

/* A node of one graph or of both. The first node is the root, the parent of outermost functions. */
struct pair_node {
	const char *name;
	uint32_t name_nr;
	uint32_t parent, depth;
	uint32_t first, next; /* first child, next sibling, or 0 */
	const struct call_node *nodes[2];
};

struct call_pair {
	struct pair_side sides[2];
	bool is_graph;
	struct intern names;
	struct pair_function *functions; /* by name's number */
	size_t nr_functions;
	struct shift_list list;
	struct pair_node *nodes;
	uint32_t nr_nodes;
	struct index index; /* of nodes by parent and name */
};

struct call_pair_wants {
	const struct diff_file *files; /* two */
	const struct options *options;
	bool graph; /* by call path */
};
/* Reads both; the caller frees *pair, also after a failure. *lost: parts of a file are missing.
 * Negative errno, said. */
int call_pair__read(const struct call_pair_wants *wants, struct call_pair **pair, bool *lost);
void call_pair__free(struct call_pair *pair);

#endif
