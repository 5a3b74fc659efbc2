/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.c: does the page cache help? Accesses, hits, misses, readahead, dirtying and eviction, in
 * pages, every interval, for the whole system or by the keys of --by; or, with --residency, which
 * parts of files are cached now. Two short programs for each request. It cannot see accesses
 * through a mapping that do not fault.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "capture/read.h"
#include "cmd/cmd.h"
#include "collect/residency.h"
#include "decode/column.h"
#include "render/cache_events.h"
#include "render/residency.h"
#include "session/cache_source.h"
#include "session/host_source.h"
#include "session/session.h"
#include "session/table.h"
#include "view/cache_account.h"
#include "view/cache_rows.h"
#include "view/intervals.h"
#include "view/listing.h"
#include "view/row_conditions.h"

enum { CACHE_DISK = 384, CACHE_TOP = 20, CACHE_COMM_LIMIT = 15, CACHE_PID_LIMIT = 4194304 };

struct cache_view {
	/* options */
	struct filter_options filter; /* only these filters are used: */
	struct option_number tid, top;
	const char *file;
	struct option_list by, paths;
	int sort;
	bool residency, events, then_io;
	struct option_number buffer;
	/* state */
	struct cache_rows rows;
	struct cache_table sums;
	struct cache_event_table *told;
	uint64_t nr_told;
	unsigned int intervals;
	int err;
};

static const char *const by_words[] = {
	"comm", "pid", "file", "cgroup", "dev", "op", "host", NULL
};
static const char *const sort_words[] = { "misses", "accesses", "hits",	   "ra_hits", "readahead",
					  "unused", "dirtied",	"written", "evicted", NULL };
static const char *const sort_also[] = { NULL, NULL, NULL, NULL, "ahead",
					 NULL, NULL, NULL, NULL, NULL };

#define VIEW(field) offsetof(struct cache_view, field)
static const struct option_def cache_options[] = {
	{ "by", 0, OPTION_LIST, VIEW(by), NULL,
	  "one row per combination of these (default: one row for everything)",
	  .choices = by_words },
	{ "sort", 0, OPTION_CHOICE, VIEW(sort), "WHAT", "sort rows by this, largest first",
	  .choices = sort_words, .also = sort_also },
	{ "top", 0, OPTION_NUMBER, VIEW(top), "N", "show at most N rows at a time (default 20)",
	  .min = 1, .max = 8192 },
	ROW_IF_OPTION(VIEW(rows.conditions), "'misses > 100'"),
	ROW_FAIL_IF_OPTION(VIEW(rows.conditions), "'hit_percent < 90'"),
	{ "events", 0, OPTION_FLAG, VIEW(events), NULL,
	  "print each request that missed: task, file, offset, and how long it waited for its "
	  "pages",
	  .not_with = "by,sort,top,interval" },
	{ "then-io", 0, OPTION_FLAG, VIEW(then_io), NULL,
	  "print each command that reads pages: who waits for it, for which part of which file",
	  .not_with = "by,sort,top,interval" },
	{ "buffer", 0, OPTION_SIZE, VIEW(buffer), "SIZE",
	  "size of the ring for events (default 1Mi)", .min = 4096, .max = 1 << 30 },
	{ "pid", 'p', OPTION_NUMBER, VIEW(filter.pid), "PID", "only this process", .min = 1,
	  .max = CACHE_PID_LIMIT, .completes = "pid" },
	{ "tid", 0, OPTION_NUMBER, VIEW(tid), "TID", "only this thread", .min = 1,
	  .max = CACHE_PID_LIMIT, .completes = "pid" },
	{ "comm", 0, OPTION_STRING, VIEW(filter.comm), "NAME", "only tasks with this name",
	  .max = CACHE_COMM_LIMIT },
	{ "cgroup", 0, OPTION_STRING, VIEW(filter.cgroup), "PATH",
	  "only tasks in this cgroup or one below it", .completes = "file" },
	{ "file", 0, OPTION_STRING, VIEW(file), "PATH", "only this file or block device",
	  .completes = "file" },
	{ "device", 'd', OPTION_LIST, VIEW(filter.devices), "DEV",
	  "only files on this device, and the cache of the device itself; repeatable",
	  .completes = "device" },
	{ "residency", 0, OPTION_FLAG, VIEW(residency), NULL,
	  "print how much of each PATH is cached now, and which parts; requires no privilege",
	  .not_with = "by,sort,top,events,then-io,pid,tid,comm,cgroup,file,device,read" },
	{ "PATH", 0, OPTION_OPERANDS, VIEW(paths), "PATH...", "files for --residency",
	  .completes = "file", .is_capture = capture__is_one },
	{ 0 },
};

