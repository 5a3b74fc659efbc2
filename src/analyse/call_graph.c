/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* qsort_r */
#include "analyse/call_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/grow.h"
#include "base/index.h"

struct call_graph {
	struct call_node *nodes;
	uint32_t nr;
	struct index index; /* by parent and identity */
	uint32_t first;	    /* made by sort */
};

/* ---- nodes ---- */

struct graph_key {
	uint32_t parent, function;
	const char *name; /* NULL: a function */
};

static uint64_t key_hash(const struct graph_key *key)
{
	uint64_t h = index__mix(0, (uint64_t)key->parent << 32 | key->function);

	return key->name ? index__mix_text(h, key->name) : h;
}

static bool key_is_of(const void *nodes, uint32_t number, const void *arg)
{
	const struct call_node *node = (const struct call_node *)nodes + number;
	const struct graph_key *key = arg;

	if (node->parent != key->parent || !node->name != !key->name)
		return false;
	return key->name ? !strcmp(node->name, key->name) : node->function == key->function;
}

/* CALL_NODE_NONE: out of memory. */
static uint32_t graph_new_node(struct call_graph *g, const struct graph_key *key, uint64_t hash)
{
	char *name;
	uint32_t at;

	if (index__reserve(&g->index, &g->nodes, sizeof(*g->nodes)))
		return CALL_NODE_NONE;
	name = key->name ? strdup(key->name) : NULL;
	if (key->name && !name)
		return CALL_NODE_NONE;
	at = index__add(&g->index, hash);
	g->nodes[at] = (struct call_node){
		.name = name,
		.function = key->function,
		.parent = key->parent,
		.depth = key->parent == CALL_NODE_NONE ? 0 : g->nodes[key->parent].depth + 1,
		.first_child = CALL_NODE_NONE,
		.next = CALL_NODE_NONE,
	};
	g->nr++;
	return at;
}

static uint32_t graph_node(struct call_graph *g, const struct graph_key *key)
{
	const uint64_t hash = key_hash(key);
	uint32_t at = index__find(&g->index, hash, key_is_of, g->nodes, key);

	return at == INDEX_NONE ? graph_new_node(g, key, hash) : at;
}

struct call_graph *call_graph__new(void)
{
	return calloc(1, sizeof(struct call_graph));
}

void call_graph__free(struct call_graph *g)
{
	if (!g)
		return;
	for (uint32_t i = 0; i < g->nr; i++)
		free((char *)g->nodes[i].name);
	free(g->nodes);
	index__free(&g->index);
	free(g);
}

/* ---- calls ---- */

static void node_add_time(struct call_node *node, uint64_t ns)
{
	node->min_ns = node->timed && node->min_ns < ns ? node->min_ns : ns;
	node->max_ns = node->max_ns > ns ? node->max_ns : ns;
	node->total_ns += ns;
	node->self_ns += ns;
	node->timed++;
}

/* outer: the innermost timed node around it, which loses this call's time; CALL_NODE_NONE: none. */
static void graph_count(struct call_graph *g, const struct call *call, uint32_t node,
			uint32_t outer)
{
	const uint64_t ns = call->end_ns - call->start_ns;

	g->nodes[node].count++;
	if (!call->end_ns)
		return;
	node_add_time(&g->nodes[node], ns);
	if (outer != CALL_NODE_NONE)
		g->nodes[outer].self_ns -= ns;
}

/* Position of a walk through a tree: a call, and the node of the call around it. */
struct graph_walk {
	const struct call *root, *call; /* call: NULL: the walk is over */
	uint32_t parent;
	/* By depth: node of the innermost timed call down to that depth, or CALL_NODE_NONE. */
	uint32_t *timed;
	size_t room;
};

static int walk_count(struct graph_walk *walk, struct call_graph *g, uint32_t node)
{
	const struct call *call = walk->call;
	uint32_t outer;

	if (GROW(walk->timed, walk->room, (size_t)call->depth + 1))
		return -ENOMEM;
	outer = call->depth ? walk->timed[call->depth - 1] : CALL_NODE_NONE;
	graph_count(g, call, node, outer);
	walk->timed[call->depth] = call->end_ns ? node : outer;
	return 0;
}

static void walk_on(struct graph_walk *walk, const struct call_graph *g)
{
	while (walk->call != walk->root && !walk->call->next) {
		walk->call = walk->call->parent;
		walk->parent = g->nodes[walk->parent].parent;
	}
	walk->call = walk->call == walk->root ? NULL : walk->call->next;
}

static int graph_step(struct call_graph *g, struct graph_walk *walk,
		      const struct call_limits *limits)
{
	const struct graph_key key = { walk->parent, walk->call->function, NULL };
	uint32_t node;

	if (!call__is_within(walk->call, limits)) {
		walk_on(walk, g);
		return 0;
	}
	node = graph_node(g, &key);
	if (node == CALL_NODE_NONE || walk_count(walk, g, node))
		return -ENOMEM;
	if (walk->call->first) {
		walk->call = walk->call->first;
		walk->parent = node;
	} else {
		walk_on(walk, g);
	}
	return 0;
}

