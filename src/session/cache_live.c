/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_live.c: a run of the page cache's collector: its programs are attached, the view reads
 * their rows at every tick, and what ids stand for is asked once, while it is there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/privilege.h"
#include "collect/cache.h"
#include "collect/cgroup.h"
#include "session/cache_info.h"
#include "session/source.h"

static const uint64_t cache_poll_ns = 20000000; /* a line is seen within 50 ms */

enum { CACHE_KEPT_EVENTS = 512 }; /* that wait until they are written */

struct session_cache_state {
	struct cache *cache;
	struct cache_about about;
	bool events, then_io;
	struct glossary known[NR_GLOSSARIES];
	/* with a recorder: */
	struct cache_table kept; /* as they were written last */
	int kept_err;
	struct cache_command told[CACHE_KEPT_EVENTS];
	size_t nr_told;
};

/* ---- what is kept ---- */

static void cache_keep_row(void *arg, const struct cache_tags *tags,
			   const uint64_t counts[NR_CACHE_COUNTS])
{
	struct session_cache_state *state = arg;

	state->kept_err = state->kept_err ?: cache_table__add(&state->kept, tags, counts);
}

/* What came since the last reading. False: nothing. */
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
	struct session_cache_state *state = s->inside->cache;
	int err = recorder__cache_events(s->inside->recorder, state->told, state->nr_told);

	state->nr_told = 0;
	return err;
}

static int cache_keep_reading(struct session *s)
{
	struct session_cache_state *state = s->inside->cache;
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
	if (s->inside->cache->nr_told)
		err = cache_keep_told(s);
	err = err ?: cache_keep_reading(s);
	session_check_full(s);
	return err;
}

