/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * call_graph.c: do counts and times of a graph say what the calls say? Trees are made by the same
 * code as at work, from entries and returns; sums are reckoned by hand, and for random trees by
 * adding up call by call.
 */
#include <stdlib.h>
#include "analyse/call_graph.h"
#include "tap.h"

enum { A, B, C, D, NR_FUNCTIONS };

struct feed {
	struct call_graph *graph;
	struct calls *calls;
	struct call_limits limits;
	const char *group;
	uint64_t self_ns[NR_FUNCTIONS], count[NR_FUNCTIONS]; /* reckoned the slow way */
};

/* What it took itself: without those inside that have a time, or what is known inside these. */
static uint64_t known_ns(const struct call *call)
{
	uint64_t ns = 0;

	if (call->end_ns)
		return call->end_ns - call->start_ns;
	for (const struct call *c = call->first; c; c = c->next)
		ns += known_ns(c);
	return ns;
}

static void reckon(struct feed *f, const struct call *call)
{
	f->count[call->function]++;
	if (call->end_ns)
		f->self_ns[call->function] += call->end_ns - call->start_ns;
	for (const struct call *c = call->first; c; c = c->next) {
		if (call->end_ns)
			f->self_ns[call->function] -= known_ns(c);
		reckon(f, c);
	}
}

static int on_tree(void *arg, const struct call *root)
{
	struct feed *f = arg;

	reckon(f, root);
	return call_graph__add(f->graph, root, f->group, &f->limits);
}

static int on_call(void *arg, struct call *call, const struct call_event *event)
{
	(void)arg, (void)call, (void)event;
	return 0;
}

static void start(struct feed *f)
{
	const struct calls_wants wants = { on_call, on_tree, f };

	*f = (struct feed){ .graph = call_graph__new(), .calls = calls__new(&wants) };
}

static void end(struct feed *f)
{
	calls__free(f->calls);
	call_graph__free(f->graph);
}

static void take(struct feed *f, uint64_t ns, uint32_t function, bool is_return)
{
	static const char comm[16] = "task";
	const struct call_event event = {
		.ns = ns,
		.function = function,
		.tid = 7,
		.pid = 7,
		.comm = comm,
		.is_return = is_return,
		.returns = true,
	};

	if (calls__take(f->calls, &event))
		printf("Bail out! no memory\n");
}

/* "A0 B10 b30 a100": capitals enter, others return, with the time. */
static void play(struct feed *f, const char *text)
{
	while (*text) {
		const char letter = *text++;
		char *rest;
		uint64_t ns = strtoull(text, &rest, 10);

		take(f, ns, (uint32_t)((letter | 0x20) - 'a'), letter & 0x20);
		text = *rest ? rest + 1 : rest;
	}
}

/* "A 2/1 100/80 20-60": count, timed, total, self, min, max; indented by depth. */
static const char *shown(struct feed *f)
{
	static char text[4096];
	uint32_t nr, node;
	const struct call_node *nodes = call_graph__nodes(f->graph, &nr);
	size_t len = 0;

	text[0] = 0;
	if (call_graph__sort(f->graph, &node))
		printf("Bail out! no memory\n");
	for (; node != CALL_NODE_NONE; node = call_graph__next(f->graph, node)) {
		const struct call_node *n = &nodes[node];
		char function[2] = { (char)('A' + n->function), 0 };

		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s%.*s%s %" PRIu64 "/%" PRIu64 " %" PRIu64 "/%" PRIu64
					" %" PRIu64 "-%" PRIu64,
					len ? "\n" : "", (int)n->depth, "........",
					n->name ? n->name : function, n->count, n->timed,
					n->total_ns, n->self_ns, n->min_ns, n->max_ns);
	}
	return text;
}

static void test_nothing(void)
{
	struct feed f;
	struct call_sums sums;
	uint32_t first = 0;

	start(&f);
	ok(!call_graph__sort(f.graph, &first) && first == CALL_NODE_NONE, "nothing: no node");
	ok(!call_graph__sums(f.graph, &sums) && !sums.nr && !sums.nr_edges, "and no sums");
	call_sums__free(&sums);
	end(&f);
}

static void test_times(void)
{
	struct feed f;

	start(&f);
	play(&f, "A0 B10 C15 c20 b30 B40 b45 a100");
	play(&f, "A200 C210 c280 a300");
	is_str(shown(&f),
	       "A 2/2 200/105 100-100\n.C 1/1 70/70 70-70\n.B 2/2 25/20 5-20\n..C 1/1 5/5 5-5",
	       "the same function under the same parents is one node, the longest first");
	end(&f);
}

static void test_recursion(void)
{
	struct call_sums sums;
	struct feed f;

	start(&f);
	play(&f, "A0 A10 B20 b30 a50 a100");
	is_str(shown(&f), "A 1/1 100/60 100-100\n.A 1/1 40/30 40-40\n..B 1/1 10/10 10-10",
	       "one inside itself is a node of its own");
	if (call_graph__sums(f.graph, &sums))
		printf("Bail out! no memory\n");
	is_u64(sums.nr, 2, "by function there are two");
	ok(sums.sums[0].function == A && sums.sums[0].count == 2 && sums.sums[0].total_ns == 100 &&
		   sums.sums[0].self_ns == 90,
	   "its time is in the sum once");
	is_u64(sums.nr_edges, 2, "two edges");
	ok(sums.edges[0].from == A && sums.edges[0].to == A && sums.edges[0].count == 1,
	   "one of them to itself");
	ok(sums.edges[1].from == A && sums.edges[1].to == B && sums.edges[1].total_ns == 10,
	   "and one to whom it calls");
	call_sums__free(&sums);
	end(&f);
}