static int graph_walk(struct call_graph *g, struct graph_walk *walk,
		      const struct call_limits *limits)
{
	int err = 0;

	while (!err && walk->call)
		err = graph_step(g, walk, limits);
	free(walk->timed);
	return err;
}

int call_graph__add(struct call_graph *g, const struct call *root, const char *group,
		    const struct call_limits *limits)
{
	const struct graph_key key = { CALL_NODE_NONE, 0, group };
	struct graph_walk walk = { .root = root, .call = root, .parent = CALL_NODE_NONE };

	if (!call__is_within(root, limits))
		return 0;
	if (group) {
		walk.parent = graph_node(g, &key);
		if (walk.parent == CALL_NODE_NONE)
			return -ENOMEM;
		g->nodes[walk.parent].count++;
		if (root->end_ns)
			node_add_time(&g->nodes[walk.parent], root->end_ns - root->start_ns);
		g->nodes[walk.parent].self_ns = 0; /* a group has no time of its own */
	}
	return graph_walk(g, &walk, limits);
}

/* ---- its order ---- */

/* Reverse order: each node is then put before the nodes already linked. */
static int node_compare(const void *left, const void *right, void *nodes)
{
	const struct call_node *a = (struct call_node *)nodes + *(const uint32_t *)left;
	const struct call_node *b = (struct call_node *)nodes + *(const uint32_t *)right;

	/* ties: the earlier node first */
	return COMPARE(a->total_ns, b->total_ns) ?: COMPARE(a->count, b->count) ?: COMPARE(b, a);
}

static void graph_link(struct call_graph *g, const uint32_t *order)
{
	g->first = CALL_NODE_NONE;
	for (uint32_t i = 0; i < g->nr; i++)
		g->nodes[i].first_child = CALL_NODE_NONE;
	for (uint32_t i = 0; i < g->nr; i++) {
		struct call_node *node = &g->nodes[order[i]];
		uint32_t *first = node->parent == CALL_NODE_NONE
					  ? &g->first
					  : &g->nodes[node->parent].first_child;

		node->next = *first;
		*first = order[i];
	}
}

int call_graph__sort(struct call_graph *g, uint32_t *first)
{
	uint32_t *order = calloc(g->nr + 1, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->nr; i++)
		order[i] = i;
	qsort_r(order, g->nr, sizeof(*order), node_compare, g->nodes);
	graph_link(g, order);
	free(order);
	*first = g->first;
	return 0;
}

const struct call_node *call_graph__nodes(const struct call_graph *g, uint32_t *nr)
{
	*nr = g->nr;
	return g->nodes;
}

uint32_t call_graph__next(const struct call_graph *g, uint32_t node)
{
	if (g->nodes[node].first_child != CALL_NODE_NONE)
		return g->nodes[node].first_child;
	while (node != CALL_NODE_NONE && g->nodes[node].next == CALL_NODE_NONE)
		node = g->nodes[node].parent;
	return node == CALL_NODE_NONE ? CALL_NODE_NONE : g->nodes[node].next;
}

/* ---- by function ---- */

/* Which nodes are inside a node of the same function? Answered in one walk: looking upwards from
 * each node would cost the square of the depth. */
struct sums_walk {
	uint32_t *functions; /* each once, sorted */
	size_t nr;
	uint32_t *open; /* by place in functions: nodes that the walk is in */
	uint32_t *first, *next;
	bool *is_inside; /* by node: the answer */
};

static int function_compare(const void *a, const void *b)
{
	return COMPARE(*(const uint32_t *)a, *(const uint32_t *)b);
}

static void sums_walk_free(struct sums_walk *w)
{
	free(w->functions);
	free(w->open);
	free(w->first);
	free(w->next);
	free(w->is_inside);
}

/* Place 0 of first and next is for nodes without a parent; a node's is its number + 1, 0: none. */
static void sums_link(struct sums_walk *w, const struct call_graph *g)
{
	for (uint32_t i = 0; i < g->nr; i++) {
		uint32_t parent = g->nodes[i].parent;
		uint32_t *first = &w->first[parent == CALL_NODE_NONE ? 0 : parent + 1];

		w->next[i + 1] = *first;
		*first = i + 1;
	}
}

static uint32_t *sums_open(const struct sums_walk *w, const struct call_node *node)
{
	const uint32_t *at = bsearch(&node->function, w->functions, w->nr, sizeof(*w->functions),
				     function_compare);

	return &w->open[at - w->functions];
}

