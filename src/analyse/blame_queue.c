/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/blame_queue.h"

#include <string.h>
#include "analyse/servers.h"

void blame_queue__init(struct blame_queue *q, struct blame_sum *sums, bool leaves_out)
{
	q->sums = sums;
	q->leaves_out = leaves_out;
	q->servers = SERVERS_ALL;
	for (uint32_t i = 0; i < BLAME_DEEPEST; i++)
		q->idle[q->nr_idle++] = (uint16_t)(BLAME_DEEPEST - 1 - i);
}

/* ---- crowds ---- */

static void crowd_enter(struct blame_crowd *c, uint16_t party)
{
	c->all++;
	if (c->counts[party]++)
		return;
	c->at[party] = (uint16_t)c->nr;
	c->parties[c->nr++] = party;
}

static void crowd_leave(struct blame_crowd *c, uint16_t party)
{
	uint16_t last = c->parties[c->nr - 1];

	c->all--;
	if (--c->counts[party])
		return;
	c->parties[c->at[party]] = last;
	c->at[last] = c->at[party];
	c->nr--;
}

/* ---- time ---- */

static double queue_since(double mark, double other)
{
	return mark > other ? mark : other;
}

/*
 * Before the number of commands of this party changes that wait. The numbers of both parties have
 * been what they are since the later of their changes.
 */
static void queue_touch_waiting(struct blame_queue *q, uint16_t party)
{
	double *waited_ns = q->sums[party].cells->waited_ns;
	const double mark = q->waiting_mark[party], now = q->clock.waited;
	const double waiting = q->waiting.counts[party];

	q->waiting_mark[party] = now;
	for (uint32_t i = 0; waiting > 0 && i < q->served.nr; i++) {
		const uint16_t by = q->served.parties[i];

		waited_ns[by] += waiting * q->served.counts[by] *
				 (now - queue_since(mark, q->served_mark[by].waited));
	}
}

/* Likewise of those that are served. Its own command is not beside itself. */
static void queue_touch_served(struct blame_queue *q, uint16_t party)
{
	struct blame_cells *cells = q->sums[party].cells;
	const struct blame_clock mark = q->served_mark[party], now = q->clock;
	const double served = q->served.counts[party];

	q->served_mark[party] = now;
	if (!(served > 0))
		return;
	for (uint32_t i = 0; i < q->waiting.nr; i++) {
		const uint16_t victim = q->waiting.parties[i];

		cells->delayed_ns[victim] +=
			served * q->waiting.counts[victim] *
			(now.waited - queue_since(mark.waited, q->waiting_mark[victim]));
	}
	for (uint32_t i = 0; i < q->served.nr; i++) {
		const uint16_t other = q->served.parties[i];
		const double others = q->served.counts[other] - (other == party ? 1. : 0.);
		/* Its own mark is this moment. */
		const double since = other == party ? mark.beside : q->served_mark[other].beside;

		cells->beside_ns[other] +=
			served * others * (now.beside - queue_since(mark.beside, since));
	}
}

static void queue_enter_served(struct blame_queue *q, uint16_t party)
{
	queue_touch_served(q, party);
	crowd_enter(&q->served, party);
}

static void queue_leave_served(struct blame_queue *q, uint16_t party)
{
	queue_touch_served(q, party);
	crowd_leave(&q->served, party);
}

static void queue_enter_waiting(struct blame_queue *q, uint16_t party)
{
	queue_touch_waiting(q, party);
	crowd_enter(&q->waiting, party);
}

static void queue_leave_waiting(struct blame_queue *q, uint16_t party)
{
	queue_touch_waiting(q, party);
	crowd_leave(&q->waiting, party);
}

/* It leaves where it is. */
static void queue_leave(struct blame_queue *q, const struct blame_flight *f)
{
	if (f->is_served)
		queue_leave_served(q, f->party);
	else
		queue_leave_waiting(q, f->party);
}

/*
 * Commands that wait even so: as many others as there are servers are before them. One that is not
 * issued waits for as many as are issued now.
 */
static uint32_t queue_keep_waiting(const struct blame_queue *q, uint32_t counts[BLAME_PARTIES])
{
	uint32_t before = 0, nr = 0;

	for (uint32_t i = 0; i < q->nr; i++) {
		const struct blame_flight *f = &q->flights[q->order[i]];

		if (q->sums[f->party].left_out)
			continue;
		if (!f->is_served && before >= q->servers) {
			counts[f->party]++;
			nr++;
		}
		before++;
	}
	for (uint32_t i = 0; i < q->nr_held; i++) {
		uint16_t party = q->flights[q->held[i]].party;

		if (q->sums[party].left_out)
			continue;
		if (before >= q->nr) {
			counts[party]++;
			nr++;
		}
		before++;
	}
	return nr;
}

/* Without the parties to be left out, these advance by their own part of the service alone. */
static void queue_keep_wait(const struct blame_queue *q, uint64_t ns)
{
	uint32_t counts[BLAME_PARTIES] = { 0 };

	if (!queue_keep_waiting(q, counts))
		return;
	for (uint32_t i = 0; i < q->waiting.nr; i++) {
		uint16_t party = q->waiting.parties[i];
		double each = (double)ns * counts[party] / q->served.all;

		for (uint32_t j = 0; counts[party] && j < q->served.nr; j++) {
			uint16_t by = q->served.parties[j];

			if (!q->sums[by].left_out)
				q->sums[party].cells->kept_ns[by] += each * q->served.counts[by];
		}
	}
}

