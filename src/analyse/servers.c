/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/servers.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * More commands that end before their service begins refute a number. Clocks and interrupts of
 * several CPUs change the order of a few.
 */
static const double servers_refute_share = 0.02;
/* A number has to make services this much more alike than no queue at all. */
static const double servers_gain = 0.98;
enum { SERVERS_KIND_LEAST = 16, SERVERS_FINE = 64 };

struct servers_kind {
	double nr, sum, squares;
};

struct servers_trial {
	uint64_t ends[SERVERS_MOST]; /* the latest ends so far, the earliest of them first */
	uint32_t nr_ends;
	uint64_t waited, refuting;
	struct servers_kind kinds[SERVERS_KINDS];
};

/* ---- the latest ends: a heap ---- */

static void servers_sink(uint64_t *ends, uint32_t nr, uint32_t at, uint64_t end)
{
	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= nr)
			break;
		child += child + 1 < nr && ends[child + 1] < ends[child];
		if (ends[child] >= end)
			break;
		ends[at] = ends[child];
		at = child;
	}
	ends[at] = end;
}

static void servers_rise(uint64_t *ends, uint32_t at, uint64_t end)
{
	while (at && ends[(at - 1) / 2] > end) {
		ends[at] = ends[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	ends[at] = end;
}

static void servers_note_end(struct servers_trial *t, uint32_t servers, uint64_t end)
{
	if (t->nr_ends < servers)
		servers_rise(t->ends, t->nr_ends++, end);
	else if (end > t->ends[0])
		servers_sink(t->ends, t->nr_ends, 0, end);
}

/* ---- one number of servers ---- */

static void servers_serve(struct servers_trial *t, uint32_t servers, const struct service *s)
{
	/* Until then, that number of earlier commands was in flight. */
	uint64_t begin = t->nr_ends == servers ? t->ends[0] : 0;
	struct servers_kind *kind = &t->kinds[s->kind];
	double took;

	t->waited += begin > s->from_ns;
	t->refuting += begin > s->from_ns && begin > s->end_ns;
	begin = begin > s->from_ns ? begin : s->from_ns;
	took = begin < s->end_ns ? (double)(s->end_ns - begin) : 0;
	kind->nr++;
	kind->sum += took;
	kind->squares += took * took;
}

static void servers_try(struct servers_trial *t, uint32_t servers, const struct service_span *spans,
			size_t nr)
{
	memset(t->kinds, 0, sizeof(t->kinds));
	t->waited = t->refuting = 0;
	for (size_t i = 0; i < nr; i++) {
		t->nr_ends = 0;
		for (size_t j = 0; j < spans[i].nr; j++) {
			/* What was in flight before the span is not known. */
			if (j >= spans[i].nr / 8)
				servers_serve(t, servers, &spans[i].services[j]);
			servers_note_end(t, servers, spans[i].services[j].end_ns);
		}
	}
}

static double servers_variance(const struct servers_kind *kind)
{
	double mean = kind->sum / kind->nr, variance = kind->squares / kind->nr - mean * mean;

	/* Less than the rounding of the sums is none. */
	return variance > 1e-9 * mean * mean ? variance : 0;
}

/* How unlike services of one kind are, beside the same without a queue; 1: no difference. */
static double servers_unlike(const struct servers_trial *t, const struct servers_kind *free)
{
	double nr = 0, sum = 0;

	for (size_t i = 0; i < SERVERS_KINDS; i++) {
		double without = free[i].nr < SERVERS_KIND_LEAST ? 0 : servers_variance(&free[i]);

		if (!without)
			continue;
		nr += free[i].nr;
		sum += free[i].nr * servers_variance(&t->kinds[i]) / without;
	}
	return nr ? sum / nr : 1;
}

/* ---- the best number ---- */

struct servers_search {
	struct servers_trial *trial;
	const struct servers_kind *free;
	const struct service_span *spans;
	size_t nr;
	uint32_t best;
	double least;
};

static bool servers_is_refuted(const struct servers_trial *t)
{
	return (double)t->refuting > servers_refute_share * (double)t->waited + 1;
}

/* The lowest number that is not refuted: the higher the number, the fewer commands refute it. */
static uint32_t servers_lowest(const struct servers_search *s)
{
	uint32_t from = 1, to = SERVERS_MOST;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		servers_try(s->trial, middle, s->spans, s->nr);
		if (servers_is_refuted(s->trial))
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Of numbers that fit equally, the highest blames least. */
static void servers_judge(struct servers_search *s, uint32_t servers)
{
	double unlike;

	servers_try(s->trial, servers, s->spans, s->nr);
	unlike = servers_unlike(s->trial, s->free);
	if (servers_is_refuted(s->trial) || unlike > s->least ||
	    (unlike == s->least && servers < s->best))
		return;
	s->least = unlike;
	s->best = servers;
}

static uint32_t servers_step(uint32_t above)
{
	return above < SERVERS_FINE ? 1 : 1 + (above - SERVERS_FINE) / 4;
}

/* The right number may stand out alone: all of the first are tried, and all around the best. */
static uint32_t servers_best(struct servers_search *s)
{
	const uint32_t lowest = servers_lowest(s);
	uint32_t servers = lowest, around, best;

	s->trial->waited = 1;
	for (; servers <= SERVERS_MOST && s->trial->waited;
	     servers += servers_step(servers - lowest))
		servers_judge(s, servers);
	best = s->best;
	if (best == SERVERS_ALL)
		return best;
	around = servers_step(best - lowest) - 1;
	for (servers = best - around; servers <= best + around && servers <= SERVERS_MOST;
	     servers++)
		if (servers != best)
			servers_judge(s, servers);
	return s->best;
}

uint32_t servers__estimate(const struct service_span *spans, size_t nr)
{
	struct servers_trial *t = calloc(1, sizeof(*t));
	struct servers_kind *free_kinds = calloc(SERVERS_KINDS, sizeof(*free_kinds));
	uint32_t best = SERVERS_ALL;
	size_t all = 0;

	for (size_t i = 0; i < nr; i++)
		all += spans[i].nr;
	if (t && free_kinds && all >= SERVERS_LEAST) {
		/* More servers than commands: nothing waits. */
		servers_try(t, SERVERS_ALL, NULL, 0);
		for (size_t i = 0; i < nr; i++)
			for (size_t j = spans[i].nr / 8; j < spans[i].nr; j++)
				servers_serve(t, SERVERS_ALL, &spans[i].services[j]);
		memcpy(free_kinds, t->kinds, SERVERS_KINDS * sizeof(*free_kinds));
		best = servers_best(&(struct servers_search){ t, free_kinds, spans, nr, SERVERS_ALL,
							      servers_gain });
	}
	free(t);
	free(free_kinds);
	return best;
}
