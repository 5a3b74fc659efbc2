/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve.c: how long do I/Os take, for browsers and Prometheus? Counts in the kernel as `latency`
 * does, at its cost, and answers requests with all counts of that moment; a page gets each second
 * as it ends. It cannot see what `latency` cannot. With --keep it costs what `record` costs,
 * and knows each command of the last minutes.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/privilege.h"
#include "base/units.h"
#include "cmd/cmd.h"
#include "serve/content.h"
#include "serve/listen.h"
#include "serve/live_page.h"
#include "session/io_source.h"
#include "session/loop.h"
#include "session/session.h"

static const uint64_t serve_timer_ns = 1000000000;
static const uint64_t serve_reuse_ns = 330000000000; /* lists name a disk for five minutes */
enum { SERVE_SERIES = 2000, SERVE_KEEP_BYTES = 64 << 20 };

struct serve {
	/* options */
	const char *listen;
	struct option_list allow_hosts, by;
	struct option_number buckets, most_series, keep_ns, keep_bytes, buffer, budget;
	/* state */
	struct listen_address address;
	int fd; /* until the server owns it; -1 */
	struct http *http;
	struct http_page page;
	struct edges edges;
	struct reading reading;
	struct interval interval;
	struct events events;
	struct who who;
	struct content content;
	struct file_options kept; /* of --keep */
};

static const char *const by_words[] = { "path", "cgroup", "unit", "container", "pod", NULL };
static const uint32_t by_bits[] = {
	1u << SERIES_PATH,
	1u << SERIES_CGROUP,
	1u << SERIES_UNIT,
	1u << SERIES_CONTAINER,
	1u << SERIES_NAMESPACE | 1u << SERIES_POD,
};

static const struct option_def serve_options[] = {
	{ "listen", 0, OPTION_STRING, offsetof(struct serve, listen), "ADDRESS:PORT",
	  "answer on this address, or on unix:PATH (default " LISTEN_DEFAULT ")" },
	{ "allow-host", 0, OPTION_LIST, offsetof(struct serve, allow_hosts), "NAME",
	  "answer requests to this name, too; required for an address that others reach; "
	  "repeatable" },
	{ "by", 0, OPTION_LIST, offsetof(struct serve, by), NULL,
	  "also tell these apart, of the tasks that submitted: cgroups, units of systemd, "
	  "containers, pods; paths of multipath disks always are",
	  .choices = by_words },
	{ "buckets", 0, OPTION_NUMBER, offsetof(struct serve, buckets), "N",
	  "buckets of a histogram per factor of two: 1, 2, 4 or 8 (default 4)", .min = 1,
	  .max = 8 },
	{ "series", 0, OPTION_NUMBER, offsetof(struct serve, most_series), "N",
	  "maximum number of label sets; the rest is added up as other (default 2000)", .min = 1,
	  .max = 65536 },
	{ "keep", 0, OPTION_DURATION, offsetof(struct serve, keep_ns), "DURATION",
	  "keep a record of each command for this time, in memory: for /capture and the page",
	  .min = 1000000000, .max = 86400000000000ULL },
	{ "keep-size", 0, OPTION_SIZE, offsetof(struct serve, keep_bytes), "SIZE",
	  "with --keep: memory for records; the oldest go first (default 64Mi)", .min = 1 << 20,
	  .max = 1ULL << 32 },
	{ "buffer", 0, OPTION_SIZE, offsetof(struct serve, buffer), "SIZE",
	  "with --keep: size of each CPU's ring (default 4Mi); a full ring drops records and "
	  "counts them",
	  .min = 4096, .max = 1 << 30 },
	{ "budget", 0, OPTION_SHARE, offsetof(struct serve, budget), "SHARE",
	  "time only some commands, if our programs would take more of the CPUs' time, e.g. 0.5%",
	  .min = 1, .max = 1000000,
	  .not_with = "by,keep,pid,comm,cgroup,nsid,qid,ctrl-id,min,failed" },
	{ 0 },
};

static const struct option_group serve_group = { "What is served", serve_options };

