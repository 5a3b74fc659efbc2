/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/chrome.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/index.h"
#include "decode/column.h"

/*
 * The idle task of every CPU is task 0. They run at the same time, so each needs its own line:
 * numbers that no task has, starting at the kernel's PID_MAX_LIMIT.
 */
enum { CHROME_IDLE = 4194304 };

/* A process or one of its tasks, with its last name. */
struct chrome_name {
	uint64_t id;
	char comm[16];
};

struct chrome {
	FILE *out;
	bool has_events;
	struct chrome_name *names; /* as they came */
	struct index index;
};

/* ---- names ---- */

/* NULL: out of memory. */
static struct chrome_name *chrome_name(struct chrome *c, uint64_t id)
{
	return index__entry(&c->index, &c->names, sizeof(*c->names), id);
}

static uint64_t chrome_process(uint32_t pid)
{
	return 2ull << 32 | pid;
}

static uint64_t chrome_task(uint32_t tid)
{
	return 1ull << 32 | tid;
}

/* ---- JSON ---- */

static void chrome_open(struct chrome *c)
{
	fputs(c->has_events ? ",\n{" : "\n{", c->out);
	c->has_events = true;
}

static void chrome_put_key(struct chrome *c, const char *key, const char *text)
{
	fprintf(c->out, "\"%s\":", key);
	text__put_json(c->out, text);
}

/* us, as the format requires, without losing the ns. */
static void chrome_put_time(struct chrome *c, const char *key, uint64_t ns)
{
	fprintf(c->out, ",\"%s\":%" PRIu64 ".%03u", key, ns / 1000, (unsigned)(ns % 1000));
}

static void chrome_put_name(struct chrome *c, const char *what, uint32_t pid, uint32_t tid,
			    const char *comm)
{
	chrome_open(c);
	fprintf(c->out, "\"name\":\"%s\",\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"args\":{", what, pid,
		tid);
	chrome_put_key(c, "name", comm);
	fputs("}}", c->out);
}

/* execve may rename a task: the last name stays. is_new: it must be written. */
static int chrome_note(struct chrome *c, uint64_t id, const char *comm, bool *is_new)
{
	const size_t known = c->index.nr;
	struct chrome_name *name = chrome_name(c, id);

	if (!name)
		return -ENOMEM;
	*is_new = c->index.nr > known || strncmp(name->comm, comm, sizeof(name->comm) - 1) != 0;
	snprintf(name->comm, sizeof(name->comm), "%s", comm);
	return 0;
}

/* A process has the name of its first task, or until that appears, of the first task seen. */
static int chrome_name_process(struct chrome *c, const struct chrome_event *e, uint32_t tid)
{
	const char *comm = e->process ? e->process : e->tid ? e->comm : "swapper";
	const size_t known = c->index.nr;
	bool is_new = false;
	int err = 0;

	if (e->tid == e->pid)
		err = chrome_note(c, chrome_process(e->pid), comm, &is_new);
	else if (!chrome_name(c, chrome_process(e->pid)))
		err = -ENOMEM;
	if (!err && (is_new || c->index.nr > known))
		chrome_put_name(c, "process_name", e->pid, tid, comm);
	return err;
}

static int chrome_name_task(struct chrome *c, const struct chrome_event *e, uint32_t tid)
{
	bool is_new = false;
	int err = chrome_note(c, chrome_task(tid), e->comm, &is_new);

	if (!err && is_new)
		chrome_put_name(c, "thread_name", e->pid, tid, e->comm);
	return err;
}

static void chrome_put_args(struct chrome *c, const struct chrome_event *e)
{
	fprintf(c->out, ",\"args\":{\"cpu\":%u", e->cpu);
	for (size_t i = 0; i < e->nr_args; i++)
		if (e->args[i].text) {
			fputc(',', c->out);
			chrome_put_key(c, e->args[i].key, e->args[i].text);
		}
	fputs("}}", c->out);
}

/* ---- all ---- */

struct chrome *chrome__begin(FILE *out)
{
	struct chrome *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->out = out;
	fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", out);
	return c;
}

int chrome__put(struct chrome *c, const struct chrome_event *e)
{
	const uint32_t tid = e->tid ? e->tid : CHROME_IDLE + e->cpu;
	const bool is_mark = e->duration_ns == CHROME_NO_DURATION;
	int err = chrome_name_process(c, e, tid);

	err = err ? err : chrome_name_task(c, e, tid);
	if (err)
		return err;
	chrome_open(c);
	chrome_put_key(c, "name", e->name);
	fputc(',', c->out);
	chrome_put_key(c, "cat", e->category);
	fprintf(c->out, ",\"ph\":\"%s\"", is_mark ? "i\",\"s\":\"t" : "X");
	chrome_put_time(c, "ts", e->start_ns);
	if (!is_mark)
		chrome_put_time(c, "dur", e->duration_ns);
	fprintf(c->out, ",\"pid\":%u,\"tid\":%u", e->pid, tid);
	chrome_put_args(c, e);
	return 0;
}

void chrome__counter(struct chrome *c, const struct chrome_counter *counter)
{
	chrome_open(c);
	chrome_put_key(c, "name", counter->name);
	fputs(",\"ph\":\"C\"", c->out);
	chrome_put_time(c, "ts", counter->time_ns);
	fprintf(c->out, ",\"pid\":%u,\"args\":{", counter->pid);
	text__put_json(c->out, counter->unit);
	fprintf(c->out, ":%" PRIu64 "}}", counter->value);
}

void chrome__end(struct chrome *c)
{
	fputs("\n]}\n", c->out);
}

void chrome__free(struct chrome *c)
{
	if (!c)
		return;
	free(c->names);
	index__free(&c->index);
	free(c);
}
