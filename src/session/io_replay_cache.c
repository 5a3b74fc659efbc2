/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_replay_cache.c: what captures of the page cache say beside the records of others: for a view
 * of I/O that asks for it. Reads their chunks once more, one after the other.
 */
#include <inttypes.h>
#include <string.h>
#include "base/log.h"
#include "session/host_source.h"
#include "session/io_replay.h"
#include "session/io_source.h"
#include "session/source.h"

static bool replay_shows(const struct session *s, uint64_t time_ns)
{
	return time_ns >= s->inside->span.from_ns && time_ns <= s->inside->span.to_ns;
}

/* Events of one chunk are a moment apart: the first one decides. */
static uint64_t replay_cache_time(const struct capture_cache *chunk)
{
	return chunk->is_reading  ? chunk->time_ns
	       : chunk->nr_events ? chunk->events[0].event.start_ns
				  : 0;
}

static int replay_each_cache_of(struct session *s, size_t nr, io_cache_fn fn, void *arg)
{
	struct capture_merge *merge = io_replay(s)->merge;
	const struct capture_reader *reader = capture_merge__reader(merge, nr);
	const uint64_t page_bytes =
		capture_about__info_number(capture_reader__about(reader), "cache_page_bytes", 4096);
	const struct io_beside of = { capture_reader__path(reader), nr, host_source__of(s, nr) };
	struct capture_cache chunk = { 0 };
	int err = 0, more = 0;

	while (!err && (more = capture_merge__next_cache(merge, nr, &chunk)) > 0)
		if (replay_shows(s, replay_cache_time(&chunk) + capture_merge__shift_ns(merge, nr)))
			err = fn(arg, &of, page_bytes, &chunk);
	capture_cache__free(&chunk);
	return more < 0 ? log_err(more, "cannot read the capture: %s", strerror(-more)) : err;
}

static void replay_tell_lost_events(const struct capture_reader *reader)
{
	const uint64_t lost =
		capture_about__info_number(capture_reader__about(reader), "cache_lost_events", 0);

	if (lost)
		log_warn("%s lacks %" PRIu64 " events of the page cache",
			 capture_reader__path(reader), lost);
}

bool io_replay_has_commands(const struct capture_merge *merge)
{
	for (size_t i = 0; i < capture_merge__nr(merge); i++)
		if (capture_reader__nr_records(capture_merge__reader(merge, i)))
			return true;
	return false;
}

/* Without commands there is nothing for it to stand beside. */
int io_replay_each_cache(struct session *s, io_cache_fn fn, void *arg)
{
	const struct capture_merge *merge = io_replay(s)->merge;
	int err = 0;

	if (!io_replay_has_commands(merge))
		return 0;
	io_replay(s)->tells_cache = true;
	for (size_t i = 0; i < capture_merge__nr(merge) && !err; i++)
		if (capture_reader__has_cache(capture_merge__reader(merge, i), false)) {
			replay_tell_lost_events(capture_merge__reader(merge, i));
			err = replay_each_cache_of(s, i, fn, arg);
		}
	return err;
}

bool io_replay_has_beside(const struct session *s)
{
	const struct capture_merge *merge = io_replay(s)->merge;

	for (size_t i = 0; i < capture_merge__nr(merge); i++)
		if (capture_reader__has_cache(capture_merge__reader(merge, i), false) ||
		    capture_reader__has_waits(capture_merge__reader(merge, i)))
			return io_replay_has_commands(merge);
	return false;
}