static void sums_leave(struct sums_walk *w, const struct call_graph *g, uint32_t node)
{
	if (!g->nodes[node].name)
		--*sums_open(w, &g->nodes[node]);
}

static void sums_walk(struct sums_walk *w, const struct call_graph *g)
{
	uint32_t at = w->first[0];

	while (at) {
		uint32_t node = at - 1;

		if (!g->nodes[node].name)
			w->is_inside[node] = (*sums_open(w, &g->nodes[node]))++ > 0;
		if (w->first[at]) {
			at = w->first[at];
			continue;
		}
		sums_leave(w, g, node);
		while (!w->next[at] && g->nodes[at - 1].parent != CALL_NODE_NONE) {
			at = g->nodes[at - 1].parent + 1;
			sums_leave(w, g, at - 1);
		}
		at = w->next[at];
	}
}

static int sums_walk_make(struct sums_walk *w, const struct call_graph *g)
{
	const size_t nr = (size_t)g->nr + 1;

	*w = (struct sums_walk){
		.functions = calloc(nr, sizeof(*w->functions)),
		.open = calloc(nr, sizeof(*w->open)),
		.first = calloc(nr, sizeof(*w->first)),
		.next = calloc(nr, sizeof(*w->next)),
		.is_inside = calloc(nr, sizeof(*w->is_inside)),
	};
	if (!w->functions || !w->open || !w->first || !w->next || !w->is_inside) {
		sums_walk_free(w);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->nr; i++)
		w->functions[i] = g->nodes[i].function;
	qsort(w->functions, g->nr, sizeof(*w->functions), function_compare);
	for (uint32_t i = 0; i < g->nr; i++)
		if (!w->nr || w->functions[w->nr - 1] != w->functions[i])
			w->functions[w->nr++] = w->functions[i];
	sums_link(w, g);
	sums_walk(w, g);
	return 0;
}

static int sum_compare(const void *a, const void *b)
{
	const struct call_sum *left = a, *right = b;

	return COMPARE(left->function, right->function);
}

static int edge_compare(const void *a, const void *b)
{
	const struct call_edge *left = a, *right = b;

	return COMPARE(left->from, right->from) ?: COMPARE(left->to, right->to);
}

static void sums_merge(struct call_sums *s)
{
	size_t nr = 0;

	qsort(s->sums, s->nr, sizeof(*s->sums), sum_compare);
	for (size_t i = 0; i < s->nr; i++) {
		const struct call_sum sum = s->sums[i];

		if (!nr || sum_compare(&s->sums[nr - 1], &sum)) {
			s->sums[nr++] = sum;
			continue;
		}
		s->sums[nr - 1].count += sum.count;
		s->sums[nr - 1].total_ns += sum.total_ns;
		s->sums[nr - 1].self_ns += sum.self_ns;
	}
	s->nr = nr;
}

static void edges_merge(struct call_sums *s)
{
	size_t nr = 0;

	qsort(s->edges, s->nr_edges, sizeof(*s->edges), edge_compare);
	for (size_t i = 0; i < s->nr_edges; i++) {
		const struct call_edge edge = s->edges[i];

		if (!nr || edge_compare(&s->edges[nr - 1], &edge)) {
			s->edges[nr++] = edge;
			continue;
		}
		s->edges[nr - 1].count += edge.count;
		s->edges[nr - 1].total_ns += edge.total_ns;
	}
	s->nr_edges = nr;
}

static void sums_take(struct call_sums *s, const struct call_graph *g, uint32_t i, bool is_inside)
{
	const struct call_node *node = &g->nodes[i];
	const bool is_outer = node->parent == CALL_NODE_NONE || g->nodes[node->parent].name;

	if (node->name)
		return;
	s->sums[s->nr++] = (struct call_sum){
		.function = node->function,
		.count = node->count,
		.total_ns = is_inside ? 0 : node->total_ns,
		.self_ns = node->self_ns,
	};
	if (!is_outer)
		s->edges[s->nr_edges++] = (struct call_edge){
			.from = g->nodes[node->parent].function,
			.to = node->function,
			.count = node->count,
			.total_ns = node->total_ns,
		};
}

int call_graph__sums(const struct call_graph *g, struct call_sums *s)
{
	struct sums_walk walk;

	*s = (struct call_sums){
		.sums = calloc(g->nr + 1, sizeof(*s->sums)),
		.edges = calloc(g->nr + 1, sizeof(*s->edges)),
	};
	if (!s->sums || !s->edges || sums_walk_make(&walk, g)) {
		call_sums__free(s);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < g->nr; i++)
		sums_take(s, g, i, walk.is_inside[i]);
	sums_walk_free(&walk);
	sums_merge(s);
	edges_merge(s);
	return 0;
}

void call_sums__free(struct call_sums *s)
{
	free(s->sums);
	free(s->edges);
	*s = (struct call_sums){ 0 };
}
