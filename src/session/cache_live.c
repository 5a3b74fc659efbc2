/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_live.c: the page cache of this machine: programs count in rows, which the view reads at
 * every tick and -w stores as differences; single misses are sent if wanted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "collect/cache.h"
#include "session/cache_info.h"
#include "session/cache_source.h"
#include "session/source.h"

enum { CACHE_KEPT_EVENTS = 512 }; /* events that wait to be written */

struct cache_live {
	struct cache *cache;
	struct cache_about about;
	bool events, then_io;
	/* with a recorder: */
	struct cache_table kept; /* rows as last written */
	int kept_err;
	struct cache_command told[CACHE_KEPT_EVENTS];
	size_t nr_told;
};

static struct cache_live *cache_live(const struct session *s)
{
	return s->inside->data;
}

/* ---- what is kept ---- */

static void cache_keep_row(void *arg, const struct cache_tags *tags,
			   const uint64_t counts[NR_CACHE_COUNTS])
{
	struct cache_live *state = arg;

	state->kept_err = state->kept_err ?: cache_table__add(&state->kept, tags, counts);
}

/* The difference since the last reading. False: nothing changed. */
static bool cache_row_since(const struct cache_sum *sum, struct capture_cache_row *row)
{
	const struct cache_tags *tags = &sum->tags;
	uint64_t any = 0;

	memset(row, 0, sizeof(*row));
	if (!tags->other) {
		row->key.inode = tags->inode;
		row->key.cgroup = tags->cgroup;
		row->key.dev = tags->dev;
		row->key.pid = tags->pid;
		row->key.what = cache_key_what((uint32_t)(tags->op + 1), tags->nth);
		memcpy(row->key.comm, tags->comm, sizeof(row->key.comm));
	}
	for (int i = 0; i < NR_CACHE_COUNTS; i++) {
		row->counts[i] = sum->now[i] - sum->before[i];
		any |= row->counts[i];
	}
	return any;
}

static int cache_keep_told(struct session *s)
{
	struct cache_live *state = cache_live(s);
	int err = recorder__cache_events(s->inside->recorder, state->told, state->nr_told);

	state->nr_told = 0;
	return err;
}

static int cache_keep_reading(struct session *s)
{
	struct cache_live *state = cache_live(s);
	struct capture_cache_row *rows;
	size_t nr = 0;
	int err;

	cache_table__begin(&state->kept);
	cache__read(state->cache, cache_keep_row, state);
	rows = calloc(state->kept.nr + 1, sizeof(*rows));
	if (!rows || state->kept_err) {
		free(rows);
		return log_err(-ENOMEM, "out of memory");
	}
	for (size_t i = 0; i < state->kept.nr; i++)
		nr += cache_row_since(&state->kept.sums[i], &rows[nr]);
	err = recorder__cache_rows(s->inside->recorder, s->inside->last_ns, rows, nr);
	free(rows);
	return err;
}

/* Everything until now. */
static int cache_keep(struct session *s)
{
	int err = 0;

	if (!s->inside->recorder)
		return 0;
	if (cache_live(s)->nr_told)
		err = cache_keep_told(s);
	err = err ?: cache_keep_reading(s);
	session_check_full(s);
	return err;
}

static int cache_keep_event(struct session *s, const struct cache_event *event)
{
	struct cache_live *state = cache_live(s);
	size_t size =
		event->told == CACHE_TOLD_COMMAND ? sizeof(struct cache_command) : sizeof(*event);

	memset(&state->told[state->nr_told], 0, sizeof(state->told[0]));
	memcpy(&state->told[state->nr_told++], event, size);
	return state->nr_told == CACHE_KEPT_EVENTS ? cache_keep_told(s) : 0;
}

/* ---- events ---- */

