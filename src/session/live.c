/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live.c: a run on this machine, for any source: attaches programs, drops privileges, passes data
 * on fifty times a second and ticks at every interval, detaches, makes the ledger. A run that
 * fails, or loses its reader, still completes its capture.
 */
#include <signal.h>
#include <time.h>
#include "base/clock.h"
#include "base/privilege.h"
#include "capture/ring.h"
#include "collect/cgroup.h"
#include "session/origin.h"
#include "session/source.h"

static const uint64_t live_poll_ns = 20000000; /* a line appears within 50 ms */
static const uint64_t live_clock_every_ns = 1000000000;
static const uint64_t live_keep_clocks_ns = 10000000000ULL;

/* ---- what the loop calls ---- */

static void live_set_time(struct session *s)
{
	session_set_time(s, clock__mono_ns());
	s->span_s = s->elapsed_s;
}

static bool live_view_ticks(const struct session *s)
{
	const struct run_options *run = &s->options->run;
	const struct session_view *view = s->inside->view;

	return view->on_tick && !s->inside->view_rests &&
	       (!view->only_at_end || run->interval_ns.given || run->count.given);
}

/* What wakes up often anyway. */
static bool live_has_timed_clock(const struct session_inside *in)
{
	return in->drains || in->recorder;
}

/* The wall clock may be set while we run: one moment on all clocks each second, or at each tick. */
static int live_on_clock(void *arg)
{
	struct session *s = arg;
	struct capture_about *about = &s->inside->about;
	const struct capture_clock clock = {
		.mono_ns = clock__mono_ns(),
		.real_ns = clock__wall_ns(),
		.boot_ns = clock__boot_ns(),
	};
	int err;

	capture_about__forget_clocks(about, clock.mono_ns - live_keep_clocks_ns);
	err = capture_about__add_clock(about, &clock);
	if (!err && s->inside->recorder)
		err = recorder__clock(s->inside->recorder, &clock);
	return err;
}

static int live_on_tick(void *arg)
{
	struct session *s = arg;
	struct session_inside *in = s->inside;
	int err;

	live_set_time(s);
	err = live_has_timed_clock(in) ? 0 : live_on_clock(s);
	if (!err && in->source->tick)
		err = in->source->tick(s);
	if (err || !live_view_ticks(s))
		return err;
	err = session_tick(s);
	if (session_has_count(s) && !in->view->counts_records)
		loop__stop(in->loop);
	return err;
}

static int live_on_poll(void *arg)
{
	struct session *s = arg;
	int err = s->inside->source->drain(s, DRAIN_SETTLED);

	session_check_full(s);
	return err ?: session_flush(s);
}

static int live_on_signal(void *arg)
{
	struct session *s = arg;
	int err = s->inside->drains ? s->inside->source->drain(s, DRAIN_SETTLED) : 0;

	return err ?: s->inside->view->on_signal(s->inside->state, s);
}

static int live_time_is_up(void *arg)
{
	loop__stop(((struct session *)arg)->inside->loop);
	return 0;
}

/* ---- the start ---- */

static int live_arm(struct session *s)
{
	const struct option_number *duration = &s->options->run.duration_ns;
	struct session_inside *in = s->inside;
	int err = 0;

	if (live_view_ticks(s) || (in->recorder && in->source->tick))
		err = loop__every(in->loop, session_interval(s), live_on_tick, s);
	if (!err && live_has_timed_clock(in))
		err = loop__every(in->loop, live_clock_every_ns, live_on_clock, s);
	if (!err && in->drains)
		err = loop__every(in->loop, live_poll_ns, live_on_poll, s);
	if (!err && in->view->on_signal)
		err = loop__on_signal(in->loop, SIGUSR1, live_on_signal, s);
	if (!err && duration->given)
		err = loop__after(in->loop, duration->value, live_time_is_up, s);
	return !err && in->source->arm ? in->source->arm(s) : err;
}

static const char *live_text(void *s, enum glossary_kind kind, struct glossary_id id)
{
	return session_text(s, kind, id);
}

/* After the programs were attached: a user without privileges must not truncate an old file. */
static int live_keep(struct session *s)
{
	struct session_inside *in = s->inside;
	const struct file_options *kept = in->view->keeps ? in->view->keeps(in->state) : NULL;
	struct recorder_run run = {
		.options = kept ? kept : &s->options->file,
		.text = live_text,
		.arg = s,
		.start_ns = s->start_ns,
		.alias = in->alias,
		.maker = in->maker.deputy.pid ? &in->maker : NULL,
		.ring = in->ring,
	};

	if (!run.options->write && !run.ring && !kept)
		return 0;
	if (in->source->describe)
		in->source->describe(s, &run);
	return recorder__new(&run, &in->recorder);
}