static int cache_keep_event(struct session *s, const struct cache_event *event)
{
	struct session_cache_state *state = s->inside->cache;
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

static int cache_on_poll(void *arg)
{
	struct session *s = arg;
	int err = cache__events(s->inside->cache->cache, cache_hand_on, s);

	return err ?: session_flush(s);
}

/* ---- time ---- */

static void cache_set_time(struct session *s)
{
	session_set_time(s, clock__mono_ns());
	s->span_s = s->elapsed_s;
}

/* A view that is told every miss has no rows in between. */
static bool cache_ticks(const struct session *s)
{
	return s->inside->view->on_tick && (!s->inside->cache->events || !s->inside->view->on_miss);
}

static int cache_on_tick(void *arg)
{
	struct session *s = arg;
	const struct option_number *count = &s->options->run.count;
	int err;

	cache_set_time(s);
	err = cache_keep(s);
	if (!err && cache_ticks(s))
		err = session_tick(s);
	if (count->given && cache_ticks(s) && s->inside->ticks >= count->value)
		loop__stop(s->inside->loop);
	return err;
}

static int cache_time_is_up(void *arg)
{
	loop__stop(((struct session *)arg)->inside->loop);
	return 0;
}

static int cache_arm(struct session *s)
{
	const struct option_number *duration = &s->options->run.duration_ns;
	struct loop *loop = s->inside->loop;
	int err = 0;

	if (s->inside->cache->events)
		err = loop__every(loop, cache_poll_ns, cache_on_poll, s);
	if (!err && (cache_ticks(s) || s->inside->recorder))
		err = loop__every(loop, session_interval(s), cache_on_tick, s);
	if (!err && duration->given)
		err = loop__after(loop, duration->value, cache_time_is_up, s);
	return err;
}

/* ---- what ids stand for ---- */

static char *cache_find_text(const struct cache *cache, enum glossary_kind kind,
			     struct glossary_id id)
{
	char path[4096];

	if (kind == GLOSSARY_FILES)
		return cache__file(cache, id.words[0], id.words[1]);
	if (kind == GLOSSARY_DISKS)
		return cache__disk((uint32_t)id.words[0]);
	if (kind == GLOSSARY_CGROUPS && cgroup__path(id.words[0], path, sizeof(path))[0] == '/')
		return strdup(path);
	return NULL;
}

static const char *cache_text(const struct session *s, enum glossary_kind kind,
			      struct glossary_id id)
{
	struct session_cache_state *state = s->inside->cache;
	const struct glossary_entry *entry = glossary__find(&state->known[kind], id);
	char *text;

	if (entry)
		return entry->text;
	text = cache_find_text(state->cache, kind, id);
	entry = glossary__add(&state->known[kind], id, text);
	free(text);
	return entry ? entry->text : NULL;
}

static bool cache_knows(const struct session *s, enum glossary_kind kind)
{
	(void)s;
	return kind != GLOSSARY_STACKS;
}

/* ---- the run ---- */

static const char *cache_text_of(void *s, enum glossary_kind kind, struct glossary_id id)
{
	return cache_text(s, kind, id);
}

/* After the programs were attached: who may not measure must not empty an old file. */
static int cache_open_recorder(struct session *s)
{
	const struct recorder_run run = {
		.options = &s->options->file,
		.text = cache_text_of,
		.arg = s,
		.start_ns = s->start_ns,
	};
	const struct session_cache_state *state = s->inside->cache;
	const struct capture_clock clock = session_clock();
	int err;

	if (!s->options->file.write)
		return 0;
	err = recorder__new(&run, &s->inside->recorder);
	err = err ?: recorder__clock(s->inside->recorder, &clock);
	return err
		       ?: cache_info__put_start(s->inside->recorder, &state->about,
						state->then_io	? CACHE_TELLS_COMMANDS
						: state->events ? CACHE_TELLS_MISSES
								: CACHE_TELLS_NOTHING);
}

static bool cache_wants_filter(const struct cache_wants *w)
{
	const struct filter_options *f = w->filter;

	return f->pid.given || f->comm || f->cgroup || f->devices.nr || w->tid.given || w->file;
}

static void cache_fill_about(struct session_cache_state *state, const struct cache_wants *wants)
{
	struct cache_about *about = &state->about;

	about->method = cache__method(state->cache);
	snprintf(about->unseen, sizeof(about->unseen), "%s", cache__unseen(state->cache));
	about->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	about->filtered = cache_wants_filter(wants);
}

/* Who reads a capture may ask for anything: rows are told apart by all of it. */
static struct cache_wants cache_all_wants(const struct session *s)
{
	struct cache_wants wants = s->inside->view->wants_cache(s->inside->state, s->options);

	if (s->options->file.write)
		wants.by = (1u << NR_CACHE_BY) - 1;
	return wants;
}

static int cache_begin(struct session *s, char **argv)
{
	struct session_inside *in = s->inside;
	const struct cache_wants wants = cache_all_wants(s);
	int err;

	in->cache = calloc(1, sizeof(*in->cache));
	if (!in->cache)
		return log_err(-ENOMEM, "out of memory");
	in->cache->events = wants.events;
	in->cache->then_io = wants.then_io;
	in->cache->about.cached_before = cache__kernels_pages();
	err = cache__open(&in->cache->cache, &wants);
	if (!err && argv && argv[0])
		err = loop__start_child(in->loop, argv);
	if (err)
		return err;
	s->start_ns = in->last_ns = cache__start_ns(in->cache->cache);
	cache_fill_about(in->cache, &wants);
	err = cache_open_recorder(s);
	err = err ?: in->view->on_start(in->state, s);
	err = err ?: session_flush(s);
	return err ?: cache_arm(s);
}

/* As live.c: the COMMAND was forked before and keeps what we had. */
static void cache_drop_privileges(const struct session *s)
{
	const struct privilege_needs needs = { .child = loop__child_pid(s->inside->loop) };

	if (!s->options->run.keep_privileges)
		privilege__drop(&needs);
}

static int cache_end_recorder(struct session *s)
{
	struct cache_losses losses;
	int put, err;

	if (!s->inside->recorder)
		return 0;
	cache__losses(s->inside->cache->cache, &losses);
	put = cache_info__put_end(s->inside->recorder, &s->inside->cache->about, &losses);
	err = recorder__finish(s->inside->recorder, s->inside->last_ns, NULL);
	session_check_full(s);
	return err ?: put;
}

/* A run that failed, or whose reader has gone, still ends its capture. */
static int cache_end(struct session *s, int err)
{
	struct session_inside *in = s->inside;
	int end_err;

	cache_set_time(s);
	session__status(s, "");
	in->view_failed = err;
	cache__detach(in->cache->cache);
	in->cache->about.cached_after = cache__kernels_pages();
	end_err = cache__events(in->cache->cache, cache_hand_on, s);
	end_err = end_err ?: cache_keep(s);
	err = err ?: end_err;
	err = err ?: in->view->on_end(in->state, s);
	end_err = cache_end_recorder(s);
	return err ?: end_err;
}

static int cache_run(struct session *s, char **argv)
{
	int err = cache_begin(s, argv);

	if (err)
		return s->inside->recorder ? cache_end(s, err) : err;
	cache_drop_privileges(s);
	return cache_end(s, loop__run(s->inside->loop));
}

static const struct cache_about *cache_about(const struct session *s)
{
	return &s->inside->cache->about;
}

static void cache_read(const struct session *s, cache_row_fn fn, void *arg)
{
	cache__read(s->inside->cache->cache, fn, arg);
}

static void cache_losses(const struct session *s, struct cache_losses *losses)
{
	cache__losses(s->inside->cache->cache, losses);
}

static void cache_free(struct session *s)
{
	struct session_cache_state *state = s->inside->cache;

	if (!state)
		return;
	for (int kind = 0; kind < NR_GLOSSARIES; kind++)
		glossary__free(&state->known[kind]);
	cache_table__free(&state->kept);
	cache__free(state->cache);
	free(state);
}

const struct session_source session_cache = {
	.run = cache_run,
	.cache_about = cache_about,
	.cache_read = cache_read,
	.cache_losses = cache_losses,
	.text = cache_text,
	.knows = cache_knows,
	.free = cache_free,
};
