/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/failures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "decode/column.h"
#include "decode/op.h"
#include "decode/record.h"
#include "decode/words.h"
#include "session/io_source.h"

struct failure_row {
	const char *dev, *op, *status;
	uint64_t count;
};

#define FIELD(name) offsetof(struct failure_row, name)
static const struct column failure_columns[] = {
	{ "dev", "dev", CELL_TEXT, 0, "device", .at = FIELD(dev) },
	{ "op", "op", CELL_TEXT, 0, "operation", .at = FIELD(op) },
	{ "status", "status", CELL_TEXT, 0, "how it ended, in words", .at = FIELD(status) },
	{ "count", "count", CELL_NUMBER, 0, "commands since the start", .at = FIELD(count) },
	{ 0 },
};
#undef FIELD
static const struct object failure_object = { "failed", { failure_columns } };

/* ---- counting ---- */

static uint64_t failure_key(uint32_t device, const struct io_record *r)
{
	return (uint64_t)device << 32 | (uint64_t)r->status << 16 | (uint64_t)r->kind << 8 | r->op;
}

static void failure_name(struct failure *f, struct session *s, const struct io_record *r)
{
	struct words w = words__on(f->status, sizeof(f->status));
	char text[48];

	snprintf(f->dev, sizeof(f->dev), "%s",
		 device_list__label(io_source__devices(s), f->device - 1, text, sizeof(text)));
	snprintf(f->op, sizeof(f->op), "%s",
		 op__word(r->kind, r->op, io_source__op_names(s), text, sizeof(f->op)));
	record__status(&w, r);
	words__done(&w);
}

/* The last one is `other`, for all that find no place. */
static struct failure *failures_find(struct failures *f, uint64_t key)
{
	size_t i = 0;

	while (i < f->nr && i < FAILURES_MOST && f->all[i].key != key)
		i++;
	if (i == f->nr) {
		f->all[f->nr++] =
			(struct failure){ .dev = "other", .op = "other", .status = "other" };
		f->all[i].key = key;
	}
	return &f->all[i];
}

static bool failures_is_other(const struct failures *f, const struct failure *failure)
{
	return failure - f->all == FAILURES_MOST;
}

void failures__add(struct failures *f, struct session *s, const struct io_record *r)
{
	struct failure *failure;

	if (r->what != RECORD_END || !r->status)
		return;
	failure = failures_find(f, failure_key(r->device, r));
	if (!failure->count && !failures_is_other(f, failure)) {
		const struct device_list *list = io_source__devices(s);
		const struct device *device = io_source__device(s, r);

		if (device)
			failure->device =
				device_list__head(list, (int)(device - list->devices)) + 1;
		failure_name(failure, s, r);
	}
	failure->count++;
}

/* ---- without records ---- */

void failures__begin(struct failures *f)
{
	for (size_t i = 0; i < f->nr; i++)
		f->all[i].now = 0;
}

void failures__take(struct failures *f, struct session *s, const struct io_failed *failed)
{
	const struct io_record as_record = {
		.what = RECORD_END,
		.kind = failed->tags.kind,
		.op = failed->tags.op,
		.status = failed->status,
	};
	struct failure *failure =
		failures_find(f, failure_key((uint32_t)failed->tags.device, &as_record));

	if (!failure->count && !failure->now && !failures_is_other(f, failure)) {
		failure->device = failed->tags.device;
		failure_name(failure, s, &as_record);
	}
	failure->now += failed->count;
}

void failures__end(struct failures *f)
{
	for (size_t i = 0; i < f->nr; i++)
		if (f->all[i].now > f->all[i].count)
			f->all[i].count = f->all[i].now;
}

/* ---- both ---- */

void failures__settle(struct failures *f, uint64_t failed)
{
	uint64_t known = f->forgotten;

	for (size_t i = 0; i < f->nr; i++)
		known += f->all[i].count;
	if (f->settled > known + f->unknown)
		f->unknown = f->settled - known;
	f->settled = failed;
}

void failures__drop(struct failures *f, bool (*fn)(void *, int32_t), void *arg)
{
	size_t nr = 0;

	if (f->nr > FAILURES_MOST)
		return; /* `other` keeps its place, and so do all */
	for (size_t i = 0; i < f->nr; i++) {
		if (fn(arg, f->all[i].device))
			f->forgotten += f->all[i].count;
		else
			f->all[nr++] = f->all[i];
	}
	f->nr = nr;
}

/* ---- telling ---- */

static bool failure_is_as(const struct failure *a, const struct failure *b)
{
	return !strcmp(a->dev, b->dev) && !strcmp(a->op, b->op) && !strcmp(a->status, b->status);
}

/* Paths of one disk, and statuses that differ in a flag, have the same words. */
int failures__each(const struct failures *f, failure_fn fn, void *arg)
{
	struct failure *sums = malloc((f->nr + 1) * sizeof(*sums));
	size_t nr = 0;

	if (!sums)
		return -ENOMEM;
	for (size_t i = 0; i < f->nr; i++) {
		size_t at = 0;

		while (at < nr && !failure_is_as(&sums[at], &f->all[i]))
			at++;
		if (at == nr)
			sums[nr++] = f->all[i];
		else
			sums[at].count += f->all[i].count;
	}
	for (size_t i = 0; i < nr; i++)
		fn(arg, &sums[i]);
	free(sums);
	return 0;
}

static void failure_put(void *table, const struct failure *f)
{
	table__row(table, &(struct failure_row){ f->dev, f->op, f->status, f->count });
}

int failures__put(const struct failures *f, FILE *out)
{
	struct table *table = table__of(out, TABLE_JSON, &failure_object, NULL, NULL);
	int err = table ? failures__each(f, failure_put, table) : -ENOMEM;

	table__free(table);
	return err;
}
