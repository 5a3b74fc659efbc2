/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/breakdown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"

void breakdown__init(struct breakdown *b, uint32_t mask)
{
	memset(b, 0, sizeof(*b));
	b->mask = mask;
}

void breakdown__free(struct breakdown *b)
{
	for (size_t i = 0; i < b->nr; i++)
		free(b->rows[i]);
	free(b->rows);
	index__free(&b->index);
	memset(b, 0, sizeof(*b));
}

static void breakdown_row_begin(struct breakdown_row *row)
{
	uint64_t max_ns = row->total.max_ns; /* parts carry only new values */

	memset(&row->total, 0, sizeof(row->total));
	row->total.max_ns = max_ns;
}

static void breakdown_row_mark(struct breakdown_row *row)
{
	row->before = row->total;
	row->interval_max_ns = 0;
}

void breakdown__begin(struct breakdown *b)
{
	for (size_t i = 0; i < b->nr; i++)
		breakdown_row_begin(b->rows[i]);
}

/* The other octaves are empty in both. */
static void breakdown_row_move_slots(struct breakdown_row *row)
{
	uint64_t *to = row->before.slots, *from = row->total.slots;

	for (int i = 0; i < HIST_OCTAVES - 1; i++)
		if (row->octaves >> i & 1) {
			memcpy(to + i * HIST_SUB, from + i * HIST_SUB, HIST_SUB * sizeof(*to));
			memset(from + i * HIST_SUB, 0, HIST_SUB * sizeof(*from));
		}
	to[HIST_SLOTS] = from[HIST_SLOTS];
	from[HIST_SLOTS] = 0;
}

void breakdown__mark_and_begin(struct breakdown *b)
{
	static const size_t sums = offsetof(struct hist, count);

	for (size_t i = 0; i < b->nr; i++) {
		struct breakdown_row *row = b->rows[i];
		uint64_t max_ns = row->total.max_ns; /* as breakdown_row_begin */

		breakdown_row_move_slots(row);
		memcpy((char *)&row->before + sums, (char *)&row->total + sums,
		       sizeof(struct hist) - sums);
		memset((char *)&row->total + sums, 0, sizeof(struct hist) - sums);
		row->total.max_ns = max_ns;
		row->interval_max_ns = 0;
	}
}

static bool breakdown_has(const struct breakdown *b, enum breakdown_by by)
{
	return b->mask >> by & 1;
}

static struct io_tags breakdown_project(const struct breakdown *b, const struct io_tags *t)
{
	struct io_tags out = { .other = t->other };

	if (t->other)
		return out;
	out.ctrl = breakdown_has(b, BY_CTRL) || breakdown_has(b, BY_NS) ? t->ctrl : 0;
	out.nsid = breakdown_has(b, BY_NS) ? t->nsid : 0;
	out.device = breakdown_has(b, BY_DEV) ? t->device : 0;
	out.kind = breakdown_has(b, BY_OP) ? t->kind : 0;
	out.op = breakdown_has(b, BY_OP) ? t->op : 0;
	out.size_class = breakdown_has(b, BY_SIZE) ? t->size_class : 0;
	out.queue = breakdown_has(b, BY_QUEUE) ? t->queue : 0;
	out.cpu = breakdown_has(b, BY_CPU) ? t->cpu : 0;
	out.host = breakdown_has(b, BY_HOST) ? t->host : 0;
	out.pid = breakdown_has(b, BY_PID) ? t->pid : 0;
	out.cgroup = breakdown_has(b, BY_CGROUP) ? t->cgroup : 0;
	out.unit = breakdown_has(b, BY_UNIT) ? t->unit : 0;
	out.container = breakdown_has(b, BY_CONTAINER) ? t->container : 0;
	out.path = breakdown_has(b, BY_PATH) ? t->path : 0;
	out.inode = breakdown_has(b, BY_FILE) ? t->inode : 0;
	out.file_dev = breakdown_has(b, BY_FILE) ? t->file_dev : 0;
	out.file_nth = breakdown_has(b, BY_FILE) ? t->file_nth : 0;
	if (breakdown_has(b, BY_COMM))
		memcpy(out.comm, t->comm, sizeof(out.comm));
	return out;
}

