/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lives_dot.c: the paths of objects as a graph for Graphviz: a node for each function that handled
 * an object, an edge to the next function, with its count and duration.
 */
#include <inttypes.h>
#include "calls/lives_view.h"
#include "render/dot.h"

static bool transitions_have(const struct lives_transition *list, size_t nr, uint32_t function)
{
	for (size_t i = 0; i < nr; i++)
		if (list[i].from == function || list[i].to == function)
			return true;
	return false;
}

static void dot_put_transition(FILE *out, const struct lives_transition *t)
{
	char count[32], times[80], p50[32], p99[32];
	const struct dot_label label = { .lines = { count, times }, .nr = 2 };

	snprintf(count, sizeof(count), "%" PRIu64, t->count);
	snprintf(times, sizeof(times), "p50 %s, p99 %s",
		 text__duration(p50, sizeof(p50), t->p50_ns),
		 text__duration(p99, sizeof(p99), t->p99_ns));
	dot__edge(out, t->from, t->to, &label);
}

void lives_dot__write(const struct lives_view *v)
{
	const struct lives_transition *list;
	const size_t nr = lives_summary__transitions(v->summary, &list);
	FILE *out = v->session->out;

	dot__begin(out, v->name);
	for (uint32_t i = 0; i < v->trace->nr; i++) {
		const struct dot_label label = {
			.lines = { call_trace__probe(v->trace, i)->func },
			.nr = 1,
		};

		if (transitions_have(list, nr, i))
			dot__node(out, i, &label);
	}
	for (size_t i = 0; i < nr; i++)
		dot_put_transition(out, &list[i]);
	dot__end(out);
}