static int cache_hand_on(void *arg, const struct cache_event *event)
{
	struct session *s = arg;
	struct session_inside *in = s->inside;
	int err = 0;

	if (in->stopped)
		return 0;
	if (in->recorder)
		err = cache_keep_event(s, event);
	if (!err && in->view->on_miss && !in->view_failed)
		err = in->view->on_miss(in->state, s, event);
	return err;
}

/* In the order of the ring: no need to wait. */
static int cache_drain(struct session *s, enum session_drain what)
{
	(void)what;
	return cache__events(cache_live(s)->cache, cache_hand_on, s);
}

/* ---- what ids stand for ---- */

static char *cache_find_text(const struct session *s, enum glossary_kind kind,
			     struct glossary_id id)
{
	if (kind == GLOSSARY_FILES)
		return cache__file(cache_live(s)->cache, id.words[0], id.words[1]);
	return kind == GLOSSARY_DISKS ? cache__disk((uint32_t)id.words[0]) : NULL;
}

/* ---- the run ---- */

static int cache_open(struct session *s)
{
	struct session_inside *in = s->inside;
	struct cache_wants wants = in->view->wants_cache(in->state, s->options);
	const struct filter_options *f = wants.filter;
	struct cache_live *live = in->data = calloc(1, sizeof(*live));
	int err;

	if (!live)
		return log_err(-ENOMEM, "out of memory");
	if (s->options->file.write) /* a replay may ask for any key */
		wants.by = (1u << NR_CACHE_BY) - 1;
	in->drains = live->events = wants.events;
	/* A view that is told every miss has no rows in between. */
	in->view_rests = wants.events && in->view->on_miss;
	live->then_io = wants.then_io;
	live->about.cached_before = cache__kernels_pages();
	err = cache__open(&live->cache, &wants);
	if (err)
		return err;
	s->start_ns = cache__start_ns(live->cache);
	live->about.method = cache__method(live->cache);
	snprintf(live->about.unseen, sizeof(live->about.unseen), "%s", cache__unseen(live->cache));
	live->about.page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	live->about.filtered = f->pid.given || f->comm || f->cgroup || f->devices.nr ||
			       wants.tid.given || wants.file;
	return 0;
}

static int cache_keep_start(struct session *s)
{
	const struct cache_live *live = cache_live(s);

	return cache_info__put_start(s->inside->recorder, &live->about,
				     live->then_io  ? CACHE_TELLS_COMMANDS
				     : live->events ? CACHE_TELLS_MISSES
						    : CACHE_TELLS_NOTHING);
}

static void cache_detach(struct session *s)
{
	cache__detach(cache_live(s)->cache);
	cache_live(s)->about.cached_after = cache__kernels_pages();
}

static int cache_keep_end(struct session *s)
{
	struct cache_losses losses;

	if (!s->inside->recorder)
		return 0;
	cache__losses(cache_live(s)->cache, &losses);
	return cache_info__put_end(s->inside->recorder, &cache_live(s)->about, &losses);
}

static const struct cache_about *cache_about(const struct session *s)
{
	return &cache_live(s)->about;
}

static void cache_read(const struct session *s, cache_row_fn fn, void *arg)
{
	cache__read(cache_live(s)->cache, fn, arg);
}

static void cache_losses(const struct session *s, struct cache_losses *losses)
{
	cache__losses(cache_live(s)->cache, losses);
}

static void cache_free(struct session *s)
{
	struct cache_live *state = cache_live(s);

	if (!state)
		return;
	cache_table__free(&state->kept);
	cache__free(state->cache);
	free(state);
}

static const struct cache_answers cache_answers = {
	.about = cache_about,
	.read = cache_read,
	.losses = cache_losses,
};

const struct session_source session_cache_live = {
	.open = cache_open,
	.keep_start = cache_keep_start,
	.tick = cache_keep,
	.drain = cache_drain,
	.detach = cache_detach,
	.settle = cache_keep,
	.keep_end = cache_keep_end,
	.find_text = cache_find_text,
	.cache = &cache_answers,
	.free = cache_free,
};
