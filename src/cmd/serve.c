/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve.c: how long do I/Os take, for Prometheus? Counts in the kernel as `latency` does, at its
 * cost, and answers GET of /metrics with all counts of that moment. It cannot see what `latency`
 * cannot, nor how a command failed: only records tell, and those cost more.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/privilege.h"
#include "cmd/cmd.h"
#include "decode/op.h"
#include "serve/http.h"
#include "serve/listen.h"
#include "serve/metrics.h"
#include "session/io_source.h"
#include "session/session.h"

static const uint64_t serve_timer_ns = 1000000000;
enum { SERVE_SERIES = 2000, SERVE_KINDS = 4 /* enum io_kind */ };

/* Every disk has these: their series exist before the first command, or its rate would be unknown.
 */
static const char *const usual_words[] = { "read", "write" };
enum { USUAL_OPS = 2 };

struct serve {
	/* options */
	const char *listen;
	struct option_list allow_hosts, by;
	struct option_number buckets, most_series;
	/* state */
	struct listen_address address;
	int fd; /* until the server owns it; -1 */
	struct session *session;
	struct http *http;
	struct edges edges;
	struct series_set series;
	struct ledger shown;		   /* counts that never go down */
	int usual[USUAL_OPS][SERVE_KINDS]; /* numbers of these operations; -1: not wanted */
	char device_text[48], op_text[16], cgroup_text[256];
	int err; /* of a reading */
};

static const char *const by_words[] = { "path", "cgroup", NULL };
static const uint32_t by_bits[] = { 1u << BY_PATH, 1u << BY_CGROUP };

static const struct option_def serve_options[] = {
	{ "listen", 0, OPTION_STRING, offsetof(struct serve, listen), "ADDRESS:PORT",
	  "answer on this address, or on unix:PATH (default " LISTEN_DEFAULT ")" },
	{ "allow-host", 0, OPTION_LIST, offsetof(struct serve, allow_hosts), "NAME",
	  "answer requests to this name, too; required for an address that others reach; "
	  "repeatable" },
	{ "by", 0, OPTION_LIST, offsetof(struct serve, by), NULL,
	  "also tell these apart: paths of multipath disks, cgroups of the tasks that submitted",
	  .choices = by_words },
	{ "buckets", 0, OPTION_NUMBER, offsetof(struct serve, buckets), "N",
	  "buckets of a histogram per factor of two: 1, 2, 4 or 8 (default 4)", .min = 1,
	  .max = 8 },
	{ "series", 0, OPTION_NUMBER, offsetof(struct serve, most_series), "N",
	  "maximum number of label sets; the rest is added up as other (default 2000)", .min = 1,
	  .max = 65536 },
	{ 0 },
};

static const struct option_group serve_group = { "What is served", serve_options };

static int serve_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_serve = {
	.name = "serve",
	.group = "I/O",
	.brief = "metrics for Prometheus, over HTTP",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = CMD_GROUPS(&filter_group, &lasting_group),
	.own = &serve_group,
	.view_size = sizeof(struct serve),
	.run = serve_run,
	.needs = NEED_IO,
};

/* ---- a scrape ---- */

/* Texts are valid until the next call. */
static void serve_label(void *arg, const struct io_tags *tags, const char *labels[NR_SERIES_LABELS])
{
	struct serve *v = arg;
	const struct device_list *list = io_source__devices(v->session);

	labels[SERIES_DEVICE] =
		device_list__label(list, tags->device - 1, v->device_text, sizeof(v->device_text));
	if (tags->device > 0 && *list->devices[tags->device - 1].model)
		labels[SERIES_MODEL] = list->devices[tags->device - 1].model;
	labels[SERIES_OP] = op__word(tags->kind, tags->op, io_source__op_names(v->session),
				     v->op_text, sizeof(v->op_text));
	if (tags->path > 0 && tags->path != tags->device) /* a disk with one path has none */
		labels[SERIES_PATH] = list->devices[tags->path - 1].name;
	if (v->series.by >> BY_CGROUP & 1)
		labels[SERIES_CGROUP] = session__cgroup_path(
			v->session, tags->cgroup, v->cgroup_text, sizeof(v->cgroup_text));
}

static void serve_take_part(void *arg, const struct io_tags *tags, const struct hist *part)
{
	struct serve *v = arg;

	if (series_set__add(&v->series, tags, part))
		v->err = -ENOMEM;
}

/* With --by cgroup it is not known which there will be. */
static void serve_expect(struct serve *v)
{
	static const struct hist nothing;
	const struct device_list *list = io_source__devices(v->session);

	for (size_t i = 0; i < list->nr && !(v->series.by >> BY_CGROUP & 1); i++) {
		const struct device *device = &list->devices[i];
		enum io_kind kind = device->kind == DEVICE_NVME_NS ? IO_NVME : IO_BLOCK;

		if (device->kind == DEVICE_NVME_CTRL ||
		    !io__measures(io_source__collector(v->session), device))
			continue;
		for (int op = 0; op < USUAL_OPS; op++)
			if (v->usual[op][kind] >= 0)
				serve_take_part(
					v,
					&(struct io_tags){
						.device = device_list__head(list, (int)i) + 1,
						.path = (int32_t)i + 1,
						.kind = kind,
						.op = (uint8_t)v->usual[op][kind],
					},
					&nothing);
	}
}

