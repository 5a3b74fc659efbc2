/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_replay.c: replays the page cache from captures: readings and events come from the files,
 * and so does the time; filters are applied here. Requires no privileges. Rows have all keys that
 * --by may ask for; threads and the order of events within a reading are not recorded. With several
 * captures, intervals are those of -i, whenever each was read.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "capture/cache_merge.h"
#include "capture/filter.h"
#include "session/cache_info.h"
#include "session/cache_source.h"
#include "session/host_source.h"
#include "session/source.h"

struct cache_replay {
	struct capture_merge *merge;
	struct cache_merge caches;
	const struct capture_cache *chunk; /* at hand */
	struct cache_table rows;	   /* sum of all rows so far */
	struct cache_about about;
	struct cache_losses losses;
	struct cache_wants wants;
	size_t nr_captures; /* that have data of the page cache */
	uint64_t end_ns;    /* of the last recording; 0: it was cut */
	uint64_t last_ns;   /* time of the last reading that is shown */
	bool has_untold;    /* readings since the last tick */
};

static struct cache_replay *cache_replay(const struct session *s)
{
	return s->inside->data;
}

static const struct capture_about *cache_capture(const struct session *s)
{
	return capture_merge__about(cache_replay(s)->merge);
}

/* ---- filters ---- */

/* "nvme0n1" includes its partitions: nvme0n1p1, sda1. */
static bool cache_is_disk(const char *name, const char *wanted)
{
	wanted += strncmp(wanted, "/dev/", 5) ? 0 : 5;
	return !strcmp(name, wanted) || device__may_have_partition(wanted, name);
}

static bool cache_wants_disk(const struct session *s, uint32_t dev)
{
	const struct option_list *devices = &cache_replay(s)->wants.filter->devices;
	char name[64];

	session__disk(s, dev, name, sizeof(name));
	for (size_t i = 0; i < devices->nr; i++)
		if (cache_is_disk(name, devices->words[i]))
			return true;
	return !devices->nr;
}

static bool cache_wants_file(const struct session *s, uint64_t inode, uint64_t place)
{
	const char *wanted = cache_replay(s)->wants.file;
	const char *path = wanted ? session__file(s, inode, place) : NULL;

	if (wanted && (!path || strcmp(path, wanted)))
		return false;
	return cache_wants_disk(s, (uint32_t)place);
}

static bool cache_wants_task(const struct session *s, uint32_t pid, const char *comm)
{
	const struct filter_options *f = cache_replay(s)->wants.filter;

	if (f->pid.given && f->pid.value != pid)
		return false;
	return !f->comm || !strncmp(f->comm, comm, CACHE_COMM_LEN);
}

static bool cache_filters(const struct session *s)
{
	const struct cache_wants *w = &cache_replay(s)->wants;

	return w->filter->pid.given || w->filter->comm || w->filter->cgroup ||
	       w->filter->devices.nr || w->file;
}

static bool cache_wants_row(const struct session *s, const struct cache_key *key)
{
	const struct filter_options *f = cache_replay(s)->wants.filter;
	const struct glossary_id cgroup = { { key->cgroup } };
	const char *path;

	if (!cache_filters(s))
		return true;
	path = f->cgroup ? session_text(s, GLOSSARY_CGROUPS, cgroup) : NULL;
	if (f->cgroup && (!path || !capture_filter__is_in_cgroup(path, f->cgroup)))
		return false;
	return cache_key_op(key) && cache_wants_task(s, key->pid, key->comm) &&
	       cache_wants_file(s, key->inode, io_file_place(key->dev, cache_key_nth(key)));
}

static bool cache_wants_event(const struct session *s, const struct cache_event *e)
{
	const struct cache_replay *c = cache_replay(s);

	if (e->start_ns < s->inside->span.from_ns || e->start_ns >= s->inside->span.to_ns)
		return false;
	if (c->wants.tid.given && c->wants.tid.value != e->tid)
		return false;
	return cache_wants_task(s, e->pid, e->comm) &&
	       cache_wants_file(s, e->inode, io_file_place(e->dev, e->nth));
}

/* ---- contents of the file ---- */

static int cache_take_rows(struct session *s)
{
	struct cache_replay *c = cache_replay(s);
	struct cache_tags tags;

	for (size_t i = 0; i < c->chunk->nr_rows; i++) {
		const struct capture_cache_row *row = &c->chunk->rows[i];

		if (!cache_wants_row(s, &row->key))
			continue;
		if (cache_key_op(&row->key))
			cache_tags__set(&tags, &row->key);
		else
			tags = (struct cache_tags){ .op = -1, .other = true };
		tags.host = host_source__here(s);
		if (cache_table__add(&c->rows, &tags, row->counts))
			return log_err(-ENOMEM, "out of memory");
	}
	return 0;
}

static int cache_tick(struct session *s, uint64_t now_ns)
{
	int err;

	session_set_time(s, now_ns);
	s->span_s = s->elapsed_s;
	cache_replay(s)->has_untold = false;
	err = session_tick(s);
	s->inside->stopped |= session_has_count(s);
	return err;
}

