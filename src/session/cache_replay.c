/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_replay.c: a run of the page cache out of a capture: readings and events come from the
 * file, time is theirs, filters are applied here. Needs no privileges. Rows are told apart by all
 * that --by may ask for; threads and the order of events within a reading are not in them.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "capture/read.h"
#include "session/cache_info.h"
#include "session/source.h"

struct session_cached_state {
	struct capture_reader *reader;
	struct capture_cache chunk; /* at hand */
	struct cache_table rows;    /* all that came so far */
	struct cache_about about;
	struct cache_losses losses;
	struct cache_wants wants;
	uint64_t from_ns, to_ns, next_tick_ns;
	uint64_t end_ns;  /* of the recording; 0: it was cut */
	uint64_t last_ns; /* of the readings that are shown */
};

static const struct capture_about *cached_capture(const struct session *s)
{
	return capture_reader__about(s->inside->cached->reader);
}

static const char *cached_text(const struct session *s, enum glossary_kind kind,
			       struct glossary_id id)
{
	return capture_about__text(cached_capture(s), kind, id);
}

/* ---- filters ---- */

/* "/a" means itself and what is below it; so does "/sys/fs/cgroup/a". */
static bool cached_is_below(const char *path, const char *above)
{
	static const char root[] = "/sys/fs/cgroup";
	size_t len;

	if (!path)
		return false;
	if (!strncmp(above, root, strlen(root)))
		above += strlen(root);
	above += strspn(above, "/");
	path += strspn(path, "/");
	len = strlen(above);
	while (len && above[len - 1] == '/')
		len--;
	return !len || (!strncmp(path, above, len) && (!path[len] || path[len] == '/'));
}

/* "nvme0n1" means its partitions, too: nvme0n1p1, sda1. */
static bool cached_is_disk(const char *name, const char *wanted)
{
	size_t len;

	if (!strncmp(wanted, "/dev/", 5))
		wanted += 5;
	len = strlen(wanted);
	if (!len || strncmp(name, wanted, len))
		return false;
	name += len;
	if (!*name)
		return true;
	if (isdigit((unsigned char)wanted[len - 1]) && *name++ != 'p')
		return false;
	return *name && name[strspn(name, "0123456789")] == 0;
}

static bool cached_wants_disk(const struct session *s, uint32_t dev)
{
	const struct option_list *devices = &s->inside->cached->wants.filter->devices;
	char name[64];

	session__disk(s, dev, name, sizeof(name));
	for (size_t i = 0; i < devices->nr; i++)
		if (cached_is_disk(name, devices->words[i]))
			return true;
	return !devices->nr;
}

static bool cached_wants_file(const struct session *s, uint64_t inode, uint64_t place)
{
	const char *wanted = s->inside->cached->wants.file;
	const char *path = wanted ? session__file(s, inode, place) : NULL;

	if (wanted && (!path || strcmp(path, wanted)))
		return false;
	return cached_wants_disk(s, (uint32_t)place);
}

static bool cached_wants_task(const struct session *s, uint32_t pid, const char *comm)
{
	const struct filter_options *f = s->inside->cached->wants.filter;

	if (f->pid.given && f->pid.value != pid)
		return false;
	return !f->comm || !strncmp(f->comm, comm, CACHE_COMM_LEN);
}

static bool cached_filters(const struct session *s)
{
	const struct cache_wants *w = &s->inside->cached->wants;

	return w->filter->pid.given || w->filter->comm || w->filter->cgroup ||
	       w->filter->devices.nr || w->file;
}

static bool cached_wants_row(const struct session *s, const struct cache_key *key)
{
	const struct filter_options *f = s->inside->cached->wants.filter;
	const struct glossary_id cgroup = { { key->cgroup } };

	if (!cached_filters(s))
		return true;
	if (f->cgroup && !cached_is_below(cached_text(s, GLOSSARY_CGROUPS, cgroup), f->cgroup))
		return false;
	return cache_key_op(key) && cached_wants_task(s, key->pid, key->comm) &&
	       cached_wants_file(s, key->inode, io_file_place(key->dev, cache_key_nth(key)));
}

static bool cached_wants_event(const struct session *s, const struct cache_event *e)
{
	const struct session_cached_state *c = s->inside->cached;

	if (e->start_ns < c->from_ns || e->start_ns >= c->to_ns)
		return false;
	if (c->wants.tid.given && c->wants.tid.value != e->tid)
		return false;
	return cached_wants_task(s, e->pid, e->comm) &&
	       cached_wants_file(s, e->inode, io_file_place(e->dev, e->nth));
}

