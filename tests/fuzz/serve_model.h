/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_model.h: a small machine for the fuzz target `serve`: two disks, six kinds of commands of
 * two cgroups, eight records, some of them failed, and the kubelet's links. Names of disks, tasks,
 * cgroups and links are the input's. model__make makes pages as serve/content.c does. It has no
 * collector: the counts of a reading are put in by hand, so reading__take is not reached.
 */
#ifndef IOSONAR_FUZZ_SERVE_MODEL_H
#define IOSONAR_FUZZ_SERVE_MODEL_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "capture/bytes.h"
#include "serve/commands.h"
#include "serve/gzip.h"
#include "serve/http.h"
#include "serve/interval.h"
#include "serve/reading.h"
#include "session/io_source.h"
#include "session/source.h"
#include "view/report_whole.h"
#include "wire/io_tables.h"

/* What the input says. Lists have '&' between their names. */
struct model_names {
	const char *disk, *model, *comm;
	char *cgroups, *links;
};

enum { MODEL_DISKS = 2, MODEL_CGROUPS = 2, MODEL_RECORDS = 8, MODEL_START_NS = 1000000000 };

struct model {
	struct device devices[MODEL_DISKS];
	struct device_list list;
	struct session_inside inside;
	struct session session;
	struct reading reading;
	struct interval interval;
	struct who who;
	struct events events;
	char comm[17];
};

static struct model *model;  /* the answers of a source have no other way to it */
static char model_links[64]; /* a directory */

/* ---- what a source answers ---- */

static const struct device *model_device(struct session *s, const struct io_record *record)
{
	(void)s;
	return record->device < MODEL_DISKS ? &model->devices[record->device] : NULL;
}

static const struct device_list *model_devices(const struct session *s)
{
	(void)s;
	return &model->list;
}

static char *const *model_op_names(const struct session *s)
{
	static char *names[256] = { "read", "write", "flush" };

	(void)s;
	return names;
}

static const struct io_answers model_answers = {
	.device = model_device,
	.devices = model_devices,
	.op_names = model_op_names,
};
static const struct session_source model_source = { .io = &model_answers };

/* ---- the kubelet's links ---- */

