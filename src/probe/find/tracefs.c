/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracefs.c: the kernel's tracepoints, from its own list and the format file of each. The list is
 * read once (2,000 names, some ms), a format when that event is needed. Requires root: tracefs is
 * hidden from other users.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/grow.h"
#include "base/log.h"
#include "probe/find/inside.h"

enum {
	TRACEFS_LIST_MAX = 16 << 20, /* bytes */
	TRACEFS_FORMAT_MAX = 1 << 20,
	TRACEFS_ID_MAX = 32,
};

static const char *const tracefs_places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

/* ---- the list of events ---- */

static int tracefs_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A name becomes part of a path. */
static bool tracefs_is_name(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && colon > name && colon[1] && !strchr(colon + 1, ':') && !strchr(name, '/') &&
	       *name != '.' && colon[1] != '.';
}

static int tracefs_split(struct find_tracefs *t)
{
	size_t room = 0;
	char *line, *rest = t->text;

	while ((line = strsep(&rest, "\n"))) {
		if (!tracefs_is_name(line))
			continue;
		if (GROW(t->names, room, t->nr + 1))
			return -ENOMEM;
		t->names[t->nr++] = line;
	}
	if (t->nr)
		qsort(t->names, t->nr, sizeof(*t->names), tracefs_compare);
	return 0;
}

static const char *tracefs_event(const struct find_tracefs *t, size_t nr)
{
	return strchr(t->names[nr], ':') + 1;
}

static const char *tracefs_system(const struct find_tracefs *t, size_t nr)
{
	return t->systems + (t->names[nr] - t->text);
}

static int tracefs_open(struct finder *finder, const char *place)
{
	struct find_tracefs *t = &finder->tracefs;

	if (asprintf(&t->dir, "%s%s", finder->root, place) < 0) {
		t->dir = NULL;
		return -ENOMEM;
	}
	t->text = find__read_file(TRACEFS_LIST_MAX, "%s/available_events", t->dir);
	if (!t->text) {
		free(t->dir);
		t->dir = NULL;
		return -errno;
	}
	t->systems = strdup(t->text);
	if (!t->systems)
		return -ENOMEM;
	for (char *colon = t->systems; (colon = strchr(colon, ':'));)
		*colon++ = 0;
	return tracefs_split(t);
}

int find_tracefs__read(struct finder *finder)
{
	struct find_tracefs *t = &finder->tracefs;
	int err;

	if (t->is_read)
		return t->err;
	t->is_read = true;
	for (size_t i = 0; i < sizeof(tracefs_places) / sizeof(tracefs_places[0]); i++) {
		err = tracefs_open(finder, tracefs_places[i]);
		/* A permission error says more than a missing file. */
		if (!i || !err || err != -ENOENT)
			t->err = err;
		if (!err)
			break;
	}
	return t->err;
}

static bool tracefs_has_place(const struct finder *finder)
{
	char *path;
	bool has;

	if (asprintf(&path, "%s%s", finder->root, tracefs_places[0]) < 0)
		return false;
	has = !access(path, F_OK);
	free(path);
	return has;
}

/* Says why tracefs cannot be read, and the remedy; -EACCES or -EOPNOTSUPP. */
static int tracefs_refuse(const struct finder *finder)
{
	int err = finder->tracefs.err;

	if (err == -ENOMEM)
		return log_no_memory();
	if (err == -EACCES || err == -EPERM)
		return log_err(-EACCES,
			       "cannot read the events in %s: %s; run it as root, without lockdown",
			       tracefs_places[0], strerror(-err));
	if (err != -ENOENT)
		return log_err(-EIO, "cannot read the events in %s: %s", tracefs_places[0],
			       strerror(-err));
	if (tracefs_has_place(finder))
		return log_err(-EOPNOTSUPP, "tracefs is not mounted; mount -t tracefs tracefs %s",
			       tracefs_places[0]);
	return log_err(-EOPNOTSUPP, "this kernel has no tracefs (CONFIG_TRACING): no tracepoints");
}

void find_tracefs__free(struct find_tracefs *t)
{
	free(t->dir);
	free(t->text);
	free(t->systems);
	free(t->names);
	*t = (struct find_tracefs){ 0 };
}

/* ---- one event ---- */

/* A file of the event's directory, events/SYSTEM/EVENT. */
static char *tracefs_read_part(const struct finder *finder, const char *name, const char *file,
			       size_t most_bytes)
{
	const char *event = strchr(name, ':') + 1;

	return find__read_file(most_bytes, "%s/events/%.*s/%s/%s", finder->tracefs.dir,
			       (int)(event - name - 1), name, event, file);
}

static int tracefs_read_id(const struct finder *finder, const char *name, uint32_t *id)
{
	char *text = tracefs_read_part(finder, name, "id", TRACEFS_ID_MAX), *end;
	unsigned long number;

	if (!text)
		return -errno;
	number = strtoul(text, &end, 10);
	if (end == text || number > UINT32_MAX) {
		free(text);
		return -EPROTO;
	}
	free(text);
	*id = (uint32_t)number;
	return 0;
}