void blame_queue__advance(struct blame_queue *q, uint64_t to_ns)
{
	uint64_t ns = to_ns - q->now_ns;

	q->now_ns = to_ns;
	if (!q->served.all)
		q->idle_ns += ns;
	if (!ns || !q->served.all)
		return;
	q->clock.waited += (double)ns / q->served.all;
	if (q->served.all > 1)
		q->clock.beside += (double)ns / (q->served.all - 1);
	if (q->leaves_out && q->waiting.all)
		queue_keep_wait(q, ns);
}

/* ---- commands ---- */

/* The time since the last change was service, or a wait, for whom there was to wait for. */
static void queue_settle(const struct blame_queue *q, struct blame_flight *f)
{
	uint64_t ns = q->now_ns - f->since_ns, idle_ns = q->idle_ns - f->idle_mark;

	if (f->is_served) {
		f->service_ns += ns;
	} else {
		f->wait_ns += ns - idle_ns;
		f->idle_ns += idle_ns;
	}
	f->since_ns = q->now_ns;
	f->idle_mark = q->idle_ns;
}

static uint8_t queue_depth(uint32_t others)
{
	uint32_t depth = others;

	if (others >= 4)
		for (depth = 4; depth < BLAME_DEPTHS - 1 && others >> (depth - 1); depth++)
			;
	return (uint8_t)depth;
}

static void queue_serve(struct blame_queue *q, struct blame_flight *f)
{
	queue_settle(q, f);
	if (!f->was_served) {
		f->depth = queue_depth(q->served.all);
		f->is_kept = q->leaves_out && !q->nr_left_out;
	}
	f->is_served = f->was_served = true;
	queue_enter_served(q, f->party);
}

void blame_queue__set_servers(struct blame_queue *q, uint32_t servers)
{
	q->servers = servers;
	for (uint32_t i = 0; i < q->nr; i++) {
		struct blame_flight *f = &q->flights[q->order[i]];

		if (f->is_served == (i < servers))
			continue;
		queue_leave(q, f);
		if (!f->is_served) {
			queue_serve(q, f);
			continue;
		}
		queue_settle(q, f);
		f->is_served = false;
		queue_enter_waiting(q, f->party);
	}
}

static void queue_note_peak(struct blame_queue *q, uint16_t party)
{
	struct blame_sum *sum = &q->sums[party];
	uint32_t flying = q->served.counts[party] + q->waiting.counts[party] + 1;

	sum->peak = flying > sum->peak ? flying : sum->peak;
	if (!sum->first_ns)
		sum->first_ns = q->now_ns;
}

static uint16_t queue_new_flight(struct blame_queue *q, uint16_t party)
{
	uint16_t flight;

	if (!q->nr_idle)
		return BLAME_NO_FLIGHT;
	queue_note_peak(q, party);
	flight = q->idle[--q->nr_idle];
	q->flights[flight] = (struct blame_flight){ .since_ns = q->now_ns,
						    .idle_mark = q->idle_ns,
						    .party = party };
	q->nr_left_out += q->sums[party].left_out;
	return flight;
}

uint16_t blame_queue__submit(struct blame_queue *q, uint16_t party)
{
	uint16_t flight = queue_new_flight(q, party);

	if (flight == BLAME_NO_FLIGHT)
		return flight;
	q->held[q->nr_held++] = flight;
	queue_enter_waiting(q, party);
	return flight;
}

uint16_t blame_queue__submit_issued(struct blame_queue *q, uint16_t party)
{
	uint16_t flight = queue_new_flight(q, party);

	if (flight == BLAME_NO_FLIGHT)
		return flight;
	q->order[q->nr] = flight;
	if (q->nr++ < q->servers)
		queue_serve(q, &q->flights[flight]);
	else
		queue_enter_waiting(q, party);
	return flight;
}

/* Returns where it was. */
static uint32_t queue_take_out(uint16_t *list, uint32_t *nr, uint16_t flight)
{
	uint32_t at = 0;

	while (list[at] != flight)
		at++;
	memmove(&list[at], &list[at + 1], (--*nr - at) * sizeof(list[0]));
	return at;
}

void blame_queue__issue(struct blame_queue *q, uint16_t flight)
{
	struct blame_flight *f = &q->flights[flight];

	queue_take_out(q->held, &q->nr_held, flight);
	q->order[q->nr] = flight;
	if (q->nr++ >= q->servers)
		return;
	queue_leave_waiting(q, f->party);
	queue_serve(q, f);
}

static void queue_remove(struct blame_queue *q, uint16_t flight)
{
	uint32_t at = queue_take_out(q->order, &q->nr, flight);

	q->idle[q->nr_idle++] = flight;
	/* The first of those that wait moves up. */
	if (at < q->servers && q->nr >= q->servers) {
		struct blame_flight *next = &q->flights[q->order[q->servers - 1]];

		queue_leave_waiting(q, next->party);
		queue_serve(q, next);
	}
}

static void services_add(struct blame_services *s, double ns)
{
	s->nr++;
	s->sum += ns;
	s->squares += ns * ns;
}

void blame_queue__end(struct blame_queue *q, uint16_t flight)
{
	struct blame_flight *f = &q->flights[flight];
	struct blame_sum *sum = &q->sums[f->party];

	queue_settle(q, f);
	sum->wait_ns += f->wait_ns;
	sum->service_ns += f->service_ns;
	sum->idle_ns += f->idle_ns;
	if (f->was_served)
		services_add(&sum->services[f->depth], (double)f->service_ns);
	if (f->is_kept)
		services_add(&sum->kept, (double)f->service_ns);
	q->nr_left_out -= sum->left_out;
	sum->last_ns = q->now_ns;
	queue_leave(q, f);
	queue_remove(q, flight);
}