/*
 * Several machines are not read at the same moments: a reading belongs to the interval whose end is
 * nearest.
 */
static int cache_tick_before(struct session *s, uint64_t now_ns)
{
	const struct cache_replay *c = cache_replay(s);
	uint64_t *next_ns = &s->inside->span.next_tick_ns, interval = session_interval(s);
	uint64_t end_ns = *next_ns;

	if (!s->inside->view->on_tick || c->wants.events || now_ns < end_ns + interval / 2)
		return 0;
	*next_ns += ((now_ns - end_ns - interval / 2) / interval + 1) * interval;
	return c->has_untold ? cache_tick(s, end_ns) : 0;
}

/* The recording's own intervals, unless -i asks for longer ones. */
static bool cache_ticks(struct session *s, uint64_t now_ns)
{
	const struct cache_replay *c = cache_replay(s);
	uint64_t *next_ns = &s->inside->span.next_tick_ns, interval = session_interval(s);

	if (!s->inside->view->on_tick || c->wants.events || now_ns == c->end_ns)
		return false; /* the end shows the last one */
	if (c->nr_captures > 1)
		return false; /* cache_tick_before does */
	if (!s->options->run.interval_ns.given)
		return true;
	if (now_ns < *next_ns)
		return false;
	*next_ns += ((now_ns - *next_ns) / interval + 1) * interval;
	return true;
}

static int cache_reading(struct session *s)
{
	struct cache_replay *c = cache_replay(s);
	uint64_t now_ns = c->chunk->time_ns;
	int err = 0;

	if (now_ns > s->inside->span.to_ns) {
		s->inside->stopped = true;
		return 0;
	}
	if (now_ns <= s->inside->span.from_ns)
		return 0;
	if (c->nr_captures > 1)
		err = cache_tick_before(s, now_ns);
	if (err || s->inside->stopped)
		return err;
	err = cache_take_rows(s);
	c->last_ns = now_ns;
	c->has_untold = true;
	return err || !cache_ticks(s, now_ns) ? err : cache_tick(s, now_ns);
}

static int cache_events(struct session *s)
{
	struct cache_replay *c = cache_replay(s);
	int err = 0;

	for (size_t i = 0; i < c->chunk->nr_events && !err && !s->inside->stopped; i++) {
		const struct cache_event *event = &c->chunk->events[i].event;

		if (c->wants.events && cache_wants_event(s, event))
			err = s->inside->view->on_miss(s->inside->state, s, event);
	}
	return err;
}

static int cache_next(struct session *s, uint64_t *time_ns)
{
	struct cache_replay *c = cache_replay(s);
	int err;

	*time_ns = 0;
	c->chunk = cache_merge__next(&c->caches, &err);
	return c->chunk ? 1 : err;
}

static int cache_hand_on(struct session *s)
{
	return cache_replay(s)->chunk->is_reading ? cache_reading(s) : cache_events(s);
}

/* ---- the run ---- */

static int cache_check_file(const struct cache_replay *c, const struct capture_reader *reader,
			    enum cache_tells tells)
{
	const char *path = capture_reader__label(reader);

	if (c->wants.events && tells == CACHE_TELLS_NOTHING)
		return log_err(
			-EINVAL,
			"--events: %s contains no misses; record --cache --events keeps them",
			path);
	if (c->wants.then_io && tells != CACHE_TELLS_COMMANDS)
		return log_err(
			-EINVAL,
			"--then-io: %s contains no commands; record --cache --events keeps them",
			path);
	return 0;
}

/* Pages of two sizes do not add up. */
static int cache_check_pages(const struct cache_replay *c, const struct capture_reader *reader,
			     const struct cache_about *about)
{
	if (!c->nr_captures || c->about.page_bytes == about->page_bytes)
		return 0;
	return log_err(-EINVAL,
		       "%s has pages of %" PRIu64 " bytes, those before it of %" PRIu64
		       ": show them one by one",
		       capture_reader__label(reader), about->page_bytes, c->about.page_bytes);
}

/* Its counts are added to those of the files before it. */
static int cache_take_about(struct cache_replay *c, const struct capture_reader *reader)
{
	struct cache_losses losses;
	struct cache_about about;
	enum cache_tells tells = cache_info__get(capture_reader__about(reader), &about, &losses);
	int err = cache_check_file(c, reader, tells);

	err = err ?: cache_check_pages(c, reader, &about);
	if (err)
		return err;
	if (c->nr_captures++)
		cache_about__add(&c->about, &about);
	else
		c->about = about;
	cache_losses__add(&c->losses, &losses);
	return 0;
}

/* The run is from the first start to the last end. */
static void cache_find_span(struct session *s, const struct capture_reader *reader,
			    uint64_t shift_ns, bool is_first)
{
	const struct capture_about *about = capture_reader__about(reader);
	struct cache_replay *c = cache_replay(s);
	uint64_t start_ns =
		capture_about__info_number(about, CAPTURE_INFO_START, -shift_ns) + shift_ns;
	uint64_t end_ns = capture_about__info_number(about, CAPTURE_INFO_END, -shift_ns) + shift_ns;

	if (is_first || start_ns < s->start_ns)
		s->start_ns = c->last_ns = start_ns;
	if (end_ns > c->end_ns)
		c->end_ns = end_ns;
}