static int serve_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_serve = {
	.name = "serve",
	.group = "I/O",
	.brief = "metrics for Prometheus and a live page, over HTTP",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&filter_group, &lasting_group),
	.own = &serve_group,
	.view_size = sizeof(struct serve),
	.run = serve_run,
	.needs = NEED_IO,
};

/* An interval that finds no memory is missing on the page, not in the counts. */
static int serve_on_second(void *arg)
{
	struct serve *v = arg;
	char *lines = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&lines, &len);
	int err = out ? reading__take(&v->reading) : -ENOMEM;

	err = err ?: interval__end(&v->interval, &v->reading, clock__mono_ns(), out);
	if (out && fclose(out))
		err = -ENOMEM;
	if (!err)
		reading__forget(&v->reading);
	if (!err)
		events__add(&v->events, v->interval.run, lines);
	free(lines);
	http__wake(v->http);
	return 0;
}

/* ---- the run ---- */

static struct io_wants serve_wants(void *state, const struct options *options)
{
	const struct serve *v = state;

	return (struct io_wants){
		.filter = &options->filter,
		.by_cgroup = v->reading.series.by & SERIES_OF_CGROUP,
		.by_path = true,
		.own_cost = true,
		.records = v->keep_ns.given,
		.rows = v->keep_ns.given && !v->reading.counts_records,
		.drop_rows = v->reading.counts_records,
		.troubles = v->keep_ns.given,
		.failures = !v->keep_ns.given,
		.reuse_after_ns = v->keep_ns.given ? serve_reuse_ns : 0,
		.buffer_bytes = v->buffer.given ? v->buffer.value : 0,
		.budget = (double)v->budget.value / 1e6,
	};
}

static const struct file_options *serve_keeps(const void *state)
{
	return &((const struct serve *)state)->kept;
}

static int serve_on_record(void *state, struct session *s, const struct io_record *record)
{
	struct serve *v = state;

	failures__add(&v->reading.failures, s, record);
	who__add(&v->who, record);
	return reading__add_record(&v->reading, record);
}

static int serve_on_start(void *state, struct session *s)
{
	struct serve *v = state;
	char text[160];
	int err;

	v->content = (struct content){ s, &v->reading, &v->interval, 0 };
	reading__start(&v->reading, s);
	interval__start(&v->interval, s->start_ns, clock__wall_ns());
	err = http__new(&v->http, &(struct http_options){
					  .fd = v->fd,
					  .hosts = { v->allow_hosts.words, v->allow_hosts.nr,
						     listen_address__is_unix(&v->address) },
					  .make = content__make,
					  .arg = &v->content,
					  .page = v->page,
					  .events = &v->events,
					  .run = v->interval.run,
					  .keeps = v->keep_ns.given,
				  });
	if (err)
		return err;
	v->fd = -1;
	err = session__watch(s, http__fd(v->http), http__run, v->http);
	err = err ?: session__every(s, serve_timer_ns, serve_on_second, v);
	if (err)
		return err;
	log_note("serving %s", listen_address__text(&v->address, text, sizeof(text)));
	if (v->keep_ns.given)
		log_note("keeping the last %s in memory, at most %s",
			 units__format(text, 32, v->keep_ns.value, units_duration),
			 text__bytes(text + 32, 32, v->kept.size_bytes.value));
	return 0;
}

static void serve_needs(const void *state, struct privilege_needs *needs)
{
	(void)state;
	needs->serves = true;
}

static int serve_on_end(void *state, struct session *s)
{
	struct serve *v = state;
	int err = reading__take(&v->reading);

	io_source__take_ledger(s, v->reading.series.counted);
	return err ? log_no_memory() : 0;
}

static const struct session_view serve_view = {
	.wants = serve_wants,
	.on_start = serve_on_start,
	.needs = serve_needs,
	.opens_nothing = true,
	.on_end = serve_on_end,
};

static const struct session_view serve_keep_view = {
	.wants = serve_wants,
	.on_start = serve_on_start,
	.on_record = serve_on_record,
	.keeps = serve_keeps,
	.needs = serve_needs,
	.opens_nothing = true,
	.on_end = serve_on_end,
};

/* ---- the start ---- */