static int live_start(struct session *s)
{
	struct session_inside *in = s->inside;
	int err;

	in->last_ns = s->start_ns;
	err = live_keep(s);
	err = err ?: live_on_clock(s);
	if (!err && in->recorder && in->source->keep_start)
		err = in->source->keep_start(s);
	err = err ?: in->view->on_start(in->state, s);
	in->view_started = !err;
	err = err ?: session_flush(s);
	return err ?: live_arm(s);
}

/* At first, when this process is small. It is told where devices and names of tasks are. */
static int live_send_scout(struct session *s)
{
	static const char *const directories[] = { "/sys", "/var/log/containers", NULL };

	if (!s->inside->view->opens_nothing || s->options->run.keep_privileges)
		return 0;
	tzset(); /* reads a file */
	s->inside->scout = (struct scout){
		.directories = directories,
		.answers = { [SCOUT_DEVICE] = device__answer, [SCOUT_CGROUP] = cgroup__answer },
	};
	return scout__fork(&s->inside->scout);
}

/* Before programs are attached: an earlier run may have left much to recover. */
static int live_open_ring(struct session *s)
{
	const struct file_options *f = &s->options->file;
	struct origin origin;
	struct origin_names names;
	struct ring_options options = {
		.path = f->ring,
		.size = f->size_bytes.value,
		.files = f->files.given ? (unsigned int)f->files.value : RING_FILES,
		.mode = options__mode(f),
	};

	if (!f->ring)
		return 0;
	origin__init(&origin, f->host);
	origin__names(&origin, s->inside->alias, &names);
	options.host = names.host;
	options.boot_id = names.boot_id;
	return ring__open(&options, &s->inside->ring);
}

/*
 * The last thing before the loop: programs are attached, files are open, and the COMMAND was
 * forked. It waits at its gate for loop__run and then runs with the privileges we were started
 * with; if it were forked later it would inherit the filter.
 */
static void live_drop_privileges(const struct session *s)
{
	struct privilege_needs needs = {
		.child = loop__child_pid(s->inside->loop),
		.opens_nothing = s->inside->scout.shared,
	};

	if (s->inside->source->needs)
		s->inside->source->needs(s, &needs);
	if (s->inside->view->needs)
		s->inside->view->needs(s->inside->state, &needs);
	if (!s->options->run.keep_privileges)
		privilege__drop(&needs);
}

/* ---- the end ---- */

/* Detached: the remaining data goes to the recorder, and to a view that has not failed. */
static int live_drain(struct session *s)
{
	struct session_inside *in = s->inside;
	int err = in->drains ? in->source->drain(s, DRAIN_ALL) : 0;
	int settle_err = in->source->settle ? in->source->settle(s) : 0;

	session_check_full(s);
	return err ?: settle_err;
}

static int live_end_view(struct session *s, int err)
{
	struct session_inside *in = s->inside;

	if (!err)
		return in->view->on_end(in->state, s);
	if (in->recorder && in->view_started && in->view->on_keep)
		in->view->on_keep(in->state, s);
	return err;
}

static int live_end_recorder(struct session *s)
{
	struct session_inside *in = s->inside;
	int keep_err = in->source->keep_end ? in->source->keep_end(s) : 0;
	int err = 0;

	if (in->recorder)
		err = recorder__finish(in->recorder, in->last_ns,
				       s->ledger_known ? &s->ledger : NULL);
	if (in->recorder)
		s->ledger.lost[LOST_WRITE] = recorder__nr_unwritten(in->recorder);
	session_check_full(s);
	return err ?: keep_err;
}

static int live_end(struct session *s, int err)
{
	struct session_inside *in = s->inside;
	int end_err;

	live_set_time(s);
	session__status(s, "");
	in->view_failed = err;
	in->source->detach(s);
	end_err = live_drain(s);
	err = live_end_view(s, err ?: end_err);
	end_err = live_end_recorder(s);
	if (!err && in->source->ledger)
		in->source->ledger(s);
	return err ?: end_err;
}

int session_live(struct session *s, char **argv)
{
	struct session_inside *in = s->inside;
	int err = argv && argv[0] ? loop__start_child(in->loop, argv) : 0;

	err = err ?: live_send_scout(s);
	err = err ?: live_open_ring(s);
	err = err ?: in->source->open(s);
	if (err)
		return err;
	err = live_start(s);
	if (!err)
		live_drop_privileges(s);
	else if (!in->recorder)
		return err;
	in->stopped |= err;
	return live_end(s, err ?: loop__run(in->loop));
}
