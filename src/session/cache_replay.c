/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_replay.c: replays the page cache from a capture: readings and events come from the file,
 * and so does the time; filters are applied here. Requires no privileges. Rows have all keys that
 * --by may ask for; threads and the order of events within a reading are not recorded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "capture/filter.h"
#include "capture/read.h"
#include "session/cache_info.h"
#include "session/cache_source.h"
#include "session/source.h"

struct cache_replay {
	struct capture_reader *reader;
	struct capture_cache chunk; /* at hand */
	struct cache_table rows;    /* sum of all rows so far */
	struct cache_about about;
	struct cache_losses losses;
	struct cache_wants wants;
	uint64_t end_ns;  /* of the recording; 0: it was cut */
	uint64_t last_ns; /* time of the last reading that is shown */
};

static struct cache_replay *cache_replay(const struct session *s)
{
	return s->inside->data;
}

static const struct capture_about *cache_capture(const struct session *s)
{
	return capture_reader__about(cache_replay(s)->reader);
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

	for (size_t i = 0; i < c->chunk.nr_rows; i++) {
		const struct capture_cache_row *row = &c->chunk.rows[i];

		if (!cache_wants_row(s, &row->key))
			continue;
		if (cache_key_op(&row->key))
			cache_tags__set(&tags, &row->key);
		else
			tags = (struct cache_tags){ .op = -1, .other = true };
		if (cache_table__add(&c->rows, &tags, row->counts))
			return log_err(-ENOMEM, "out of memory");
	}
	return 0;
}

/* The recording's own intervals, unless -i asks for longer ones. */
static bool cache_ticks(struct session *s, uint64_t now_ns)
{
	const struct cache_replay *c = cache_replay(s);
	uint64_t *next_ns = &s->inside->span.next_tick_ns, interval = session_interval(s);

	if (!s->inside->view->on_tick || c->wants.events || now_ns == c->end_ns)
		return false; /* the end shows the last one */
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
	uint64_t now_ns = c->chunk.time_ns;
	int err;

	if (now_ns > s->inside->span.to_ns) {
		s->inside->stopped = true;
		return 0;
	}
	if (now_ns <= s->inside->span.from_ns)
		return 0;
	err = cache_take_rows(s);
	c->last_ns = now_ns;
	if (err || !cache_ticks(s, now_ns))
		return err;
	session_set_time(s, now_ns);
	s->span_s = s->elapsed_s;
	err = session_tick(s);
	s->inside->stopped |= session_has_count(s);
	return err;
}

static int cache_events(struct session *s)
{
	struct cache_replay *c = cache_replay(s);
	int err = 0;

	for (size_t i = 0; i < c->chunk.nr_events && !err && !s->inside->stopped; i++) {
		const struct cache_event *event = &c->chunk.events[i].event;

		if (c->wants.events && cache_wants_event(s, event))
			err = s->inside->view->on_miss(s->inside->state, s, event);
	}
	return err;
}

static int cache_next(struct session *s, uint64_t *time_ns)
{
	*time_ns = 0;
	return capture_reader__next_cache(cache_replay(s)->reader, &cache_replay(s)->chunk);
}

static int cache_hand_on(struct session *s)
{
	return cache_replay(s)->chunk.is_reading ? cache_reading(s) : cache_events(s);
}

/* ---- the run ---- */

static int cache_check(const struct session *s, const char *path, enum cache_tells tells)
{
	const struct cache_replay *c = cache_replay(s);

	if (!capture_reader__has_cache(c->reader, false))
		return log_err(-EINVAL, "%s contains no page cache data; record --cache keeps it",
			       path);
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
		return log_err(-ENOMEM, "out of memory");
	if (files->nr > 1)
		return log_err(-EINVAL, "cache -r takes only one capture (also got '%s')",
			       files->words[1]);
	c->wants = s->inside->view->wants_cache(s->inside->state, s->options);
	err = capture_reader__open(files->words[0], &c->reader);
	if (err)
		return session_file_err(err);
	s->start_ns = c->last_ns =
		capture_about__info_number(cache_capture(s), CAPTURE_INFO_START, 0);
	c->end_ns = capture_about__info_number(cache_capture(s), CAPTURE_INFO_END, 0);
	err = cache_check(s, files->words[0],
			  cache_info__get(cache_capture(s), &c->about, &c->losses));
	c->about.filtered |= cache_filters(s);
	return err;
}

static void cache_position(const struct session *s, uint64_t *at, uint64_t *all)
{
	*at = capture_reader__position(cache_replay(s)->reader);
	*all = capture_reader__bytes(cache_replay(s)->reader);
}

/* The kernel's page counts are for the whole run, not for a part of it. */
static void cache_finish(struct session *s)
{
	cache_replay(s)->about.filtered |= s->inside->stopped || s->options->file.from_ns.given;
	s->inside->span.end_ns = cache_replay(s)->last_ns;
}

static void cache_tell(struct session *s)
{
	const struct capture_damage *damage = capture_reader__damage(cache_replay(s)->reader);

	capture_damage__tell(damage, s->options->file.read.words[0]);
	s->inside->lost |= !capture_damage__is_whole(damage);
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

static void cache_free(struct session *s)
{
	struct cache_replay *c = cache_replay(s);

	if (!c)
		return;
	cache_table__free(&c->rows);
	capture_cache__free(&c->chunk);
	capture_reader__free(c->reader);
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
	.free = cache_free,
};
