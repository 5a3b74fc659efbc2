/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replay.c: a replay of captures, for any source: reads records or chunks one after the other,
 * takes the time from them, and ends intervals as a live run would. Requires no privileges and no
 * particular kernel. A view gets the same calls as live, except for data that captures do not hold.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/progress.h"
#include "session/source.h"

enum { REPLAY_IDLE = 3600 }; /* consecutive empty intervals that are shown */

/* ---- when ---- */

/* --from, --to, -t: what is outside is skipped. */
void session_bound(struct session *s)
{
	struct session_inside *in = s->inside;
	const struct option_number *duration = &s->options->run.duration_ns;

	session__span(s, &in->span.from_ns, &in->span.to_ns);
	if (duration->given && session_later(in->span.from_ns, duration->value) < in->span.to_ns)
		in->span.to_ns = session_later(in->span.from_ns, duration->value);
	if (in->span.end_ns > in->span.to_ns)
		in->span.end_ns = in->span.to_ns;
	if (in->span.end_ns < in->span.from_ns)
		in->span.end_ns = in->span.from_ns;
	in->span.next_tick_ns = session_later(in->span.from_ns, session_interval(s));
	in->last_ns = in->span.from_ns;
	if (in->source->bound)
		in->source->bound(s);
}

static void replay_set_time(struct session *s, uint64_t now_ns)
{
	session_set_time(s, now_ns);
	s->span_s = (double)(now_ns - s->inside->span.from_ns) / 1e9;
}

/* The machine slept, or the file is wrong: skips to the interval of the next event. */
static void replay_skip_idle(struct session *s, uint64_t now_ns)
{
	uint64_t *next_ns = &s->inside->span.next_tick_ns, interval = session_interval(s);

	*next_ns += (now_ns - *next_ns) / interval * interval;
	s->inside->last_ns = *next_ns;
	*next_ns = session_later(*next_ns, interval);
}

static int replay_tick(struct session *s)
{
	struct session_inside *in = s->inside;
	int err;

	replay_set_time(s, in->span.next_tick_ns);
	in->span.next_tick_ns = session_later(in->span.next_tick_ns, session_interval(s));
	err = session_tick(s);
	if (session_has_count(s))
		in->stopped = true;
	else
		session_is_interrupted(s);
	return err;
}

/* Every interval that ended up to this time; -n may end the run with one. */
static int replay_ticks(struct session *s, uint64_t now_ns)
{
	struct session_inside *in = s->inside;
	uint64_t nr = 0;
	int err = 0;

	while (!err && !in->stopped && in->span.next_tick_ns <= now_ns && nr++ < REPLAY_IDLE)
		err = replay_tick(s);
	if (!err && !in->stopped && in->span.next_tick_ns <= now_ns)
		replay_skip_idle(s, now_ns);
	return err;
}

/* ---- records and chunks ---- */

static void replay_tell_interrupted(const struct session *s)
{
	uint64_t at, all;
	double percent;

	if (!s->inside->interrupted)
		return;
	s->inside->source->position(s, &at, &all);
	percent = all ? 100.0 * (double)at / (double)all : 0;
	log_warn("interrupted after %.0f %% of the capture: the output is incomplete",
		 percent > 99 ? 99 : percent);
}

/* Ctrl-C ends it with the summary, a closed pipe ends it without. */
static int replay_look(struct session *s, struct progress *progress)
{
	uint64_t at, all;

	session_is_interrupted(s);
	/* Lines that a view prints for each record on the same terminal are progress enough. */
	if (!s->inside->view->counts_records || !isatty(fileno(s->out))) {
		s->inside->source->position(s, &at, &all);
		progress__show(progress, at, all);
	}
	return session_flush(s);
}

static bool replay_has_ticks(const struct session *s)
{
	return s->inside->view->on_tick && !s->inside->view_rests;
}

static int replay_records(struct session *s, struct progress *progress)
{
	struct session_inside *in = s->inside;
	const struct session_source *source = in->source;
	const bool ticks = replay_has_ticks(s);
	unsigned int left = source->look_every;
	uint64_t time_ns = 0;
	int err = 0, more = 0;

	while (!err && !in->stopped && (more = source->next(s, &time_ns)) > 0) {
		if (left && !--left) {
			left = source->look_every;
			err = replay_look(s, progress);
		}
		if (!err && ticks && time_ns >= in->span.next_tick_ns)
			err = replay_ticks(s, time_ns);
		if (!err && !in->stopped)
			err = source->hand_on(s);
	}
	if (more < 0)
		return more == -EOPNOTSUPP
			       ? more
			       : log_err(more, "cannot read the capture: %s", strerror(-more));
	return err;
}

/* As its records would be handed on, all at once: if no interval ends between them. */
static int replay_take(struct session *s, const struct session_share *share)
{
	struct session_inside *in = s->inside;
	const bool ticks = replay_has_ticks(s) && share->nr;
	int err = 0;

	if (!share->is_made)
		return -EAGAIN;
	if (ticks && share->first_ns >= in->span.next_tick_ns)
		err = replay_ticks(s, share->first_ns);
	if (err || in->stopped)
		return err;
	if (ticks && share->last_ns >= in->span.next_tick_ns)
		return -EAGAIN;
	return in->source->take_share(s);
}

static int replay_shares(struct session *s, struct progress *progress)
{
	struct session_inside *in = s->inside;
	struct session_share share;
	int err = 0, more = 0;

	while (!err && !in->stopped && (more = in->source->next_share(s, &share)) > 0) {
		err = replay_look(s, progress);
		if (err || in->stopped)
			break;
		err = replay_take(s, &share);
		if (err == -EAGAIN)
			err = replay_records(s, progress);
		/* At once: a closed pipe is known by errno, and many lines are written unbuffered.
		 */
		err = err ?: session_flush(s);
	}
	return more < 0 ? more : err;
}

static int replay_all(struct session *s, struct progress *progress)
{
	struct session_inside *in = s->inside;
	const bool ticks = replay_has_ticks(s);
	int shared = in->source->share ? in->source->share(s) : 0;
	int err = shared > 0 ? replay_shares(s, progress) : shared;

	if (!shared)
		err = replay_records(s, progress);
	if (err)
		return err;
	if (!in->stopped && ticks)
		err = replay_ticks(s, in->span.end_ns);
	if (in->stopped && ticks) /* a run that stops early ends there */
		in->span.end_ns = in->last_ns;
	return err;
}

int session_replay(struct session *s)
{
	struct session_inside *in = s->inside;
	struct progress progress;
	int err = in->source->open(s);

	if (err)
		return err;
	session_bound(s);
	progress__begin(&progress);
	if (!in->source->starts_view)
		err = in->view->on_start(in->state, s);
	err = err ?: replay_all(s, &progress);
	progress__clear(&progress);
	if (err)
		return err;
	replay_tell_interrupted(s);
	if (in->source->finish)
		in->source->finish(s);
	replay_set_time(s, in->span.end_ns);
	err = in->view->on_end(in->state, s);
	if (!err)
		session_show_ledger(s);
	err = err ?: session_flush(s);
	if (!err) /* a closed pipe gets no message */
		in->source->ledger(s);
	return err;
}