static bool breakdown_is(const void *rows, uint32_t number, const void *tags)
{
	return !memcmp(&((struct breakdown_row *const *)rows)[number]->tags, tags,
		       sizeof(struct io_tags));
}

static uint64_t breakdown_hash(const struct io_tags *tags)
{
	return index__mix_bytes(0, tags, sizeof(*tags));
}

static struct breakdown_row *breakdown_row_of(struct breakdown *b, const struct io_tags *tags)
{
	const uint64_t hash = breakdown_hash(tags);
	uint32_t at = index__find(&b->index, hash, breakdown_is, b->rows, tags);
	struct breakdown_row *row;

	if (at != INDEX_NONE)
		return b->rows[at];
	if (index__reserve(&b->index, &b->rows, sizeof(*b->rows)))
		return NULL;
	row = calloc(1, sizeof(*row));
	if (!row)
		return NULL;
	row->tags = *tags;
	b->rows[index__add(&b->index, hash)] = row;
	row->number = b->nr++;
	return row;
}

struct breakdown_row *breakdown__row(struct breakdown *b, const struct io_tags *tags)
{
	struct io_tags mine = breakdown_project(b, tags);

	return breakdown_row_of(b, &mine);
}

int breakdown__add(struct breakdown *b, const struct io_tags *tags, const struct hist *part)
{
	struct breakdown_row *row = breakdown__row(b, tags);

	if (!row)
		return -ENOMEM;
	row->octaves |= hist__merge(&row->total, part);
	if (part->max_ns > row->interval_max_ns)
		row->interval_max_ns = part->max_ns;
	return 0;
}

void breakdown__drop(struct breakdown *b, bool (*fn)(void *, const struct breakdown_row *),
		     void *arg)
{
	const size_t nr = b->nr;

	index__clear(&b->index);
	b->nr = 0;
	for (size_t i = 0; i < nr; i++) {
		struct breakdown_row *row = b->rows[i];

		if (fn(arg, row)) {
			free(row);
			continue;
		}
		row->number = b->nr++;
		b->rows[index__add(&b->index, breakdown_hash(&row->tags))] = row;
	}
}

void breakdown__mark(struct breakdown *b)
{
	for (size_t i = 0; i < b->nr; i++)
		breakdown_row_mark(b->rows[i]);
}

void breakdown_row__interval(const struct breakdown_row *row, struct hist *out)
{
	hist__difference(out, &row->total, &row->before);
	out->max_ns = row->interval_max_ns;
}

int breakdown_row__compare(const void *left, const void *right)
{
	const struct io_tags *a = &(*(struct breakdown_row *const *)left)->tags;
	const struct io_tags *b = &(*(struct breakdown_row *const *)right)->tags;
	int order = COMPARE(a->other, b->other) ?: COMPARE(a->host, b->host);

	order = order ?: COMPARE(a->ctrl, b->ctrl);
	order = order ?: COMPARE(a->nsid, b->nsid) ?: COMPARE(a->device, b->device);
	order = order ?: COMPARE(a->path, b->path) ?: COMPARE(a->kind, b->kind);
	order = order ?: COMPARE(a->op, b->op) ?: COMPARE(a->size_class, b->size_class);
	order = order ?: COMPARE(a->queue, b->queue) ?: COMPARE(a->cpu, b->cpu);
	order = order ?: COMPARE(a->pid, b->pid) ?: memcmp(a->comm, b->comm, sizeof(a->comm));
	order = order ?: COMPARE(a->cgroup, b->cgroup) ?: COMPARE(a->unit, b->unit);
	order = order ?: COMPARE(a->container, b->container) ?: COMPARE(a->file_dev, b->file_dev);
	return order ?: COMPARE(a->inode, b->inode) ?: COMPARE(a->file_nth, b->file_nth);
}
