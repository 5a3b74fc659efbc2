/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rule_polling.c: threads wait for short commands, one after the other, and are woken up by an
 * interrupt for each, though the device has queues for polling. What it measures is the time from
 * the end of a command to the next one: it has the wake-up, and what the program does in between.
 * The interrupt itself is part of the time at the device, and not told apart.
 */
#include <inttypes.h>
#include <stdio.h>
#include "why/rules.h"

enum { POLLING_FEW = 200 };
static const uint64_t polling_short_ns = 20000;
static const double polling_most = 0.5, polling_polled = 0.1;

/* Commands that interrupts end, one after the other, are most of its commands. */
static bool polling_applies(const struct why_case *c, const struct fact_sums *data)
{
	const struct fact_turns *turns = &c->device->turns;

	return c->device->place.has_poll_queues && turns->nr >= POLLING_FEW &&
	       (double)turns->nr >= polling_most * (double)data->nr &&
	       (double)c->device->polled <= polling_polled * (double)data->nr;
}

static bool polling_test(const struct why_case *c, struct why_finding *f)
{
	const struct fact_turns *turns = &c->device->turns;
	const uint64_t median_ns = fact_cells__percentile(turns->served, 5000);
	struct fact_sums data, tail;

	facts__sum(c->facts,
		   (struct fact_choice){ .device = c->device->device, .classes = FACT_DATA }, &data,
		   &tail);
	if (!polling_applies(c, &data) || median_ns >= polling_short_ns)
		return false;
	f->cost_ns = turns->turn_ns;
	f->total = why_share(turns->turn_ns, turns->turn_ns + turns->command_ns);
	f->affected = turns->nr;
	if (f->total < c->least)
		return false;
	snprintf(f->whose, sizeof(f->whose), "threads that wait");
	verdict__say(f, "threads are woken up for each short command; they could poll");
	verdict__prove(f,
		       "%" PRIu64 " of %" PRIu64
		       " commands were sent right after the one before had ended",
		       turns->nr, data.nr);
	verdict__prove(f,
		       "a command takes %s at the device (median); the next one is sent %s later",
		       why_ns((double)median_ns).text,
		       why_ns((double)turns->turn_ns / (double)turns->nr).text);
	verdict__prove(f, "the device has queues for polling, and %" PRIu64 " commands were polled",
		       c->device->polled);
	verdict__more(f, "layers", NULL, NULL);
	return true;
}

const struct why_rule rule_polling = {
	"polling",
	true,
	false,
	polling_test,
	{ "culprit", "own-writes", "writeback", "discards", "flushes", "stalls", "tags",
	  "scheduler", "saturated", "timeouts", "retries", "throttled", "frozen" },
};
