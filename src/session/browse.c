/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * browse.c: the run behind browse.h: the view visits one span of time after another, and the run
 * waits for its user between them. The ledger is that of the whole recording.
 */
#include "session/browse.h"

#include <errno.h>
#include <string.h>
#include "base/log.h"
#include "session/source.h"

void session__extent(const struct session *s, uint64_t *from_ns, uint64_t *to_ns)
{
	*from_ns = s->inside->extent.from_ns;
	*to_ns = s->inside->extent.end_ns;
}

bool session__is_damaged(const struct session *s)
{
	return s->inside->source->is_damaged(s);
}

static int browse_tick(struct session *s, uint64_t now_ns)
{
	struct session_inside *in = s->inside;

	session_set_time(s, now_ns);
	s->span_s = (double)(now_ns - in->span.from_ns) / 1e9;
	return in->view->on_tick(in->state, s);
}

/* Ends every interval that is over at now_ns, but not the last one. */
static int browse_ticks(struct session *s, uint64_t now_ns, uint64_t to_ns, uint64_t every_ns)
{
	uint64_t *next_ns = &s->inside->span.next_tick_ns;
	int err = 0;

	while (!err && *next_ns <= now_ns && *next_ns < to_ns) {
		err = browse_tick(s, *next_ns);
		*next_ns = session_later(*next_ns, every_ns);
	}
	return err;
}

static int browse_records(struct session *s, uint64_t to_ns, uint64_t every_ns)
{
	struct session_inside *in = s->inside;
	const struct session_source *source = in->source;
	unsigned int left = source->look_every;
	uint64_t time_ns = 0;
	int err = 0, more = 0;

	while (!err && (more = source->next(s, &time_ns)) > 0) {
		if (!--left) {
			left = source->look_every;
			if (loop__is_interrupted(in->loop))
				return -EINTR;
		}
		err = browse_ticks(s, time_ns, to_ns, every_ns);
		err = err ?: source->hand_on(s);
	}
	if (more < 0 && more != -EOPNOTSUPP)
		log_err(more, "cannot read the capture: %s", strerror(-more));
	return more < 0 ? more : err;
}

/* A span that reaches the end of the data has all that is there, also of its last nanosecond. */
int session__visit(struct session *s, uint64_t from_ns, uint64_t to_ns, uint64_t every_ns)
{
	struct session_inside *in = s->inside;
	bool to_end = to_ns >= in->extent.end_ns;
	int err;

	in->span.from_ns = in->last_ns = from_ns;
	in->span.to_ns = to_end ? in->extent.to_ns : to_ns;
	in->span.end_ns = to_end ? in->extent.end_ns : to_ns;
	in->span.next_tick_ns = session_later(from_ns, every_ns);
	in->source->seek(s);
	err = browse_records(s, to_ns, every_ns);
	err = err ?: browse_ticks(s, to_ns, to_ns, every_ns);
	err = err ?: browse_tick(s, in->span.end_ns);
	return err == -EINTR ? 0 : err; /* the loop ends */
}

int session_browse(struct session *s)
{
	struct session_inside *in = s->inside;
	int err = in->source->open(s);

	if (err)
		return err;
	session_bound(s);
	in->extent.from_ns = in->span.from_ns;
	in->extent.to_ns = in->span.to_ns;
	in->extent.end_ns = in->span.end_ns;
	in->source->finish(s);
	err = in->view->on_start(in->state, s);
	if (!err && !loop__is_interrupted(in->loop))
		err = loop__run(in->loop);
	err = err ?: in->view->on_end(in->state, s);
	err = err ?: session_flush(s);
	if (!err)
		in->source->ledger(s);
	return err;
}