/* ---- what the file holds ---- */

static void cached_tags(const struct cache_key *key, struct cache_tags *tags)
{
	memset(tags, 0, sizeof(*tags));
	tags->op = (int)cache_key_op(key) - 1;
	tags->other = !cache_key_op(key);
	if (tags->other)
		return;
	tags->inode = key->inode;
	tags->nth = cache_key_nth(key);
	tags->cgroup = key->cgroup;
	tags->dev = key->dev;
	tags->pid = key->pid;
	memcpy(tags->comm, key->comm, sizeof(tags->comm));
	tags->comm[CACHE_COMM_LEN - 1] = 0;
}

static int cached_take_rows(struct session *s)
{
	struct session_cached_state *c = s->inside->cached;
	struct cache_tags tags;

	for (size_t i = 0; i < c->chunk.nr_rows; i++) {
		const struct capture_cache_row *row = &c->chunk.rows[i];

		if (!cached_wants_row(s, &row->key))
			continue;
		cached_tags(&row->key, &tags);
		if (cache_table__add(&c->rows, &tags, row->counts))
			return log_err(-ENOMEM, "out of memory");
	}
	return 0;
}

static void cached_set_time(struct session *s, uint64_t now_ns)
{
	session_set_time(s, now_ns);
	s->span_s = s->elapsed_s;
}

static bool cached_ticks(const struct session *s, uint64_t now_ns)
{
	const struct session_cached_state *c = s->inside->cached;

	return s->inside->view->on_tick && !c->wants.events && now_ns >= c->next_tick_ns &&
	       now_ns != c->end_ns; /* the last one is what the end shows */
}

/* The recording's own intervals, unless -i asks for longer ones. */
static void cached_next_tick(struct session *s, uint64_t now_ns)
{
	struct session_cached_state *c = s->inside->cached;

	if (!s->options->run.interval_ns.given)
		return;
	c->next_tick_ns +=
		((now_ns - c->next_tick_ns) / session_interval(s) + 1) * session_interval(s);
}

static int cached_reading(struct session *s)
{
	struct session_cached_state *c = s->inside->cached;
	const struct option_number *count = &s->options->run.count;
	uint64_t now_ns = c->chunk.time_ns;
	int err;

	if (now_ns > c->to_ns) {
		s->inside->stopped = true;
		return 0;
	}
	if (now_ns <= c->from_ns)
		return 0;
	err = cached_take_rows(s);
	c->last_ns = now_ns;
	if (err || !cached_ticks(s, now_ns))
		return err;
	cached_set_time(s, now_ns);
	err = session_tick(s);
	cached_next_tick(s, now_ns);
	if (count->given && s->inside->ticks >= count->value)
		s->inside->stopped = true;
	return err;
}

static int cached_events(struct session *s)
{
	struct session_cached_state *c = s->inside->cached;
	int err = 0;

	for (size_t i = 0; i < c->chunk.nr_events && !err && !s->inside->stopped; i++) {
		const struct cache_event *event = &c->chunk.events[i].event;

		if (c->wants.events && cached_wants_event(s, event))
			err = s->inside->view->on_miss(s->inside->state, s, event);
	}
	return err;
}

static int cached_chunks(struct session *s)
{
	struct session_cached_state *c = s->inside->cached;
	int err = 0, more = 0;

	while (!err && !s->inside->stopped &&
	       (more = capture_reader__next_cache(c->reader, &c->chunk)) > 0) {
		if (session_is_interrupted(s))
			break;
		err = c->chunk.is_reading ? cached_reading(s) : cached_events(s);
	}
	if (more < 0)
		return log_err(more, "cannot read the capture: %s", strerror(-more));
	return err;
}

/* ---- the run ---- */

static uint64_t cached_info_ns(const struct session *s, const char *key, uint64_t none)
{
	const char *text = capture_about__info(cached_capture(s), key);

	return text && *text ? strtoull(text, NULL, 10) : none;
}

