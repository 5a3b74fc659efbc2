/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.c: what does a thread wait for in a system call? Each read, write and fsync that waited,
 * with the parts of its time: on a CPU, ready to run, asleep for I/O, the journal, a lock, ... The
 * parts add up to the duration of the call; -w keeps all of it. With --async, the same of requests
 * of io_uring and libaio. It cannot see what began before it was attached.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "cmd/cmd.h"
#include "session/async_source.h"
#include "session/host_source.h"
#include "session/session.h"
#include "session/table.h"
#include "session/waits_source.h"
#include "view/async_rows.h"
#include "view/intervals.h"
#include "view/waits_rows.h"
#include "view/waits_slow.h"

enum { WAITS_SLOW_MOST = 10000, WAITS_COMM_LIMIT = 15, WAITS_PID_LIMIT = 4194304 };

struct waits_view {
	/* options */
	struct filter_options filter; /* only these filters are used: pid, comm, cgroup, min */
	const char *file;
	struct option_list calls, by;
	struct option_number slow, buffer;
	struct row_conditions conditions;
	bool async;
	/* state */
	uint32_t by_mask;
	bool tells_hosts;
	struct wait_groups interval, total;
	struct waits_slowest slowest;
	struct async_slowest slowest_requests;
	struct table *table, *slow_table;
	unsigned int intervals;
	uint64_t nr_taken, nr_uneven;
};

/* A word stands for one or more rows. */
static const char *const call_words[] = { "read", "write", "fsync", "fault", "open", NULL };
static const uint32_t call_masks[] = {
	1 << WAIT_READ,
	1 << WAIT_WRITE | 1 << WAIT_SYNCWRITE,
	1 << WAIT_FSYNC | 1 << WAIT_FDATASYNC | 1 << WAIT_SYNCRANGE,
	1 << WAIT_FAULT,
	1 << WAIT_OPEN,
};
enum { WAITS_DEFAULT = 0x7 }; /* of call_words: not all faults and opens of the machine */
static const char *const by_words[] = {
	"dev", "file", "comm", "pid", "cgroup", "host", "fs", NULL
};

#define VIEW(field) offsetof(struct waits_view, field)
static const struct option_def waits_options[] = {
	{ "async", 0, OPTION_FLAG, VIEW(async), NULL,
	  "requests of io_uring and libaio instead of calls" },
	{ "by", 0, OPTION_LIST, VIEW(by), NULL, "tell calls apart by these, too (default: by call)",
	  .choices = by_words },
	{ "slow", 0, OPTION_NUMBER, VIEW(slow), "N",
	  "at the end, print the N slowest calls with their parts, stacks and commands", .min = 1,
	  .max = WAITS_SLOW_MOST },
	ROW_IF_OPTION(VIEW(conditions), "'part == journal'"),
	ROW_FAIL_IF_OPTION(VIEW(conditions), "'part == total && p99 > 10ms'"),
	{ "buffer", 0, OPTION_SIZE, VIEW(buffer), "SIZE", "size of the ring (default 4Mi)",
	  .min = 4096, .max = 1 << 30 },
	{ "min", 0, OPTION_DURATION, VIEW(filter.min_ns), "DURATION",
	  "only calls that took at least this long, e.g. 10ms" },
	{ "pid", 'p', OPTION_NUMBER, VIEW(filter.pid), "PID", "only this process", .min = 1,
	  .max = WAITS_PID_LIMIT, .completes = "pid" },
	{ "comm", 0, OPTION_STRING, VIEW(filter.comm), "NAME", "only tasks with this name",
	  .max = WAITS_COMM_LIMIT },
	{ "cgroup", 0, OPTION_STRING, VIEW(filter.cgroup), "PATH",
	  "only tasks in this cgroup or one below it", .completes = "file" },
	{ "file", 0, OPTION_STRING, VIEW(file), "PATH", "only this file or block device",
	  .completes = "file" },
	{ "CALL", 0, OPTION_OPERANDS, VIEW(calls), "CALL...",
	  "only these calls (default: read write fsync; with -r: all)", .choices = call_words },
	{ 0 },
};

static const struct option_group waits_group = { "What is shown", waits_options };

