/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * device_model.h: a device with some servers and one queue, and loads that keep a number of
 * commands in flight on it. Deterministic: the same seed gives the same commands. With `shares`
 * it has no queue, and all commands share its speed. With `shuffles` the next in the queue is any.
 */
#ifndef IOSONAR_TESTS_DEVICE_MODEL_H
#define IOSONAR_TESTS_DEVICE_MODEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum model_spread { MODEL_CONSTANT, MODEL_UNIFORM, MODEL_EXPONENTIAL, NR_MODEL_SPREADS };

struct model_load {
	uint32_t depth; /* 0: it does nothing */
	uint64_t service_ns;
	enum model_spread spread;
	uint64_t think_ns;	 /* between end and next submission, on average */
	uint64_t from_ns, to_ns; /* to_ns 0: all the time */
};

struct model_io {
	uint64_t from_ns, issue_ns, end_ns; /* issue: its service begins */
	double left_ns;			    /* of its service */
	uint32_t load;
};

enum { MODEL_LOADS = 4, MODEL_FLYING = 512 };

struct model {
	uint32_t servers;
	bool shares, shuffles;
	uint64_t seed;
	struct model_load loads[MODEL_LOADS];
	/* state */
	struct model_io coming[MODEL_FLYING], flying[MODEL_FLYING]; /* flying: by submission */
	uint32_t nr_coming, nr_flying;
	double now_ns;
};

static double model_draw(struct model *m)
{
	m->seed += 0x9e3779b97f4a7c15ULL;
	uint64_t z = m->seed;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

static double model_spread(struct model *m, double mean, enum model_spread spread)
{
	double draw = model_draw(m);

	if (spread == MODEL_EXPONENTIAL)
		return -mean * log(draw);
	return spread == MODEL_UNIFORM ? mean * (0.7 + 0.6 * draw) : mean;
}

static void model_come(struct model *m, uint32_t load, double at_ns)
{
	const struct model_load *l = &m->loads[load];

	if (l->to_ns && at_ns >= (double)l->to_ns)
		return;
	m->coming[m->nr_coming++] = (struct model_io){
		.from_ns = (uint64_t)at_ns,
		.left_ns = model_spread(m, (double)l->service_ns, l->spread),
		.load = load,
	};
}

static void model_start(struct model *m)
{
	m->nr_coming = m->nr_flying = 0;
	m->now_ns = 0;
	for (uint32_t i = 0; i < MODEL_LOADS; i++)
		for (uint32_t j = 0; j < m->loads[i].depth; j++)
			model_come(m, i, (double)m->loads[i].from_ns + 1000 + 100 * j);
}

/* How fast one command is served now. */
static double model_speed(const struct model *m)
{
	return m->shares && m->nr_flying > m->servers ? (double)m->servers / m->nr_flying : 1;
}

static uint32_t model_served(const struct model *m)
{
	return m->shares || m->nr_flying < m->servers ? m->nr_flying : m->servers;
}

/* A command of the queue begins. */
static void model_let_in(struct model *m)
{
	uint32_t at = m->servers - 1, chosen = at;
	struct model_io first;

	if (m->shares || m->nr_flying < m->servers)
		return;
	if (m->shuffles)
		chosen += (uint32_t)(model_draw(m) * (m->nr_flying - at));
	first = m->flying[at];
	m->flying[at] = m->flying[chosen];
	m->flying[chosen] = first;
	m->flying[at].issue_ns = (uint64_t)m->now_ns;
}

/* The next command that ends; false: none before then. */
static bool model_next(struct model *m, uint64_t until_ns, struct model_io *io)
{
	for (;;) {
		uint32_t come = 0, end = 0;
		double at = INFINITY, ends = INFINITY, next;

		for (uint32_t i = 0; i < m->nr_coming; i++)
			if ((double)m->coming[i].from_ns < at)
				at = (double)m->coming[come = i].from_ns;
		for (uint32_t i = 0; i < model_served(m); i++)
			if (m->flying[i].left_ns / model_speed(m) + m->now_ns < ends)
				ends = m->flying[end = i].left_ns / model_speed(m) + m->now_ns;
		next = at < ends ? at : ends;
		if (next > (double)until_ns)
			return false;
		next = next > m->now_ns ? next : m->now_ns;
		for (uint32_t i = 0, nr = model_served(m); i < nr; i++)
			m->flying[i].left_ns -= (next - m->now_ns) * model_speed(m);
		m->now_ns = next;
		if (at < ends) {
			m->flying[m->nr_flying++] = m->coming[come];
			m->flying[m->nr_flying - 1].issue_ns = m->coming[come].from_ns;
			m->coming[come] = m->coming[--m->nr_coming];
			continue;
		}
		*io = m->flying[end];
		io->end_ns = (uint64_t)next > io->from_ns ? (uint64_t)next : io->from_ns + 1;
		memmove(&m->flying[end], &m->flying[end + 1],
			(--m->nr_flying - end) * sizeof(m->flying[0]));
		model_let_in(m);
		next += model_spread(m, (double)m->loads[io->load].think_ns, MODEL_EXPONENTIAL);
		model_come(m, io->load, next + 200);
		return true;
	}
}

#endif