static int cached_check(const struct session *s, const char *path, enum cache_tells tells)
{
	const struct session_cached_state *c = s->inside->cached;

	if (!capture_reader__has_cache(c->reader, false))
		return log_err(-EINVAL,
			       "%s holds nothing of the page cache: record --cache keeps it", path);
	if (c->wants.events && tells == CACHE_TELLS_NOTHING)
		return log_err(-EINVAL,
			       "--events: %s holds no misses: record --cache --events "
			       "keeps them",
			       path);
	if (c->wants.then_io && tells != CACHE_TELLS_COMMANDS)
		return log_err(-EINVAL,
			       "--then-io: %s holds no commands: record --cache --events "
			       "keeps them",
			       path);
	if (c->wants.filter->cgroup && c->wants.events)
		return log_err(-EINVAL, "--cgroup: the misses of a capture do not say theirs");
	if (c->wants.tid.given && !c->wants.events)
		return log_err(-EINVAL, "--tid: the rows of a capture are by process: -p PID");
	return 0;
}

static void cached_find_span(struct session *s)
{
	struct session_cached_state *c = s->inside->cached;
	const struct option_number *duration = &s->options->run.duration_ns;

	s->start_ns = s->inside->last_ns = cached_info_ns(s, CAPTURE_INFO_START, 0);
	c->last_ns = s->start_ns;
	c->end_ns = cached_info_ns(s, CAPTURE_INFO_END, 0);
	session__span(s, &c->from_ns, &c->to_ns);
	if (duration->given && session_later(c->from_ns, duration->value) < c->to_ns)
		c->to_ns = session_later(c->from_ns, duration->value);
	if (s->options->run.interval_ns.given)
		c->next_tick_ns = c->from_ns + session_interval(s);
}

static int cached_open(struct session *s)
{
	const struct option_list *files = &s->options->file.read;
	struct session_cached_state *c = calloc(1, sizeof(*c));
	int err;

	s->inside->cached = c;
	if (!c)
		return log_err(-ENOMEM, "out of memory");
	if (files->nr > 1)
		return log_err(-EINVAL, "cache reads one capture: '%s' is one too many",
			       files->words[1]);
	c->wants = s->inside->view->wants_cache(s->inside->state, s->options);
	err = capture_reader__open(files->words[0], &c->reader);
	if (err) /* the file's fault, not that of the command line */
		return err == -ENOMEM || err == -EOPNOTSUPP ? err : -EIO;
	err = cached_check(s, files->words[0],
			   cache_info__get(cached_capture(s), &c->about, &c->losses));
	c->about.filtered |= cached_filters(s);
	return err;
}

static void cached_tell(struct session *s)
{
	const struct capture_damage *damage = capture_reader__damage(s->inside->cached->reader);

	capture_damage__tell(damage, s->options->file.read.words[0]);
	s->inside->lost |= !capture_damage__is_whole(damage);
}

static int cached_run(struct session *s, char **argv)
{
	struct session_inside *in = s->inside;
	int err = cached_open(s);

	(void)argv;
	if (err)
		return err;
	cached_find_span(s);
	err = in->view->on_start(in->state, s);
	err = err ?: cached_chunks(s);
	if (err)
		return err;
	session_tell_interrupted(s, capture_reader__position(in->cached->reader),
				 capture_reader__bytes(in->cached->reader));
	cached_set_time(s, in->cached->last_ns);
	/* A part of the run is not what the kernel's pages changed by. */
	in->cached->about.filtered |= in->stopped || s->options->file.from_ns.given;
	err = in->view->on_end(in->state, s);
	err = err ?: session_flush(s);
	if (!err)
		cached_tell(s);
	return err;
}

/* ---- what a view asks ---- */

static const struct cache_about *cached_about(const struct session *s)
{
	return &s->inside->cached->about;
}

static void cached_read(const struct session *s, cache_row_fn fn, void *arg)
{
	const struct cache_table *rows = &s->inside->cached->rows;

	for (size_t i = 0; i < rows->nr; i++)
		fn(arg, &rows->sums[i].tags, rows->sums[i].now);
}

static void cached_losses(const struct session *s, struct cache_losses *losses)
{
	*losses = s->inside->cached->losses;
}

static bool cached_knows(const struct session *s, enum glossary_kind kind)
{
	return cached_capture(s)->glossaries[kind].nr;
}

static void cached_free(struct session *s)
{
	struct session_cached_state *c = s->inside->cached;

	if (!c)
		return;
	cache_table__free(&c->rows);
	capture_cache__free(&c->chunk);
	capture_reader__free(c->reader);
	free(c);
}

const struct session_source session_cached = {
	.run = cached_run,
	.cache_about = cached_about,
	.cache_read = cached_read,
	.cache_losses = cached_losses,
	.text = cached_text,
	.knows = cached_knows,
	.free = cached_free,
};