static const struct option_group cache_group = { "What is shown", cache_options };

static const struct object *const cache_objects[] = { &cache_rows_object,    &cache_event_misses,
						      &cache_event_commands, &cache_account_method,
						      &residency_files,	     &residency_parts,
						      &cache_account_ledger, NULL };

static int cache_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_cache = {
	.name = "cache",
	.group = "I/O",
	.brief = "page-cache hits, misses and read-ahead, by process and file",
	.synopsis = "[options] [PATH...] [-- COMMAND...]",
	.groups = CMD_GROUPS(&run_group, OUTPUT_TIMED_IN(OUTPUT_TABLES), &write_group, &read_group),
	.own = &cache_group,
	.view_size = sizeof(struct cache_view),
	.objects = cache_objects,
	.run = cache_run,
	.needs = NEED_PROGRAMS | NEED_ACCESSES,
};

/* ---- rows ---- */

static int cache_show_rows(struct cache_view *v, struct session *s, bool whole)
{
	const struct cache_sum **order = calloc(v->sums.nr + 1, sizeof(*order));
	size_t most = v->top.given ? v->top.value : CACHE_TOP, nr;

	if (!order)
		return log_no_memory();
	nr = cache_table__sort(&v->sums, (enum cache_sort)v->sort, whole, order);
	for (size_t i = 0; i < nr; i++) {
		v->rows.is_hidden = i >= most;
		cache_rows__put(&v->rows, s, order[i], &order[i]->tags, whole);
	}
	v->rows.is_hidden = false;
	if (nr > most && s->format == TABLE_TEXT)
		fprintf(s->out, "and %zu more rows; --top shows them\n", nr - most);
	free(order);
	return 0;
}

static void cache_take_row(void *arg, const struct cache_tags *tags,
			   const uint64_t counts[NR_CACHE_COUNTS])
{
	struct cache_view *v = arg;
	struct cache_tags masked = *tags; /* a capture may have more keys than requested */

	cache_tags__mask(&masked, v->rows.mask);
	masked.host = v->rows.tells_hosts ? tags->host : 0;
	if (!v->err && cache_table__add(&v->sums, &masked, counts))
		v->err = log_no_memory();
}

static int cache_read_rows(struct cache_view *v, const struct session *s)
{
	cache_table__begin(&v->sums);
	cache_source__read(s, cache_take_row, v);
	return v->err;
}

/* ---- each miss ---- */

static int cache_on_miss(void *state, struct session *s, const struct cache_event *e)
{
	const struct cache_command *command = (const struct cache_command *)e;
	const struct option_number *count = &s->options->run.count;
	const uint16_t host = host_source__here(s);
	char dev[CACHE_DISK], disk[CACHE_DISK];
	struct cache_view *v = state;
	const bool is_command = e->told == CACHE_TOLD_COMMAND;
	const struct cache_event_names names = {
		.file = session__file(s, e->inode, io_file_place(e->dev, e->nth)),
		.dev = host_source__disk(s, host, e->dev, dev, sizeof(dev)),
		.disk = is_command ? host_source__disk(s, host, command->disk, disk, sizeof(disk))
				   : NULL,
	};

	if (!cache_event_table__shows(v->told, e))
		return 0;
	cache_event_table__add(v->told, e, &names);
	if (count->given && is_command == v->then_io && ++v->nr_told >= count->value)
		session__stop(s);
	return 0;
}

/* ---- the run ---- */

static struct cache_wants cache_view_wants(void *state, const struct options *options)
{
	struct cache_view *v = state;

	(void)options;
	return (struct cache_wants){
		.filter = &v->filter,
		.tid = v->tid,
		.file = v->file,
		.by = v->rows.mask,
		.events = v->events,
		.then_io = v->then_io,
		.buffer_bytes = v->buffer.given ? v->buffer.value : 0,
	};
}

