/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/breakdown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BREAKDOWN_MIN_INDEX = 64 };

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
	free(b->index);
	memset(b, 0, sizeof(*b));
}

void breakdown__begin(struct breakdown *b)
{
	for (size_t i = 0; i < b->nr; i++) {
		uint64_t max_ns = b->rows[i]->total.max_ns; /* parts carry only what is new */

		memset(&b->rows[i]->total, 0, sizeof(b->rows[i]->total));
		b->rows[i]->total.max_ns = max_ns;
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
	out.pid = breakdown_has(b, BY_PID) ? t->pid : 0;
	out.cgroup = breakdown_has(b, BY_CGROUP) ? t->cgroup : 0;
	out.path = breakdown_has(b, BY_PATH) ? t->path : 0;
	out.inode = breakdown_has(b, BY_FILE) ? t->inode : 0;
	out.file_dev = breakdown_has(b, BY_FILE) ? t->file_dev : 0;
	out.file_nth = breakdown_has(b, BY_FILE) ? t->file_nth : 0;
	if (breakdown_has(b, BY_COMM))
		memcpy(out.comm, t->comm, sizeof(out.comm));
	return out;
}

static uint64_t breakdown_hash(const struct io_tags *tags)
{
	uint64_t words[sizeof(*tags) / 8], h = 0;

	memcpy(words, tags, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ULL;
	return h >> 20;
}

/* The cell that holds this row, or the free one where it belongs. */
static uint32_t *breakdown_cell(const struct breakdown *b, const struct io_tags *tags)
{
	size_t at = breakdown_hash(tags) & (b->index_size - 1);

	while (b->index[at] && memcmp(&b->rows[b->index[at] - 1]->tags, tags, sizeof(*tags)))
		at = (at + 1) & (b->index_size - 1);
	return &b->index[at];
}

/* At most half full. */
static int breakdown_grow(struct breakdown *b)
{
	size_t size = b->index_size ? 2 * b->index_size : BREAKDOWN_MIN_INDEX;
	struct breakdown_row **rows = realloc(b->rows, size / 2 * sizeof(*rows));
	uint32_t *index = calloc(size, sizeof(*index));

	if (rows)
		b->rows = rows;
	if (!rows || !index) {
		free(index);
		return -ENOMEM;
	}
	free(b->index);
	b->index = index;
	b->index_size = size;
	for (size_t i = 0; i < b->nr; i++)
		*breakdown_cell(b, &b->rows[i]->tags) = (uint32_t)i + 1;
	return 0;
}

static struct breakdown_row *breakdown_row_of(struct breakdown *b, const struct io_tags *tags)
{
	uint32_t *cell;

	if (2 * (b->nr + 1) > b->index_size && breakdown_grow(b))
		return NULL;
	cell = breakdown_cell(b, tags);
	if (*cell)
		return b->rows[*cell - 1];
	b->rows[b->nr] = calloc(1, sizeof(*b->rows[0]));
	if (!b->rows[b->nr])
		return NULL;
	b->rows[b->nr]->tags = *tags;
	*cell = (uint32_t)++b->nr;
	return b->rows[b->nr - 1];
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
	hist__merge(&row->total, part);
	if (part->max_ns > row->interval_max_ns)
		row->interval_max_ns = part->max_ns;
	return 0;
}

void breakdown__mark(struct breakdown *b)
{
	for (size_t i = 0; i < b->nr; i++) {
		b->rows[i]->before = b->rows[i]->total;
		b->rows[i]->interval_max_ns = 0;
	}
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
	const int64_t order[] = {
		a->other - b->other,
		(int64_t)a->ctrl - b->ctrl,
		(int64_t)a->nsid - b->nsid,
		(int64_t)a->device - b->device,
		(int64_t)a->path - b->path,
		a->kind - b->kind,
		a->op - b->op,
		a->size_class - b->size_class,
		a->queue - b->queue,
		a->cpu - b->cpu,
		(int64_t)a->pid - b->pid,
		memcmp(a->comm, b->comm, sizeof(a->comm)),
		(a->cgroup > b->cgroup) - (a->cgroup < b->cgroup),
		(int64_t)a->file_dev - b->file_dev,
		(a->inode > b->inode) - (a->inode < b->inode),
		a->file_nth - b->file_nth,
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (order[i])
			return order[i] < 0 ? -1 : 1;
	return 0;
}