static void test_unfinished(void)
{
	struct feed f;

	start(&f);
	play(&f, "A0 B10 C20 c50 a100"); /* B is never left */
	is_str(shown(&f), "A 1/1 100/70 100-100\n.B 1/0 0/0 0-0\n..C 1/1 30/30 30-30",
	       "who was not left has no time, and who is inside it is not counted twice");
	play(&f, "A200 B210 b213 a220");
	is_str(shown(&f), "A 2/2 120/87 20-100\n.B 2/1 3/3 3-3\n..C 1/1 30/30 30-30",
	       "one that was left gives the node its times");
	end(&f);
}

static void test_limits(void)
{
	struct feed f;

	start(&f);
	f.limits.max_depth = 2;
	play(&f, "A0 B10 C15 c20 b30 a100");
	is_str(shown(&f), "A 1/1 100/80 100-100\n.B 1/1 20/20 20-20",
	       "what is too deep is time of whom it is in");
	end(&f);
	start(&f);
	f.limits.min_ns = 20;
	play(&f, "A0 B10 C11 c14 b15 C20 D21 d22 c50 B60 b80 a100");
	play(&f, "B200 b210");
	is_str(shown(&f), "A 1/1 100/50 100-100\n.C 1/1 30/30 30-30\n.B 1/1 20/20 20-20",
	       "what is too short is left out, with what is inside");
	end(&f);
}

static void test_groups(void)
{
	struct call_sums sums;
	struct feed f;

	start(&f);
	f.group = "dd";
	play(&f, "A0 B10 b20 a100");
	f.group = "cat";
	play(&f, "A200 a210");
	f.group = "dd";
	play(&f, "A300 a340");
	is_str(shown(&f),
	       "dd 2/2 140/0 40-100\n.A 2/2 140/130 40-100\n..B 1/1 10/10 10-10\ncat 1/1 10/0 "
	       "10-10\n.A 1/1 10/10 10-10",
	       "trees stand below their group, which has no time of its own");
	if (call_graph__sums(f.graph, &sums))
		printf("Bail out! no memory\n");
	ok(sums.nr == 2 && sums.sums[0].count == 3 && sums.sums[0].total_ns == 150,
	   "sums are over groups");
	ok(sums.nr_edges == 1 && sums.edges[0].count == 1, "a group calls nobody");
	call_sums__free(&sums);
	end(&f);
}

/* Entries and returns as they come, some returns lost. */
static void play_random(struct feed *f, uint64_t *ns)
{
	uint32_t open[64], nr = 0;

	for (int i = 0; i < 400; i++) {
		*ns += (uint64_t)(rand() % 50);
		if (nr < 64 && rand() % 2) {
			open[nr] = (uint32_t)(rand() % NR_FUNCTIONS);
			take(f, *ns, open[nr++], false);
		} else if (nr) {
			nr--;
			if (rand() % 10)
				take(f, *ns, open[nr], true);
		}
	}
}

static void test_random(void)
{
	uint64_t self_ns[NR_FUNCTIONS] = { 0 }, count[NR_FUNCTIONS] = { 0 }, ns = 1;
	struct call_sums sums;
	bool is_same = true;
	struct feed f;

	srand(1);
	start(&f);
	for (int i = 0; i < 200; i++)
		play_random(&f, &ns);
	if (calls__finish(f.calls) || call_graph__sums(f.graph, &sums))
		printf("Bail out! no memory\n");
	for (size_t i = 0; i < sums.nr; i++) {
		self_ns[sums.sums[i].function] += sums.sums[i].self_ns;
		count[sums.sums[i].function] += sums.sums[i].count;
	}
	for (int i = 0; i < NR_FUNCTIONS; i++)
		is_same = is_same && count[i] == f.count[i] && self_ns[i] == f.self_ns[i];
	ok(count[A] > 1000, "random trees: %" PRIu64 " calls of a function", count[A]);
	ok(is_same, "counts and self times are those of the calls, one by one");
	call_sums__free(&sums);
	end(&f);
}

static int on_plain_tree(void *arg, const struct call *root)
{
	struct feed *f = arg;

	return call_graph__add(f->graph, root, f->group, &f->limits);
}

/* A inside A, without a return, with B in each: neither is looked for upwards, one by one. */
static void test_deep(void)
{
	enum { LEVELS = 200000 };
	struct feed f = { .graph = call_graph__new() };
	struct call_sums sums;
	uint32_t nr;

	f.calls = calls__new(&(struct calls_wants){ on_call, on_plain_tree, &f });
	for (uint64_t i = 0; i < LEVELS; i++) {
		take(&f, 3 * i + 1, A, false);
		take(&f, 3 * i + 2, B, false);
		take(&f, 3 * i + 3, B, true);
	}
	if (calls__finish(f.calls) || call_graph__sums(f.graph, &sums))
		printf("Bail out! no memory\n");
	call_graph__nodes(f.graph, &nr);
	is_u64(nr, 2 * LEVELS, "200,000 levels: a node for each, and one beside it");
	ok(sums.nr == 2 && sums.sums[A].count == LEVELS && sums.sums[B].count == LEVELS &&
		   sums.sums[B].total_ns == LEVELS && sums.sums[B].self_ns == LEVELS,
	   "sums by function are those of all");
	is_u64(sums.nr_edges, 2, "two edges");
	call_sums__free(&sums);
	end(&f);
}

int main(void)
{
	test_deep();
	test_nothing();
	test_times();
	test_recursion();
	test_unfinished();
	test_limits();
	test_groups();
	test_random();
	return done_testing();
}