static int waits_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_waits = {
	.name = "waits",
	.group = "I/O",
	.brief = "what threads wait for in read, write and fsync",
	.synopsis = "[options] [CALL...] [-- COMMAND...]",
	.groups = CMD_GROUPS(&run_group, OUTPUT_TIMED_IN(OUTPUT_TABLES), &write_group, &read_group,
			     &alias_group),
	.own = &waits_group,
	.view_size = sizeof(struct waits_view),
	.objects = CMD_OBJECTS(&waits_rows, &waits_slow, &waits_ledger, &async_rows, &async_slow,
			       &async_ledger),
	.run = waits_run,
	.needs = NEED_PROGRAMS | NEED_CALL_WAITS | NEED_RINGS | NEED_STACKS,
};

/* ---- calls ---- */

static int waits_on_wait(void *state, struct session *s, const struct wait_record *record)
{
	struct waits_view *v = state;
	uint64_t parts[NR_WAIT_PARTS];
	struct wait_key key;

	waits_rows__split(s, record, parts);
	waits_rows__key(record, &key);
	if (v->by_mask >> WAITS_BY_FS & 1)
		waits_source__fs(s, record, key.fs);
	wait_row__mask(&key, v->by_mask);
	key.host = v->tells_hosts ? host_source__here(s) : 0;
	if (wait_groups__add(&v->interval, &key, parts))
		return log_no_memory();
	if (v->slow.given && waits_slowest__add(&v->slowest, s, record))
		return log_no_memory();
	v->nr_taken++;
	v->nr_uneven += !waits_rows__adds_up(record);
	return 0;
}

/* ---- the run ---- */

static uint32_t waits_calls(const struct option_list *words)
{
	uint32_t named = words->nr ? option_list__mask(words, call_words) : WAITS_DEFAULT;
	uint32_t calls = 0;

	for (uint32_t i = 0; i < sizeof(call_masks) / sizeof(call_masks[0]); i++)
		calls |= named >> i & 1 ? call_masks[i] : 0;
	return calls;
}

static struct waits_wants waits_view_wants(void *state, const struct options *options)
{
	struct waits_view *v = state;

	(void)options;
	return (struct waits_wants){
		.filter = &v->filter,
		.file = v->file,
		.calls = waits_calls(&v->calls),
		.is_asked = v->calls.nr > 0,
		.commands = v->slow.given,
		.buffer_bytes = v->buffer.given ? v->buffer.value : 0,
	};
}

static int waits_on_start(void *state, struct session *s)
{
	struct waits_view *v = state;

	v->tells_hosts = waits_rows__tell_hosts(s, &v->by_mask);
	v->table = wait_row__table(s, &waits_rows, &v->by_mask);
	if (!v->table)
		return log_no_memory();
	if (!v->slow.given)
		return 0;
	v->slow_table = session__table(s, &waits_slow, NULL, NULL);
	return v->slow_table && !waits_slowest__init(&v->slowest, v->slow.value) ? 0
										 : log_no_memory();
}

/* CSV has room for one table. */
static void waits_show(struct waits_view *v, struct session *s, struct wait_groups *groups,
		       const char *span)
{
	if (s->format == TABLE_CSV && v->slow.given)
		return;
	wait_groups__sort(groups);
	for (size_t i = 0; i < groups->nr; i++)
		wait_row__put(v->table, s, v->async ? &async_rows_words : &waits_rows_words,
			      groups->groups[i], span, &v->conditions);
}

static int waits_end_interval(struct waits_view *v)
{
	int err = wait_groups__merge(&v->total, &v->interval);

	wait_groups__clear(&v->interval);
	return err ? log_no_memory() : 0;
}

static int waits_on_tick(void *state, struct session *s)
{
	struct waits_view *v = state;

	if (v->intervals++ % INTERVALS_HEADING == 0)
		table__heading_again(v->table);
	waits_show(v, s, &v->interval, "interval");
	if (!v->interval.nr)
		intervals__say_idle(s);
	return waits_end_interval(v);
}

/* The rows of calls or requests of the whole run. */
static int waits_show_whole(struct waits_view *v, struct session *s)
{
	int err = waits_end_interval(v);

	if (v->total.nr)
		intervals__say_whole(s);
	table__heading_again(v->table);
	if (!err)
		waits_show(v, s, &v->total, "total");
	return err;
}

static int waits_on_end(void *state, struct session *s)
{
	struct waits_view *v = state;
	int err = waits_show_whole(v, s);

	waits_slowest__put(&v->slowest, v->slow_table, s);
	waits_rows__close(s, v->nr_taken, v->nr_uneven);
	return err;
}

