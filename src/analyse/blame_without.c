/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blame_without.c: how long would commands take without some parties? What they waited for the
 * others stays, as far as the others would be in front of them: a party that pauses between its
 * commands has fewer in flight when they take less time. So the means depend on each other, and are
 * found by repetition.
 */
#include <math.h>
#include "analyse/blame.h"

enum { WITHOUT_ROUNDS = 30, WITHOUT_SERVICES = 32 }; /* services that show how long they take */

static double without_service(const struct blame *b, size_t party)
{
	const struct blame_sum *sum = &b->sums[party];
	double ns = (double)sum->service_ns, nr = 0;

	for (int i = 0; i < BLAME_DEPTHS; i++)
		nr += sum->services[i].nr;
	/* Services that began without the others show it; otherwise the stretch by them goes. */
	if (sum->kept.nr >= WITHOUT_SERVICES)
		return sum->kept.sum / sum->kept.nr * nr;
	for (size_t i = 0; i < b->nr; i++)
		ns -= b->sums[i].left_out ? (double)sum->cells->stretch_ns[i] : 0;
	return ns;
}

/* Between the end of a command and the next submission, if it keeps its peak in flight. */
static double without_pause(const struct blame *b, size_t party, double mean)
{
	const struct blame_sum *sum = &b->sums[party];
	double span = (double)(sum->last_ns - sum->first_ns);
	double each = sum->peak * span / (double)b->parties[party].count;

	return each > mean ? each - mean : 0;
}

/* How many of its commands are in flight, beside how many were; at most 1. */
static double without_presence(double pause, double before, double now)
{
	double share = pause + now > 0 ? now / (pause + now) * ((pause + before) / before) : 1;

	return share < 1 ? share : 1;
}

static double without_mean(const struct blame *b, size_t victim, const double *presence)
{
	const struct blame_sum *sum = &b->sums[victim];
	double ns = without_service(b, victim) + (double)(sum->idle_ns + sum->unseen_ns);

	for (size_t i = 0; i < b->nr; i++)
		if (!b->sums[i].left_out)
			ns += sum->cells->kept_ns[i] * presence[i];
	return ns / (double)b->parties[victim].count;
}

static bool without_is_touched(const struct blame *b, size_t victim)
{
	for (size_t i = 0; i < b->nr; i++)
		if (b->sums[i].left_out && blame__between(b, victim, i))
			return true;
	return false;
}

void blame__predict(const struct blame *b, double means_ns[BLAME_PARTIES])
{
	double presence[BLAME_PARTIES];

	for (size_t i = 0; i < b->nr; i++)
		presence[i] = 1;
	for (int round = 0; round < WITHOUT_ROUNDS; round++) {
		for (size_t i = 0; i < b->nr; i++) {
			double before = (double)b->parties[i].latency_ns;

			before /= (double)b->parties[i].count;
			means_ns[i] =
				without_is_touched(b, i) ? without_mean(b, i, presence) : before;
			presence[i] =
				without_presence(without_pause(b, i, before), before, means_ns[i]);
		}
	}
}