static int serve_read(struct serve *v)
{
	v->err = 0;
	series_set__begin(&v->series);
	serve_expect(v);
	io_source__read(v->session, serve_take_part, v);
	series_set__end(&v->series);
	return v->err;
}

static bool serve_is_gone(void *arg, int32_t device)
{
	const struct serve *v = arg;

	return io_source__devices(v->session)->devices[device - 1].gone;
}

static int serve_write(struct serve *v, enum openmetrics_format format, FILE *out)
{
	struct io *io = io_source__collector(v->session);
	struct metrics metrics = { &v->series, &v->shown, format, .now_ns = clock__mono_ns() };
	struct io_own_cost own;
	struct ledger now;
	int err = serve_read(v);

	if (err)
		return err;
	series_set__retire(&v->series, metrics.now_ns, serve_is_gone);
	io__recount_skipped(io);
	io__ledger(io, &now);
	metrics__raise(&v->shown, &now);
	own = io__own_cost(io);
	metrics.own_ns = own.is_known ? &own.ns : NULL;
	return metrics__write(&metrics, out);
}

static int serve_metrics(void *arg, enum openmetrics_format format, char **text, size_t *len)
{
	FILE *out = open_memstream(text, len);
	int err;

	if (!out)
		return -ENOMEM;
	err = serve_write(arg, format, out);
	if (fclose(out))
		err = -ENOMEM;
	if (err) {
		free(*text);
		*text = NULL;
	}
	return err;
}

/* ---- the run ---- */

static struct io_wants serve_wants(void *state, const struct options *options)
{
	const struct serve *v = state;

	return (struct io_wants){
		.filter = &options->filter,
		.by_cgroup = v->series.by >> BY_CGROUP & 1,
		.by_path = v->series.by >> BY_PATH & 1,
		.own_cost = true,
	};
}

static bool serve_has_op(const struct option_list *ops, const char *word)
{
	for (size_t i = 0; i < ops->nr; i++)
		if (!strcmp(ops->words[i], word))
			return true;
	return !ops->nr;
}

static void serve_find_usual(struct serve *v, const struct session *s)
{
	for (int op = 0; op < USUAL_OPS; op++) {
		uint64_t marks[SERVE_KINDS][4] = { { 0 } };

		if (serve_has_op(&s->options->filter.ops, usual_words[op]))
			op__mark(usual_words[op], io_source__op_names(s), marks);
		for (int kind = 0; kind < SERVE_KINDS; kind++) {
			v->usual[op][kind] = -1;
			for (int nr = 0; nr < 256 && v->usual[op][kind] < 0; nr++)
				if (marks[kind][nr / 64] >> (nr % 64) & 1)
					v->usual[op][kind] = nr;
		}
	}
}

static int serve_on_start(void *state, struct session *s)
{
	struct serve *v = state;
	char text[160];
	int err;

	v->session = s;
	serve_find_usual(v, s);
	err = http__new(&v->http, &(struct http_options){
					  .fd = v->fd,
					  .hosts = { v->allow_hosts.words, v->allow_hosts.nr,
						     listen_address__is_unix(&v->address) },
					  .metrics = serve_metrics,
					  .arg = v,
				  });
	if (err)
		return err;
	v->fd = -1;
	err = session__watch(s, http__fd(v->http), http__run, v->http);
	err = err ?: session__every(s, serve_timer_ns, http__run, v->http);
	if (err)
		return err;
	log_note("serving %s%s", listen_address__text(&v->address, text, sizeof(text)),
		 listen_address__is_unix(&v->address) ? "" : "/metrics");
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
	int err = serve_read(v);

	io_source__take_ledger(s, v->series.counted);
	return err ? log_no_memory() : 0;
}

static const struct session_view serve_view = {
	.wants = serve_wants,
	.on_start = serve_on_start,
	.needs = serve_needs,
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

static int serve_prepare(struct serve *v)
{
	int err;

	edges__init(&v->edges,
		    v->buckets.given ? (unsigned int)v->buckets.value : EDGES_PER_OCTAVE);
	v->series.edges = &v->edges;
	v->series.most = v->most_series.given ? v->most_series.value : SERVE_SERIES;
	v->series.label = serve_label;
	v->series.arg = v;
	for (size_t i = 0; by_words[i]; i++)
		if (option_list__mask(&v->by, by_words) >> i & 1)
			v->series.by |= by_bits[i];
	err = series_set__init(&v->series);
	return err ? log_no_memory() : 0;
}

static int serve_run(void *state, const struct options *options, char **argv)
{
	struct serve *v = state;
	int err = http__check();

	v->fd = -1;
	err = err ?: serve_check_hosts(v);
	err = err ?: serve_check_buckets(v);
	err = err ?: serve_open(v);
	err = err ?: serve_prepare(v);
	err = err ?: session__run(&serve_view, v, options, argv);
	http__free(v->http);
	if (v->fd >= 0)
		close(v->fd);
	series_set__free(&v->series);
	return err;
}
