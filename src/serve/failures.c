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

static uint64_t failure_key(const struct io_record *r)
{
	return (uint64_t)r->device << 32 | (uint64_t)r->status << 16 | (uint64_t)r->kind << 8 |
	       r->op;
}

static void failure_name(struct failure *f, struct session *s, const struct io_record *r)
{
	const struct device_list *list = io_source__devices(s);
	const struct device *device = io_source__device(s, r);
	struct words w = words__on(f->status, sizeof(f->status));
	char text[48];

	snprintf(f->dev, sizeof(f->dev), "%s",
		 device ? device_list__label(list,
					     device_list__head(list, (int)(device - list->devices)),
					     text, sizeof(text))
			: "?");
	snprintf(f->op, sizeof(f->op), "%s",
		 op__word(r->kind, r->op, io_source__op_names(s), text, sizeof(f->op)));
	record__status(&w, r);
	words__done(&w);
}

void failures__add(struct failures *f, struct session *s, const struct io_record *r)
{
	const uint64_t key = failure_key(r);
	size_t i = 0;

	if (r->what != RECORD_END || !r->status)
		return;
	while (i < f->nr && i < FAILURES_MOST && f->all[i].key != key)
		i++;
	if (i == f->nr) {
		struct failure *new = &f->all[f->nr++];

		*new = (struct failure){ .dev = "other", .op = "other", .status = "other" };
		new->key = key;
		if (i < FAILURES_MOST)
			failure_name(new, s, r);
	}
	f->all[i].count++;
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