static void model_link(char *names, void (*fn)(int dir, const char *name))
{
	int dir = open(model_links, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char *copy = strdup(names), *rest = copy;
	const char *name;

	while (dir >= 0 && (name = strsep(&rest, "&")))
		if (*name && strlen(name) < 256 && !strchr(name, '/') && *name != '.')
			fn(dir, name);
	free(copy);
	if (dir >= 0)
		close(dir);
}

static void model_make_link(int dir, const char *name)
{
	int fd = openat(dir, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
}

static void model_drop_link(int dir, const char *name)
{
	unlinkat(dir, name, 0);
}

static void model_begin_links(void)
{
	if (*model_links)
		return;
	snprintf(model_links, sizeof(model_links), "/dev/shm/iosonar-fuzz.%d", getpid());
	mkdir(model_links, 0700);
}

/* ---- the counts ---- */

static void model_name_cgroups(struct model *m, char *paths)
{
	struct glossary *glossary = &m->inside.about.glossaries[GLOSSARY_CGROUPS];
	char *copy = strdup(paths), *rest = copy;
	const char *path;

	for (uint64_t id = 1; id <= MODEL_CGROUPS && (path = strsep(&rest, "&")); id++)
		if (*path == '/')
			glossary__add(glossary, (struct glossary_id){ { id } }, path);
	free(copy);
}

/* Each disk has reads and writes of each cgroup. */
static void model_count(struct model *m)
{
	struct reading *r = &m->reading;

	series_set__begin(&r->series, MODEL_START_NS);
	pods__begin(&r->pods);
	breakdown__begin(&r->rows);
	for (unsigned int i = 0; i < MODEL_DISKS * MODEL_CGROUPS * 2; i++) {
		const struct io_tags tags = {
			.device = 1 + (int32_t)i % MODEL_DISKS,
			.cgroup = 1 + i / MODEL_DISKS % MODEL_CGROUPS,
			.kind = i % MODEL_DISKS ? IO_BLOCK : IO_NVME,
			.op = (uint8_t)(i / (MODEL_DISKS * MODEL_CGROUPS)),
		};
		struct hist *part = calloc(1, sizeof(*part));

		for (unsigned int n = 0; n <= i; n++)
			hist__add(part, 1000ULL << n, 4096);
		series_set__add(&r->series, &tags, part);
		breakdown__add(&r->rows, &tags, part);
		free(part);
	}
	series_set__end(&r->series);
}

static struct io_record model_record(const struct model *m, unsigned int nr)
{
	struct io_record record = {
		.first_ns = MODEL_START_NS + nr * 1000000ULL,
		.last_ns = MODEL_START_NS + nr * 1000000ULL,
		.end_ns = MODEL_START_NS + nr * 1000000ULL + 50000,
		.bytes = 4096,
		.pid = 1234,
		.device = (uint16_t)(nr % (MODEL_DISKS + 1)), /* one is unknown */
		.kind = nr % 2 ? IO_BLOCK : IO_NVME,
		.op = (uint8_t)(nr % 3),
		.status = nr % 4 == 3 ? 5 : 0,
		.attempts = 1,
		.what = RECORD_END,
	};

	memcpy(record.comm, m->comm, sizeof(record.comm));
	return record;
}

static int model_number(void *arg, const struct io_record *record)
{
	(void)arg;
	return record->device < MODEL_DISKS ? record->device : -1;
}

static const char *model_text(void *arg, enum glossary_kind kind, struct glossary_id id)
{
	(void)arg;
	(void)kind;
	(void)id;
	return NULL;
}

static void model_keep(struct model *m)
{
	static struct file_options kept = { .last_ns = { 60000000000, true },
					    .size_bytes = { 1 << 20, true } };
	const struct recorder_run run = {
		.options = &kept,
		.devices = &m->list,
		.device_of = model_number,
		.text = model_text,
		.op_names = (char **)model_op_names(&m->session),
		.start_ns = MODEL_START_NS,
	};

	if (recorder__new(&run, &m->inside.recorder))
		abort();
	for (unsigned int nr = 0; nr < MODEL_RECORDS; nr++) {
		const struct io_record record = model_record(m, nr);

		if (recorder__record(m->inside.recorder, &record))
			abort();
		failures__add(&m->reading.failures, &m->session, &record);
		who__add(&m->who, &record);
		exemplars__add(&m->reading.exemplars, &record,
			       recorder__kept_from(m->inside.recorder));
	}
}

/* A second ends: an event for those who watch. */
static void model_end_second(struct model *m)
{
	char *lines = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&lines, &len);

	if (interval__end(&m->interval, &m->reading, MODEL_START_NS + 1000000000ULL, out))
		abort();
	fclose(out);
	if (events__add(&m->events, m->interval.run, lines))
		abort();
	free(lines);
}

/* ---- the model ---- */

static void model_name(struct model *m, const struct model_names *names)
{
	m->devices[0] = (struct device){ .kind = DEVICE_NVME_NS, .nsid = 1, .block_size = 512 };
	m->devices[1] = (struct device){ .name = "sda", .kind = DEVICE_REQUEST, .ctrl = -1 };
	snprintf(m->devices[0].name, sizeof(m->devices[0].name), "%s", names->disk);
	snprintf(m->devices[0].model, sizeof(m->devices[0].model), "%s", names->model);
	snprintf(m->comm, sizeof(m->comm), "%s", names->comm);
	m->list = (struct device_list){ .devices = m->devices, .nr = MODEL_DISKS };
	model_name_cgroups(m, names->cgroups);
}

static void model__free(struct model *m, const struct model_names *names)
{
	model_link(names->links, model_drop_link);
	recorder__free(m->inside.recorder);
	reading__free(&m->reading);
	events__free(&m->events);
	who__free(&m->who);
	capture_about__free(&m->inside.about);
	free(m);
	model = NULL;
}

static struct model *model__new(const struct model_names *names)
{
	static const struct options options = { 0 };
	static struct edges edges;
	struct model *m = model = calloc(1, sizeof(*m));

	m->session = (struct session){ .options = &options,
				       .start_ns = MODEL_START_NS,
				       .inside = &m->inside };
	m->inside.source = &model_source;
	model_name(m, names);
	model_begin_links();
	model_link(names->links, model_make_link);
	if (!edges.bounds.nr)
		edges__init(&edges, 1);
	m->reading.series.edges = &edges;
	m->reading.series.most = 6; /* of eight: some are `other` */
	m->reading.series.by = 1u << SERIES_PATH | (*names->cgroups ? SERIES_OF_CGROUP : 0);
	if (reading__init(&m->reading))
		abort();
	m->reading.pods.directory = model_links;
	reading__start(&m->reading, &m->session);
	interval__init(&m->interval);
	interval__start(&m->interval, MODEL_START_NS, 31);
	m->interval.who = &m->who;
	model_count(m);
	model_keep(m);
	model_end_second(m);
	return m;
}

/* ---- the pages, as content.c makes them ---- */

static int model_put_devices(struct model *m, FILE *out)
{
	bool seen[MODEL_DISKS] = { true, true };
	const struct report_whole all = { .seen = seen, .nr_seen = MODEL_DISKS };

	return report_whole__put_devices(&all, &m->session, out);
}

static int model_put(struct model *m, const struct http_request *request, FILE *out)
{
	const struct metrics metrics = { &m->reading.series, &m->reading.shown, request->format,
					 .failures = &m->reading.failures, .kept_from = 1 };

	switch (request->page) {
	case ANSWER_METRICS: return metrics__write(&metrics, out);
	case ANSWER_DEVICES: return model_put_devices(m, out);
	case ANSWER_LEDGER: return interval__put_ledger(&m->reading, out);
	case ANSWER_COMMANDS: return commands__put(&m->session, request->query, out);
	case ANSWER_LATENCY:
		return interval__put_latency(&m->interval, &m->reading,
					     MODEL_START_NS + 2000000000ULL, out);
	default: abort();
	}
}

static int model_copy(struct model *m, const struct http_request *request, char **text, size_t *len)
{
	const uint64_t last_ns = request->query->ns[QUERY_LAST], now_ns = MODEL_START_NS + 9000000;
	struct byte_out out = { 0 };
	int err = recorder__copy(m->inside.recorder, last_ns < now_ns ? now_ns - last_ns : 0,
				 "asked for", &out);

	if (err)
		abort();
	*text = (char *)out.bytes;
	*len = out.len;
	return 0;
}

/* For http_options. Without a model it is later. */
static int model__make(void *arg, const struct http_request *request, char **text, size_t *len)
{
	struct gzip *gzip = NULL;
	FILE *out;

	if (!arg)
		return -EBUSY;
	if (request->page == ANSWER_CAPTURE)
		return model_copy(arg, request, text, len);
	if (request->zips)
		gzip = gzip__new(&out);
	else
		out = open_memstream(text, len);
	if (model_put(arg, request, out))
		abort();
	return gzip ? gzip__end(gzip, text, len) : fclose(out);
}

#endif
