/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/who.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct who_task {
	char comm[sizeof(((struct io_record *)0)->comm) + 1];
	uint64_t count, bytes, sum_ns, max_ns;
};

struct who_row {
	const char *comm;
	uint64_t count, mean_ns, max_ns;
	double iops, mb_per_s;
};

#define FIELD(name) offsetof(struct who_row, name)
static const struct column who_columns[] = {
	{ "comm", "process", CELL_TEXT, 0, "name of the task; null: all others",
	  .at = FIELD(comm) },
	{ "count", "count", CELL_NUMBER, 0, "its commands that ended", .at = FIELD(count) },
	{ "iops", "IO/s", CELL_RATE, 0, "of these per second", .at = FIELD(iops) },
	{ "mb_per_s", "MB/s", CELL_MBPS, 0, "10^6 bytes per second", .at = FIELD(mb_per_s) },
	{ "mean_ns", "mean", CELL_DURATION, 0, "mean latency", .at = FIELD(mean_ns) },
	{ "max_ns", "max", CELL_DURATION, 0, "maximum latency", .at = FIELD(max_ns) },
	{ 0 },
};
#undef FIELD
const struct object who_object = { "who", { who_columns } };

/* ---- counting ---- */

static bool who_is(const void *tasks, uint32_t number, const void *comm)
{
	return !strcmp(((const struct who_task *)tasks)[number].comm, comm);
}

/* NULL: out of memory: the page lacks these commands, no count does. */
static struct who_task *who_find(struct who *w, const char *comm)
{
	uint64_t hash = index__mix_text(0, comm);
	uint32_t number = index__find(&w->by_comm, hash, who_is, w->tasks, comm);

	if (number != INDEX_NONE)
		return &w->tasks[number];
	if (w->by_comm.nr >= WHO_MOST && *comm)
		return who_find(w, "");
	if (index__reserve(&w->by_comm, &w->tasks, sizeof(*w->tasks)))
		return NULL;
	number = index__add(&w->by_comm, hash);
	w->tasks[number] = (struct who_task){ .comm = "" };
	memcpy(w->tasks[number].comm, comm, strlen(comm) + 1);
	return &w->tasks[number];
}

static void who_count(struct who_task *task, const struct who_task *more)
{
	task->count += more->count;
	task->bytes += more->bytes;
	task->sum_ns += more->sum_ns;
	task->max_ns = more->max_ns > task->max_ns ? more->max_ns : task->max_ns;
}

void who__add(struct who *w, const struct io_record *r)
{
	const uint64_t lat_ns = r->end_ns > r->first_ns ? r->end_ns - r->first_ns : 0;
	char comm[sizeof(r->comm) + 1] = "";
	struct who_task *task;

	if (r->what != RECORD_END)
		return;
	memcpy(comm, r->comm, sizeof(r->comm));
	task = who_find(w, comm);
	if (task)
		who_count(task, &(struct who_task){ "", 1, r->bytes, lat_ns, lat_ns });
}

/* ---- telling ---- */

/* Most commands first, then by name. */
static int who_compare(const void *a, const void *b)
{
	const struct who_task *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->comm, y->comm);
}

static int who_put(const struct who_task *task, double seconds, FILE *out)
{
	const struct who_row row = {
		.comm = *task->comm ? task->comm : NULL,
		.count = task->count,
		.mean_ns = task->sum_ns / task->count,
		.max_ns = task->max_ns,
		.iops = seconds > 0 ? (double)task->count / seconds : 0,
		.mb_per_s = seconds > 0 ? (double)task->bytes / 1e6 / seconds : 0,
	};

	return object__put(&who_object, out, TABLE_JSON, &row);
}

int who__end(struct who *w, double seconds, FILE *out)
{
	struct who_task others = { .comm = "" };
	size_t nr = w->by_comm.nr, told = 0;
	int err = 0;

	if (nr)
		qsort(w->tasks, nr, sizeof(*w->tasks), who_compare);
	for (size_t i = 0; i < nr && !err; i++) {
		if (told == WHO_TOLD || !*w->tasks[i].comm) {
			who_count(&others, &w->tasks[i]);
			continue;
		}
		told++;
		err = who_put(&w->tasks[i], seconds, out);
	}
	if (others.count)
		err = err ?: who_put(&others, seconds, out);
	who__free(w);
	return err;
}

void who__free(struct who *w)
{
	free(w->tasks);
	w->tasks = NULL;
	index__free(&w->by_comm);
}
