/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * record.c: how can every command be kept for later? Writes each record to a file, about 10 bytes
 * each, that `trace -r` and `latency -r` show on any machine, without root. Prints nothing itself.
 * With --last it writes nothing until something happens. With --cache it keeps the page cache's
 * rows instead, for `cache -r`.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include "base/log.h"
#include "capture/ring.h"
#include "cmd/cmd.h"
#include "decode/row.h"
#include "session/condition.h"
#include "session/recorder.h"
#include "session/io_source.h"
#include "session/cache_source.h"
#include "session/session.h"
#include "view/records.h"
#include "view/unwind_option.h"

struct record {
	/* options */
	bool split, admin, io, stages, stacks, cache, events;
	struct option_number buffer;
	int unwind;
	const char *when;
	/* state */
	struct condition *condition;
	struct command_row row; /* at hand */
	uint64_t seen, seen_before;
	uint64_t not_before_ns; /* --when: records kept before then are already written */
};

static const struct option_def record_options[] = {
	{ "split", 0, OPTION_FLAG, offsetof(struct record, split), NULL,
	  "also write a record when a command is built" },
	{ "stages", 0, OPTION_FLAG, offsetof(struct record, stages), NULL,
	  "also keep the time of each stage and the owner: for layers -r and slow -r" },
	{ "stacks", 0, OPTION_FLAG, offsetof(struct record, stacks), NULL,
	  "also keep stages and the stack of the submission: for stacks -r" },
	UNWIND_OPTION(offsetof(struct record, unwind), .not_with = "cache"),
	{ "admin", 0, OPTION_FLAG, offsetof(struct record, admin), NULL,
	  "only admin and fabrics commands", .not_with = "io" },
	{ "io", 0, OPTION_FLAG, offsetof(struct record, io), NULL,
	  "leave out admin and fabrics commands" },
	{ "cache", 0, OPTION_FLAG, offsetof(struct record, cache), NULL,
	  "record the page cache instead of commands: its rows every interval, for cache -r",
	  .not_with = "split,stages,stacks,admin,io,when,ring,size,files,last,zstd,children,op,"
		      "nsid,qid,"
		      "ctrl-id,min,failed" },
	{ "events", 0, OPTION_FLAG, offsetof(struct record, events), NULL,
	  "with --cache: also record every miss, and the commands that read pages" },
	{ "when", 0, OPTION_STRING, offsetof(struct record, when), "EXPR",
	  "with --last: write the file when this is true for a record, e.g. 'lat > 1s || status != "
	  "ok'" },
	{ "buffer", 0, OPTION_SIZE, offsetof(struct record, buffer), "SIZE",
	  "size of each CPU's ring (default 4Mi); a full ring drops records and counts them",
	  .min = 4096, .max = 1 << 30 },
	{ 0 },
};

/* As `trace -r` shows them. */
static const struct object record_rows = { "trace", { command_columns } };

static const struct option_group record_group = { "What is kept", record_options };
static int record_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_record = {
	.name = "record",
	.group = "captures",
	.brief = "write every command to a capture, for -r of other commands",
	.synopsis = "-w FILE | --ring DIR --size SIZE [options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&write_group, &keep_group, &alias_group, &filter_group, &run_group),
	.own = &record_group,
	.view_size = sizeof(struct record),
	.objects = CMD_OBJECTS(&record_rows),
	.run = record_run,
	.needs = NEED_IO | NEED_RINGS | NEED_FILES | NEED_STACKS | NEED_CONTROLLERS,
};

static struct io_wants record_wants(void *state, const struct options *options)
{
	const struct record *r = state;
	bool stages = r->stages || r->stacks;

	return (struct io_wants){
		.filter = &options->filter,
		.records = true,
		.split = r->split,
		.troubles = true,
		.stages = stages,
		.waits = stages,
		.details = stages,
		.depths = stages,
		.files = stages,
		.kernel_stacks = r->stacks,
		.user_stacks = r->stacks && r->unwind != UNWIND_HOW_NONE,
		.unwind = (enum unwind_how)r->unwind,
		.kinds = r->admin ? 1 << IO_ADMIN | 1 << IO_FABRICS
			 : r->io  ? 1 << IO_NVME | 1 << IO_BLOCK
				  : 0,
		.reuse_after_ns = 2000000000,
		.reuses_places = true,
		.buffer_bytes = r->buffer.given ? r->buffer.value : 0,
	};
}

static int record_on_start(void *state, struct session *s)
{
	const struct file_options *f = &s->options->file;
	char duration[32];

	(void)state;
	if (f->last_ns.given)
		log_note("keeping the last %s in memory; kill -USR1 %d writes it",
			 text__duration(duration, sizeof(duration), f->last_ns.value),
			 (int)getpid());
	return 0;
}

/* ---- --when ---- */

/* No new trigger until the written records expire: files would repeat the last one. */
static int record_on_record(void *state, struct session *s, const struct io_record *record)
{
	struct record *r = state;
	const struct option_number *count = &s->options->run.count;

	r->seen++;
	if (count->given && r->seen >= count->value)
		session__stop(s);
	if (!r->condition || io_record__time_ns(record) < r->not_before_ns ||
	    !io_source__is_met(s, r->condition, record, &r->row))
		return 0;
	r->not_before_ns = io_record__time_ns(record) + s->options->file.last_ns.value;
	return recorder__save(session__recorder(s), "--when");
}

static int record_on_signal(void *state, struct session *s)
{
	(void)state;
	return recorder__save(session__recorder(s), "SIGUSR1");
}