static const struct session_view waits_session = {
	.wants_waits = waits_view_wants,
	.on_wait = waits_on_wait,
	.on_start = waits_on_start,
	.on_tick = waits_on_tick,
	.on_end = waits_on_end,
	.only_at_end = true,
};

/* ---- requests ---- */

static struct async_wants async_view_wants(void *state, const struct options *options)
{
	struct waits_view *v = state;

	(void)options;
	return (struct async_wants){
		.filter = &v->filter,
		.file = v->file,
		.buffer_bytes = v->buffer.given ? v->buffer.value : 0,
	};
}

static int async_on_start(void *state, struct session *s)
{
	struct waits_view *v = state;

	v->tells_hosts = waits_rows__tell_hosts(s, &v->by_mask);
	v->table = wait_row__table(s, &async_rows, &v->by_mask);
	if (!v->table)
		return log_no_memory();
	if (!v->slow.given)
		return 0;
	v->slow_table = session__table(s, &async_slow, NULL, NULL);
	return v->slow_table && !async_slowest__init(&v->slowest_requests, v->slow.value)
		       ? 0
		       : log_no_memory();
}

static int async_on_request(void *state, struct session *s, const struct async_record *record)
{
	struct waits_view *v = state;
	uint64_t steps[NR_WAIT_PARTS], sum = 0;
	struct wait_key key;

	async__split(record, steps);
	for (int i = 0; i < NR_ASYNC_STEPS; i++)
		sum += steps[i];
	async_rows__key(record, &key);
	if (v->by_mask >> WAITS_BY_FS & 1)
		async_source__fs(s, record, key.fs);
	wait_row__mask(&key, v->by_mask);
	key.host = v->tells_hosts ? host_source__here(s) : 0;
	if (wait_groups__add(&v->interval, &key, steps))
		return log_no_memory();
	if (v->slow.given)
		async_slowest__add(&v->slowest_requests, s, record);
	v->nr_taken++;
	v->nr_uneven += sum != async__whole_ns(record);
	return 0;
}

static int async_on_end(void *state, struct session *s)
{
	struct waits_view *v = state;
	int err = waits_show_whole(v, s);

	async_slowest__put(&v->slowest_requests, v->slow_table, s);
	async_rows__close(s, v->nr_taken, v->nr_uneven);
	return err;
}

static const struct session_view async_session = {
	.wants_async = async_view_wants,
	.on_async = async_on_request,
	.on_start = async_on_start,
	.on_tick = waits_on_tick,
	.on_end = async_on_end,
	.only_at_end = true,
};

/* ---- the command ---- */

static int waits_check_async(const struct waits_view *v)
{
	if (!v->async)
		return 0;
	if (v->calls.nr)
		return log_err(-EINVAL, "--async follows requests, not calls: remove '%s'",
			       v->calls.words[0]);
	return 0;
}

static int waits_check_calls(const struct option_list *words)
{
	for (size_t i = 0; i < words->nr; i++) {
		const struct option_list one = { &words->words[i], 1 };

		if (!option_list__mask(&one, call_words))
			return log_err(
				-EINVAL,
				"unknown call '%s': expected read, write, fsync, fault or open",
				words->words[i]);
	}
	return 0;
}

static int waits_run(void *state, const struct options *options, char **argv)
{
	struct waits_view *v = state;
	int err;

	err = waits_check_calls(&v->calls);
	err = err ?: waits_check_async(v);
	if (!err && options->file.zstd)
		err = log_err(-EINVAL, "waits does not support --zstd");
	if (err)
		return err;
	v->by_mask = option_list__mask(&v->by, by_words);
	err = host_source__check(options, v->by_mask >> WAITS_BY_HOST & 1);
	err = err
		      ?: row_conditions__parse(&v->conditions, v->async ? &async_rows : &waits_rows,
					       NULL, NULL);
	err = err ?: session__run(v->async ? &async_session : &waits_session, v, options, argv);
	wait_groups__free(&v->interval);
	wait_groups__free(&v->total);
	waits_slowest__free(&v->slowest);
	async_slowest__free(&v->slowest_requests);
	table__free(v->table);
	table__free(v->slow_table);
	row_conditions__free(&v->conditions);
	return err;
}
