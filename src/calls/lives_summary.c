/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lives_summary.c: how long from one function to the next, over all objects, and which paths do
 * they take? Transitions are between consecutive entries in the life of one object.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/hist.h"
#include "base/grow.h"
#include "calls/lives_view.h"

enum { SUMMARY_PATHS = 4096, SUMMARY_PATH_MOST = 64 }; /* different paths; functions of a path */

struct summary_transition {
	uint32_t from, to;
	struct hist hist;
};

struct lives_summary {
	size_t nr_functions;
	uint64_t *open; /* by function */
	struct summary_transition **transitions;
	size_t nr_transitions;
	struct lives_transition *shown;
	struct lives_path *paths;
	size_t nr_paths;
};

struct lives_summary *lives_summary__new(size_t nr_functions)
{
	struct lives_summary *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->nr_functions = nr_functions;
	s->open = calloc(nr_functions, sizeof(*s->open));
	if (s->open)
		return s;
	free(s);
	return NULL;
}

void lives_summary__free(struct lives_summary *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_transitions; i++)
		free(s->transitions[i]);
	for (size_t i = 0; i < s->nr_paths; i++)
		free((uint32_t *)s->paths[i].functions);
	free(s->transitions);
	free(s->shown);
	free(s->paths);
	free(s->open);
	free(s);
}

/* ---- transitions ---- */

static struct summary_transition *summary_transition(struct lives_summary *s, uint32_t from,
						     uint32_t to)
{
	struct summary_transition *t;

	for (size_t i = 0; i < s->nr_transitions; i++)
		if (s->transitions[i]->from == from && s->transitions[i]->to == to)
			return s->transitions[i];
	t = GROW_BY_ONE(s->transitions, s->nr_transitions) ? NULL : calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	*t = (struct summary_transition){ .from = from, .to = to };
	return s->transitions[s->nr_transitions++] = t;
}

static int summary_compare(const void *a, const void *b)
{
	const struct lives_transition *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	return x->from != y->from ? (x->from > y->from) - (x->from < y->from)
				  : (x->to > y->to) - (x->to < y->to);
}

size_t lives_summary__transitions(struct lives_summary *s,
				  const struct lives_transition **transitions)
{
	free(s->shown);
	s->shown = calloc(s->nr_transitions + 1, sizeof(*s->shown));
	*transitions = s->shown;
	for (size_t i = 0; s->shown && i < s->nr_transitions; i++) {
		const struct summary_transition *t = s->transitions[i];

		s->shown[i] = (struct lives_transition){
			.from = t->from,
			.to = t->to,
			.count = t->hist.count,
			.p50_ns = hist__percentile(&t->hist, 5000),
			.p99_ns = hist__percentile(&t->hist, 9900),
			.max_ns = t->hist.max_ns,
			.total_ns = t->hist.sum_ns,
		};
	}
	if (!s->shown)
		return 0;
	qsort(s->shown, s->nr_transitions, sizeof(*s->shown), summary_compare);
	return s->nr_transitions;
}

/* ---- paths ---- */

static struct lives_path *summary_path(struct lives_summary *s, const uint32_t *functions,
				       size_t nr)
{
	for (size_t i = 0; i < s->nr_paths; i++)
		if (s->paths[i].nr == nr &&
		    !memcmp(s->paths[i].functions, functions, nr * sizeof(*functions)))
			return &s->paths[i];
	return NULL;
}

static int summary_new_path(struct lives_summary *s, const uint32_t *functions, size_t nr)
{
	uint32_t *copy = GROW_BY_ONE(s->paths, s->nr_paths) ? NULL : calloc(nr + 1, sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	memcpy(copy, functions, nr * sizeof(*functions));
	s->paths[s->nr_paths].functions = copy;
	s->paths[s->nr_paths].nr = nr;
	s->paths[s->nr_paths++].count = 1;
	return 0;
}

static int summary_add_path(struct lives_summary *s, const uint32_t *functions, size_t nr)
{
	struct lives_path *path = summary_path(s, functions, nr);

	if (path)
		path->count++;
	else if (s->nr_paths < SUMMARY_PATHS)
		return summary_new_path(s, functions, nr);
	return 0;
}

static int summary_compare_paths(const void *a, const void *b)
{
	const struct lives_path *x = a, *y = b;

	return (x->count < y->count) - (x->count > y->count);
}

size_t lives_summary__paths(struct lives_summary *s, const struct lives_path **paths)
{
	if (s->nr_paths)
		qsort(s->paths, s->nr_paths, sizeof(*s->paths), summary_compare_paths);
	*paths = s->paths;
	return s->nr_paths;
}

uint64_t lives_summary__open(const struct lives_summary *s, uint32_t function)
{
	return s->open[function];
}

/* ---- lives ---- */

/* Steps that start a transition: an entry, or the return that gives birth. */
static bool summary_counts(const struct life_step *step)
{
	return !step->is_return || step->role == LIFE_BIRTH;
}

int lives_summary__add(struct lives_summary *s, const struct life *life)
{
	uint32_t path[SUMMARY_PATH_MOST];
	const struct life_step *last = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < life->nr; i++) {
		const struct life_step *step = &life->steps[i];
		struct summary_transition *t;

		if (!summary_counts(step))
			continue;
		t = last ? summary_transition(s, last->function, step->function) : NULL;
		if (last && !t)
			return -ENOMEM;
		if (t)
			hist__add(&t->hist, step->ns - last->ns, 0);
		if (nr < SUMMARY_PATH_MOST)
			path[nr++] = step->function;
		if (!step->is_return && step->call && !step->call->end_ns)
			s->open[step->function]++;
		last = step;
	}
	return summary_add_path(s, path, nr);
}