/* ---- the run ---- */

static int record_on_tick(void *state, struct session *s)
{
	struct record *r = state;
	struct recorder *kept = session__recorder(s);
	char line[128], rate[16], bytes[16];
	double per_s = s->interval_s > 0 ? (double)(r->seen - r->seen_before) / s->interval_s : 0;

	r->seen_before = r->seen;
	snprintf(line, sizeof(line),
		 "%.0f s, %s records/s, %" PRIu64 " kept in %s, %" PRIu64 " lost", s->elapsed_s,
		 text__rate(rate, sizeof(rate), per_s), recorder__nr_records(kept),
		 text__bytes(bytes, sizeof(bytes), recorder__bytes(kept)), recorder__nr_lost(kept));
	session__status(s, line);
	return 0;
}

static int record_on_end(void *state, struct session *s)
{
	const struct file_options *f = &s->options->file;
	struct recorder *kept = session__recorder(s);

	(void)state;
	if (f->last_ns.given && !recorder__nr_files(kept))
		log_note("nothing was written: no SIGUSR1 was received%s",
			 ((struct record *)state)->when ? ", and --when was never true" : "");
	return 0;
}

static const struct session_view record_view = {
	.wants = record_wants,
	.on_start = record_on_start,
	.on_tick = record_on_tick,
	.on_record = record_on_record,
	.counts_records = true,
	.on_end = record_on_end,
	.only_keeps = true,
};

static const struct session_view record_last_view = {
	.wants = record_wants,
	.on_start = record_on_start,
	.on_tick = record_on_tick,
	.on_record = record_on_record,
	.counts_records = true,
	.on_signal = record_on_signal,
	.on_end = record_on_end,
	.only_keeps = true,
};

/* ---- --cache ---- */

static struct cache_wants record_wants_cache(void *state, const struct options *options)
{
	const struct record *r = state;

	return (struct cache_wants){
		.filter = &options->filter,
		.events = r->events,
		.then_io = r->events,
		.buffer_bytes = r->buffer.given ? r->buffer.value : 0,
	};
}

static int record_on_cache_tick(void *state, struct session *s)
{
	char line[64], bytes[16];

	(void)state;
	snprintf(line, sizeof(line), "%.0f s, %s", s->elapsed_s,
		 text__bytes(bytes, sizeof(bytes), recorder__bytes(session__recorder(s))));
	session__status(s, line);
	return 0;
}

/* The file holds the losses; they are reported here, too. */
static int record_on_cache_end(void *state, struct session *s)
{
	struct cache_ledger l = { 0 };

	(void)state;
	cache_source__losses(s, &l.losses);
	cache_ledger__settle(&l);
	if (l.lost)
		log_warn("lost %" PRIu64 ": iosonar cache -r %s shows the reasons", l.lost,
			 s->options->file.write);
	s->incomplete |= l.lost != 0;
	return 0;
}

static const struct session_view record_cache_view = {
	.wants_cache = record_wants_cache,
	.on_start = record_on_start,
	.on_tick = record_on_cache_tick,
	.on_end = record_on_cache_end,
	.only_keeps = true,
};

/* ---- what is recorded ---- */

static int record_check_what(const struct record *r, const struct file_options *f)
{
	if (f->anonymous && r->cache)
		return log_err(-EINVAL, "--anonymous is not supported with --cache");
	if (r->events && !r->cache)
		return log_err(-EINVAL, "--events requires --cache");
	if (r->unwind != UNWIND_HOW_AUTO && !r->stacks)
		return log_err(-EINVAL, "--unwind requires --stacks");
	if (r->buffer.given && r->cache && !r->events)
		return log_err(-EINVAL, "--buffer with --cache requires --events");
	if (r->when && !f->last_ns.given)
		return log_err(-EINVAL, "--when requires --last DURATION");
	if (f->files.given && !f->size_bytes.given && !f->last_ns.given)
		return log_err(-EINVAL, "--files requires --size SIZE or --last DURATION");
	return 0;
}

static int record_check_ring(const struct file_options *f)
{
	uint64_t files = f->files.given ? f->files.value : RING_FILES;

	if (!f->size_bytes.given)
		return log_err(-EINVAL, "--ring requires --size SIZE, of all files together");
	if (files < RING_FILES_LEAST)
		return log_err(-EINVAL, "--ring requires at least --files %d", RING_FILES_LEAST);
	if (f->size_bytes.value / files < RING_FILE_LEAST)
		return log_err(-EINVAL,
			       "--size is too small for %" PRIu64
			       " files: each has an equal share, at least %d KiB",
			       files, RING_FILE_LEAST >> 10);
	return 0;
}

static int record_check(const struct record *r, const struct options *options)
{
	const struct file_options *f = &options->file;
	int err = f->ring ? record_check_ring(f) : 0;

	if (!f->write && !f->ring)
		return log_err(-EINVAL, "record requires -w FILE or --ring DIR");
	return err ?: record_check_what(r, f);
}

static int record_run(void *state, const struct options *options, char **argv)
{
	const struct session_view *view = &record_view;
	struct record *r = state;
	int err = record_check(r, options);

	err = err ?: records__parse_condition("--when", r->when, &r->condition);
	if (r->cache)
		view = &record_cache_view;
	else if (options->file.last_ns.given)
		view = &record_last_view;
	err = err ?: session__run(view, r, options, argv);
	condition__free(r->condition);
	return err;
}