/* Of a merged file, those captures that have none are passed over. */
static int cache_check(struct session *s)
{
	struct cache_replay *c = cache_replay(s);
	const struct capture_reader *without = NULL;
	int err = 0;

	for (size_t i = 0; i < capture_merge__nr(c->merge) && !err; i++) {
		const struct capture_reader *reader = capture_merge__reader(c->merge, i);
		bool is_there = capture_reader__has_cache(reader, false);

		if (is_there) {
			cache_find_span(s, reader, capture_merge__shift_ns(c->merge, i),
					!c->nr_captures);
			err = cache_take_about(c, reader);
		} else if (!without || capture_reader__nr_parts(reader) == 1) {
			without = reader;
		}
	}
	if (!err && without && (!c->nr_captures || capture_reader__nr_parts(without) == 1))
		return log_err(-EINVAL, "%s contains no page cache data; record --cache keeps it",
			       capture_reader__path(without));
	if (err)
		return err;
	if (c->wants.filter->cgroup && c->wants.events)
		return log_err(-EINVAL, "--cgroup: misses in a capture have no cgroup");
	if (c->wants.tid.given && !c->wants.events)
		return log_err(-EINVAL, "--tid: rows of a capture are per process; use -p PID");
	return 0;
}

static int cache_open(struct session *s)
{
	const struct option_list *files = &s->options->file.read;
	struct cache_replay *c = calloc(1, sizeof(*c));
	int err;

	s->inside->data = c;
	s->inside->view_rests = true; /* a reading is a tick */
	if (!c)
		return log_no_memory();
	c->wants = s->inside->view->wants_cache(s->inside->state, s->options);
	err = capture_merge__open(files->words, files->nr, &c->merge);
	if (err)
		return session_file_err(err);
	host_source_tell_steps(c->merge);
	if (cache_merge__init(&c->caches, c->merge))
		return log_no_memory();
	err = cache_check(s);
	c->about.filtered |= cache_filters(s);
	return err;
}

static void cache_position(const struct session *s, uint64_t *at, uint64_t *all)
{
	const struct capture_merge *merge = cache_replay(s)->merge;

	*at = *all = 0;
	for (size_t i = 0; i < capture_merge__nr(merge); i++) {
		*at += capture_reader__position(capture_merge__reader(merge, i));
		*all += capture_reader__bytes(capture_merge__reader(merge, i));
	}
}

/* The kernel's page counts are for the whole run, not for a part of it. */
static void cache_finish(struct session *s)
{
	cache_replay(s)->about.filtered |= s->inside->stopped || s->options->file.from_ns.given;
	s->inside->span.end_ns = cache_replay(s)->last_ns;
}

static void cache_tell(struct session *s)
{
	const struct capture_merge *merge = cache_replay(s)->merge;

	for (size_t i = 0; i < capture_merge__nr(merge); i++) {
		const struct capture_reader *reader = capture_merge__reader(merge, i);
		const struct capture_damage *damage = capture_reader__damage(reader);

		capture_damage__tell(damage, capture_reader__label(reader));
		s->inside->lost |= !capture_damage__is_whole(damage);
	}
}

/* ---- what a view asks ---- */

static const struct cache_about *cache_about(const struct session *s)
{
	return &cache_replay(s)->about;
}

static void cache_read(const struct session *s, cache_row_fn fn, void *arg)
{
	const struct cache_table *rows = &cache_replay(s)->rows;

	for (size_t i = 0; i < rows->nr; i++)
		fn(arg, &rows->sums[i].tags, rows->sums[i].now);
}

static void cache_losses(const struct session *s, struct cache_losses *losses)
{
	*losses = cache_replay(s)->losses;
}

static const struct capture_merge *cache_captures(const struct session *s)
{
	return cache_replay(s)->merge;
}

static size_t cache_from(const struct session *s)
{
	return cache_replay(s)->caches.from;
}

static void cache_free(struct session *s)
{
	struct cache_replay *c = cache_replay(s);

	if (!c)
		return;
	cache_table__free(&c->rows);
	if (c->merge)
		cache_merge__free(&c->caches);
	capture_merge__free(c->merge);
	free(c);
}

static const struct cache_answers cache_answers = {
	.about = cache_about,
	.read = cache_read,
	.losses = cache_losses,
};

const struct session_source session_cache_replay = {
	.open = cache_open,
	.next = cache_next,
	.hand_on = cache_hand_on,
	.look_every = 1,
	.position = cache_position,
	.finish = cache_finish,
	.ledger = cache_tell,
	.about = cache_capture,
	.cache = &cache_answers,
	.captures = cache_captures,
	.from = cache_from,
	.free = cache_free,
};