static int serve_check_hosts(const struct serve *v)
{
	for (size_t i = 0; i < v->allow_hosts.nr; i++)
		if (!host__is_name(v->allow_hosts.words[i]))
			return log_err(-EINVAL,
				       "--allow-host %s: expected a name or address without a "
				       "port, e.g. host1.example.org or [2001:db8::1]",
				       v->allow_hosts.words[i]);
	return 0;
}

/* Sets fd and address. What others reach has to say by which names. */
static int serve_open(struct serve *v)
{
	int fd = listen__inherit(&v->address), err = 0;
	char text[160];

	if (fd >= 0 && v->listen)
		err = log_err(-EINVAL, "--listen: systemd passed a socket (LISTEN_FDS)");
	else if (fd == -ENOENT)
		err = listen_address__parse(&v->address, v->listen ? v->listen : LISTEN_DEFAULT);
	else if (fd < 0)
		return fd;
	if (!err && !listen_address__is_local(&v->address) && !v->allow_hosts.nr)
		err = log_err(-EINVAL,
			      "%s is not loopback: --allow-host NAME is required, with the name "
			      "in the scraper's URL",
			      listen_address__text(&v->address, text, sizeof(text)));
	if (!err && fd < 0)
		err = fd = listen__open(&v->address);
	v->fd = fd;
	return err < 0 ? err : 0;
}

static int serve_check_buckets(const struct serve *v)
{
	uint64_t nr = v->buckets.value;

	if (v->buckets.given && nr & (nr - 1))
		return log_err(-EINVAL, "--buckets %" PRIu64 ": expected 1, 2, 4 or 8", nr);
	return 0;
}

static int serve_check_keep(const struct serve *v)
{
	if (!v->keep_ns.given && v->keep_bytes.given)
		return log_err(-EINVAL, "--keep-size requires --keep DURATION");
	if (!v->keep_ns.given && v->buffer.given)
		return log_err(-EINVAL, "--buffer requires --keep DURATION");
	return 0;
}

static void serve_prepare_keep(struct serve *v)
{
	if (!v->keep_ns.given)
		return;
	v->kept.last_ns = v->keep_ns;
	v->kept.size_bytes = v->keep_bytes;
	if (!v->keep_bytes.given)
		v->kept.size_bytes = (struct option_number){ SERVE_KEEP_BYTES, true };
	v->interval.kept_ns = v->keep_ns.value;
	v->interval.who = &v->who;
}

static int serve_prepare(struct serve *v)
{
	struct series_set *series = &v->reading.series;
	int err;

	edges__init(&v->edges,
		    v->buckets.given ? (unsigned int)v->buckets.value : EDGES_PER_OCTAVE);
	interval__init(&v->interval);
	series->edges = &v->edges;
	series->by = 1u << SERIES_PATH; /* a label of multipath disks only */
	series->most = v->most_series.given ? v->most_series.value : SERVE_SERIES;
	for (size_t i = 0; by_words[i]; i++)
		if (option_list__mask(&v->by, by_words) >> i & 1)
			series->by |= by_bits[i];
	serve_prepare_keep(v);
	/* Records do not say in which cgroup their task was. */
	v->reading.counts_records = v->keep_ns.given && !(series->by & SERIES_OF_CGROUP);
	v->reading.counts_failures = !v->keep_ns.given;
	v->reading.is_sampled = v->budget.given;
	err = reading__init(&v->reading);
	err = err ?: live_page__make(&v->page);
	return err ? log_no_memory() : 0;
}

static int serve_run(void *state, const struct options *options, char **argv)
{
	struct serve *v = state;
	int err = http__check();

	v->fd = -1;
	err = err ?: serve_check_hosts(v);
	err = err ?: serve_check_buckets(v);
	err = err ?: serve_check_keep(v);
	err = err ?: serve_open(v);
	err = err ?: serve_prepare(v);
	err = err
		      ?: session__run(v->keep_ns.given ? &serve_keep_view : &serve_view, v, options,
				      argv);
	http__free(v->http);
	if (v->fd >= 0)
		close(v->fd);
	reading__free(&v->reading);
	events__free(&v->events);
	who__free(&v->who);
	live_page__free(&v->page);
	return err;
}