/* "const struct iovec *": the kernel's BTF describes the type. */
static void tracefs_complete(struct finder *finder, struct probe_field *field)
{
	const char *type = field->declared;
	struct find_btf *vmlinux;
	char name[128];
	uint32_t id;

	if (field->type.kind != TYPE_POINTER || !type)
		return;
	if (!strncmp(type, "const ", strlen("const ")))
		type += strlen("const ");
	if (strchr(type, '*') != strrchr(type, '*') || sscanf(type, "struct %127[^ *]", name) != 1)
		return;
	vmlinux = find_btf__vmlinux(finder);
	if (!vmlinux || !find_index__get(&vmlinux->structs, name, &id))
		return;
	field->type.btf = vmlinux->btf;
	field->type.id = id;
}

static int tracefs_read_probe(struct finder *finder, const char *name, struct probe *probe)
{
	int err = tracefs_read_id(finder, name, &probe->tracepoint_id);
	char *format;

	if (err)
		return err;
	format = tracefs_read_part(finder, name, "format", TRACEFS_FORMAT_MAX);
	if (!format)
		return -errno;
	err = find_format__parse(format, !strncmp(name, "syscalls:", strlen("syscalls:")), probe);
	free(format);
	for (size_t i = 0; i < probe->nr_fields; i++)
		tracefs_complete(finder, &probe->fields[i]);
	return err ? err : find__set_name(probe, NULL, name);
}

/* A module may leave between the list and its event. */
static int tracefs_add(struct find_job *job, const char *name)
{
	struct probe probe = { .kind = PROBE_TRACEPOINT };
	int err = tracefs_read_probe(job->finder, name, &probe);

	err = probe_list__add_made(job->list, &probe, err);
	return !err || err == -ENOMEM ? err : find__miss(job, name, strerror(-err));
}

/* ---- search ---- */

/* A listing may name only the system, or only the event. */
static bool tracefs_matches(const struct find_job *job, size_t nr)
{
	const struct find_tracefs *t = &job->finder->tracefs;

	if (!job->is_loose || strchr(job->rest, ':'))
		return find__matches(job->rest, t->names[nr]);
	return !*job->rest || find__matches(job->rest, tracefs_system(t, nr)) ||
	       find__matches(job->rest, tracefs_event(t, nr));
}

/* "block_rq_issue": the system is missing. */
static int tracefs_refuse_word(const struct find_job *job)
{
	const struct find_tracefs *t = &job->finder->tracefs;

	for (size_t i = 0; i < t->nr; i++)
		if (!strcmp(tracefs_event(t, i), job->spec))
			return log_err(-EINVAL, "'%s' is not an event; did you mean %s?", job->spec,
				       t->names[i]);
	return log_err(-EINVAL,
		       "'%s' is not an event; write system:event, raw:EVENT, fn:FUNCTION, ret:, "
		       "user:, usdt:, profile:HZ, interval:1s, soft: or hw:",
		       job->spec);
}

/* A listing with one word: it may resemble an event or a system. */
static int tracefs_refuse_loosely(const struct find_job *job)
{
	const struct find_tracefs *t = &job->finder->tracefs;
	const char **names = calloc(2 * t->nr + 1, sizeof(*names));
	size_t nr = 0;
	int err;

	for (size_t i = 0; names && i < t->nr; i++) {
		names[nr++] = tracefs_event(t, i);
		if (!i || strcmp(tracefs_system(t, i), tracefs_system(t, i - 1)))
			names[nr++] = tracefs_system(t, i);
	}
	err = names ? find__unknown(job, "event", "", names, nr) : log_no_memory();
	free(names);
	return err;
}

int find__tracepoints(struct find_job *job)
{
	const struct find_tracefs *t = &job->finder->tracefs;
	size_t before = job->list->nr;
	int err = 0;

	if (find_tracefs__read(job->finder))
		return tracefs_refuse(job->finder);
	if (!job->is_loose && !strchr(job->rest, ':'))
		return tracefs_refuse_word(job);
	if (!job->is_loose && (*job->rest == ':' || job->rest[strlen(job->rest) - 1] == ':'))
		return log_err(-EINVAL,
			       "'%s' is not a complete event; write e.g. block:block_rq_issue or "
			       "'block:*'",
			       job->spec);
	for (size_t i = 0; !err && i < t->nr; i++)
		if (tracefs_matches(job, i))
			err = tracefs_add(job, t->names[i]);
	if (err)
		return log_no_memory();
	if (job->list->nr > before)
		return 0;
	if (!strchr(job->rest, ':'))
		return tracefs_refuse_loosely(job);
	return find__unknown(job, "event", "", (const char *const *)t->names, t->nr);
}

int find__tracepoint_names(const struct find_naming *naming)
{
	const struct find_tracefs *t = &naming->finder->tracefs;
	int err = find_tracefs__read(naming->finder);

	for (size_t i = 0; !err && i < t->nr; i++)
		err = find__name(naming, t->names[i]);
	return err;
}