static int cache_on_start(void *state, struct session *s)
{
	struct cache_view *v = state;
	const struct table_clock clock = session__clock(s);

	if (v->events)
		v->told = cache_event_table__new(s->out, s->format, v->then_io, s->start_ns,
						 cache_source__about(s)->page_bytes);
	if (v->events && (!v->told || cache_event_table__set_clock(v->told, &clock)))
		return log_no_memory();
	cache_account__show_method(s);
	cache_rows__tell_hosts(&v->rows, s);
	return cache_rows__make_table(&v->rows, s);
}

static int cache_on_tick(void *state, struct session *s)
{
	struct cache_view *v = state;
	int err = cache_read_rows(v, s);

	if (err)
		return err;
	if (v->rows.mask || v->intervals++ % INTERVALS_HEADING == 0)
		table__heading_again(v->rows.table);
	if (!v->rows.mask) {
		cache_rows__put(&v->rows, s, &v->sums.total, NULL, false);
		return 0;
	}
	if (s->format == TABLE_TEXT)
		fputc('\n', s->out);
	return cache_show_rows(v, s, false);
}

/* The total is the first row; the rows of --by follow. */
static int cache_on_end(void *state, struct session *s)
{
	struct cache_view *v = state;
	int err = cache_read_rows(v, s);

	if (!err && s->format == TABLE_TEXT) { /* only now is it known which columns need a ~ */
		fprintf(s->out, "\nin %.1f s:\n", s->elapsed_s);
		err = cache_rows__make_table(&v->rows, s);
	}
	if (err)
		return err;
	if (!v->events || s->format != TABLE_CSV)
		cache_rows__put(&v->rows, s, &v->sums.total, NULL, true);
	err = v->rows.mask ? cache_show_rows(v, s, true) : 0;
	if (!err)
		cache_account__close(&v->sums.total, s);
	return err;
}

static const struct session_view cache_session = {
	.wants_cache = cache_view_wants,
	.on_start = cache_on_start,
	.on_tick = cache_on_tick,
	.on_miss = cache_on_miss,
	.on_end = cache_on_end,
};

/* ---- --residency ---- */

/* Every file, even if one of them cannot be read. */
static int cache_show_files(const struct cache_view *v, struct residency_table *table, char **argv)
{
	struct residency residency;
	int err, failed = 0;

	for (size_t i = 0; i < v->paths.nr || *argv; i++) {
		const char *path = i < v->paths.nr ? v->paths.words[i] : *argv++;

		err = residency__read(&residency, path);
		if (!err)
			residency_table__add(table, path, &residency);
		failed = failed ? failed : err;
	}
	return failed;
}

static int cache_residency(const struct cache_view *v, const struct options *options, char **argv)
{
	struct residency_table *table;
	struct listing to;
	int err;

	if (!v->paths.nr && !argv[0])
		return log_err(-EINVAL,
			       "--residency requires a file, e.g. iosonar cache --residency PATH");
	err = listing__open(&to, &options->output, NULL);
	if (err)
		return err;
	table = residency_table__new(to.out, to.format, to.style.utf8);
	err = table ? cache_show_files(v, table, argv) : log_no_memory();
	residency_table__free(table);
	return output__finish(&to.output, err);
}

static int cache_run(void *state, const struct options *options, char **argv)
{
	struct cache_view *v = state;
	int err;

	if (v->residency)
		return cache_residency(v, options, argv);
	if (v->paths.nr)
		return log_err(
			-EINVAL,
			"'%s': PATH requires --residency; --file %s counts the pages of this file",
			v->paths.words[0], v->paths.words[0]);
	v->events |= v->then_io; /* a command is shown with the miss that waits for it */
	if (v->buffer.given && !v->events)
		return log_err(-EINVAL, "--buffer requires --events or --then-io");
	if (options->file.zstd)
		return log_err(-EINVAL, "cache does not support --zstd");
	v->rows.mask = option_list__mask(&v->by, by_words);
	v->rows.sort = sort_words[v->sort];
	err = host_source__check(options, v->rows.mask >> CACHE_BY_HOST & 1);
	err = err ?: row_conditions__parse(&v->rows.conditions, &cache_rows_object, NULL, NULL);
	err = err ?: session__run(&cache_session, v, options, argv);
	cache_table__free(&v->sums);
	table__free(v->rows.table);
	row_conditions__free(&v->rows.conditions);
	cache_event_table__free(v->told);
	return err;
}
