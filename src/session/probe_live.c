/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_live.c: any event of this machine: attaches generated programs; the view reads their sums
 * at every tick and gets their records in order of time.
 */
#include "base/clock.h"
#include "session/probe_source.h"
#include "session/source.h"

static const uint64_t probe_window_ns = 20000000; /* maximum delay of other CPUs' records */
/* For calls the order is essential: an interrupted program sends its record after all that came
 * meanwhile, and a host may stop a guest's CPU for 50 ms in between. */
static const uint64_t probe_calls_window_ns = 250000000;
static const uint64_t probe_unwind_ns = 20000000;
static const uint64_t probe_glance_ns = 50000000; /* minimum lifetime of a process to be named */

static struct request *probe_request(const struct session *s)
{
	return s->inside->view->asks(s->inside->state);
}

static int probe_hand_on(void *arg, const struct probe_record *record, const void *values)
{
	struct session *s = arg;

	return s->inside->stopped ? 0
				  : s->inside->view->on_hit(s->inside->state, s, record, values);
}

/* A view that failed still keeps records of calls. */
static int probe_drain(struct session *s, enum session_drain what)
{
	struct session_inside *in = s->inside;
	uint64_t until_ns = UINT64_MAX;

	if (in->view_failed && !in->recorder)
		return 0;
	if (what == DRAIN_SETTLED)
		until_ns =
			clock__mono_ns() -
			(probe_request(s)->plan.is_calls ? probe_calls_window_ns : probe_window_ns);
	return run__records(in->data, until_ns, probe_hand_on, s);
}

static int probe_on_glance(void *arg)
{
	struct session *s = arg;

	return s->inside->view->on_glance(s->inside->state, s);
}

static int probe_on_unwind(void *arg)
{
	struct session *s = arg;

	run__unwind(s->inside->data);
	return 0;
}

/* Stacks in rows are resolved when the rows are shown, which may be much later. */
static int probe_arm(struct session *s)
{
	int err = 0;

	if (run__unwinds(s->inside->data))
		err = loop__every(s->inside->loop, probe_unwind_ns, probe_on_unwind, s);
	if (err)
		return err;
	if (!s->inside->view->on_glance || !probe_request(s)->plan.user_stack)
		return 0;
	return loop__every(s->inside->loop, probe_glance_ns, probe_on_glance, s);
}

/* The COMMAND waits at its gate until the loop runs, so that nothing it does is missed. */
static int probe_open(struct session *s)
{
	struct session_inside *in = s->inside;
	struct request *request = probe_request(s);
	struct run *run = NULL;
	int err;

	if ((in->view->follows_command || s->options->filter.follow) && loop__child_pid(in->loop) &&
	    !request->plan.pid) {
		request->plan.pid = (uint32_t)loop__child_pid(in->loop);
		request->plan.children = true;
	}
	in->drains = in->view->on_hit;
	err = run__open(&run, &request->wants);
	in->data = run;
	if (!err)
		s->start_ns = run__start_ns(run);
	return err;
}

static void probe_needs(const struct session *s, struct privilege_needs *needs)
{
	(void)s;
	needs->reads_maps = true;
}

static void probe_detach(struct session *s)
{
	run__unwind(s->inside->data); /* who lacks frame pointers? */
	run__detach(s->inside->data);
}

static void probe_ledger(struct session *s)
{
	struct run_counts counts;

	run__counts(s->inside->data, &counts);
	run__tell_unwind(s->inside->data);
	probe_source__tell_hits(s, &counts);
}

static void probe_free(struct session *s)
{
	run__free(s->inside->data);
}

const struct session_source session_probe_live = {
	.open = probe_open,
	.arm = probe_arm,
	.needs = probe_needs,
	.drain = probe_drain,
	.detach = probe_detach,
	.ledger = probe_ledger,
	.free = probe_free,
};
