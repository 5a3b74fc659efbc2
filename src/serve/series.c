/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const series_keys[NR_SERIES_LABELS] = {
	"device", "model", "op", "path", "cgroup", "unit", "namespace", "pod", "container",
};

enum { SERIES_OTHER = 0, SERIES_NONE = -1 };

/* Which series counts the commands with these tags: decided once, when their names are known. */
struct series_row {
	struct io_tags tags;
	int32_t series;	   /* SERIES_NONE: not yet decided */
	uint64_t first_ns; /* when they were first seen */
};

/* ---- series by their labels ---- */

static uint64_t series_hash(const char *const labels[NR_SERIES_LABELS])
{
	uint64_t hash = 0;

	for (int i = 0; i < NR_SERIES_LABELS; i++)
		hash = index__mix_text(index__mix(hash, labels[i] != NULL),
				       labels[i] ? labels[i] : "");
	return hash;
}

static bool series_has(const void *all, uint32_t number, const void *labels)
{
	const struct series *series = ((struct series *const *)all)[number];
	const char *const *wanted = labels;

	for (int i = 0; i < NR_SERIES_LABELS; i++)
		if (!series->labels[i] != !wanted[i] ||
		    (wanted[i] && strcmp(series->labels[i], wanted[i])))
			return false;
	return true;
}

static void series_free(struct series *series)
{
	if (!series)
		return;
	for (int i = 0; i < NR_SERIES_LABELS; i++)
		free(series->labels[i]);
	free(series->pairs);
	free(series->slowest);
	free(series);
}

static char *series_write(const char *const labels[NR_SERIES_LABELS])
{
	struct openmetrics_label all[NR_SERIES_LABELS];

	for (int i = 0; i < NR_SERIES_LABELS; i++)
		all[i] = (struct openmetrics_label){ series_keys[i], labels[i] };
	return openmetrics__pairs((struct openmetrics_labels){ all, NR_SERIES_LABELS, NULL });
}

static struct series *series_new(const char *const labels[NR_SERIES_LABELS])
{
	struct series *series = calloc(1, sizeof(*series));
	bool is_whole = series && (series->pairs = series_write(labels));

	for (int i = 0; i < NR_SERIES_LABELS && is_whole; i++)
		if (labels[i])
			is_whole = (series->labels[i] = strdup(labels[i]));
	if (is_whole)
		return series;
	series_free(series);
	return NULL;
}

/* The number of the series; -ENOMEM. */
static int series_set_find(struct series_set *set, const char *const labels[NR_SERIES_LABELS])
{
	uint64_t hash = series_hash(labels);
	uint32_t number = index__find(&set->all_by_labels, hash, series_has, set->all, labels);
	struct series *series;

	if (number != INDEX_NONE)
		return (int)number;
	if (set->nr > set->most) { /* `other` is not in the limit */
		set->nr_dropped++;
		return SERIES_OTHER;
	}
	if (index__reserve(&set->all_by_labels, &set->all, sizeof(*set->all)))
		return -ENOMEM;
	series = series_new(labels);
	if (!series)
		return -ENOMEM;
	number = index__add(&set->all_by_labels, hash);
	set->all[number] = series;
	set->nr++;
	return (int)number;
}

int series_set__init(struct series_set *set)
{
	const char *labels[NR_SERIES_LABELS] = { [SERIES_DEVICE] = "other", [SERIES_OP] = "other" };
	int number;

	for (int i = 0; i < NR_SERIES_LABELS; i++)
		if (set->by & SERIES_OF_CGROUP & 1u << i)
			labels[i] = "other";
	number = series_set_find(set, labels);
	return number < 0 ? number : 0;
}

void series_set__free(struct series_set *set)
{
	for (size_t i = 0; i < set->nr; i++)
		series_free(set->all[i]);
	free(set->all);
	free(set->rows);
	index__free(&set->rows_by_tags);
	index__free(&set->all_by_labels);
}

/* ---- devices that go ---- */

static uint64_t series_row_hash(const struct io_tags *tags)
{
	return index__mix_bytes(0, tags, sizeof(*tags));
}

void series_set__retire(struct series_set *set, bool (*has_ended)(void *, int32_t))
{
	for (size_t i = 0; i < set->nr; i++) {
		struct series *series = set->all[i];

		series->has_ended =
			has_ended(set->arg, series->device) || has_ended(set->arg, series->path);
	}
}

static bool series_set_lacks(const struct series_set *set, const struct io_tags *tags)
{
	return set->has_left &&
	       (set->has_left(set->arg, tags->device) || set->has_left(set->arg, tags->path));
}

/* Those that stay move together; to[] is where each is now, or SERIES_NONE. */
static void series_set_drop_series(struct series_set *set, int32_t *to)
{
	const size_t nr = set->nr;

	index__clear(&set->all_by_labels);
	set->nr = 0;
	for (size_t i = 0; i < nr; i++) {
		struct series *series = set->all[i];
		const struct io_tags tags = { .device = series->device, .path = series->path };

		to[i] = SERIES_NONE;
		if (series_set_lacks(set, &tags)) {
			series_free(series);
			continue;
		}
		to[i] = (int32_t)index__add(&set->all_by_labels,
					    series_hash((const char *const *)series->labels));
		set->all[to[i]] = series;
		set->nr++;
	}
}

/* A row of `other` stays: that series has its counts. */
static void series_set_drop_rows(struct series_set *set, const int32_t *to)
{
	const size_t nr = set->rows_by_tags.nr;

	index__clear(&set->rows_by_tags);
	for (size_t i = 0; i < nr; i++) {
		struct series_row row = set->rows[i];

		if (row.series != SERIES_OTHER && series_set_lacks(set, &row.tags))
			continue;
		if (row.series != SERIES_NONE)
			row.series = to[row.series];
		set->rows[index__add(&set->rows_by_tags, series_row_hash(&row.tags))] = row;
	}
}

void series_set__forget(struct series_set *set)
{
	int32_t *to = malloc((set->nr + 1) * sizeof(*to));

	if (!to)
		return; /* the next device that goes takes these with it */
	series_set_drop_series(set, to);
	series_set_drop_rows(set, to);
	free(to);
}

/* ---- rows of the collector ---- */

/* Only what makes a label: the rest must not tell rows apart. */
static struct io_tags series_project(const struct series_set *set, const struct io_tags *t)
{
	struct io_tags out = { .other = t->other };

	if (t->other)
		return out;
	out.device = t->device;
	out.kind = t->kind;
	out.op = t->op;
	out.path = set->by >> SERIES_PATH & 1 ? t->path : 0;
	out.cgroup = set->by & SERIES_OF_CGROUP ? t->cgroup : 0;
	return out;
}

static bool series_row_is(const void *rows, uint32_t number, const void *tags)
{
	return !memcmp(&((const struct series_row *)rows)[number].tags, tags,
		       sizeof(struct io_tags));
}

/* NULL: there is none. */
static struct series_row *series_set_known_row(const struct series_set *set,
					       const struct io_tags *tags)
{
	uint32_t row = index__find(&set->rows_by_tags, series_row_hash(tags), series_row_is,
				   set->rows, tags);

	return row == INDEX_NONE ? NULL : &set->rows[row];
}

/* The row of these tags, which has none; NULL: out of memory. */
static struct series_row *series_set_new_row(struct series_set *set, const struct io_tags *tags)
{
	uint32_t row;

	if (index__reserve(&set->rows_by_tags, &set->rows, sizeof(*set->rows)))
		return NULL;
	row = index__add(&set->rows_by_tags, series_row_hash(tags));
	set->rows[row] =
		(struct series_row){ *tags, tags->other ? SERIES_OTHER : SERIES_NONE, set->now_ns };
	return &set->rows[row];
}

/* Sets the row's series, unless its names may come. 0 or -ENOMEM. */
static int series_set_decide(struct series_set *set, struct series_row *row)
{
	const char *labels[NR_SERIES_LABELS] = { NULL };
	int number;

	if (!set->label(set->arg, &row->tags, labels) &&
	    set->now_ns - row->first_ns < SERIES_WAITS_S * 1000000000ULL)
		return 0;
	number = series_set_find(set, labels);
	if (number < 0)
		return number;
	if (number != SERIES_OTHER) {
		set->all[number]->device = row->tags.device;
		set->all[number]->path = row->tags.path;
	}
	row->series = number;
	return 0;
}

/* ---- a reading ---- */

void series_set__begin(struct series_set *set, uint64_t now_ns)
{
	set->now_ns = now_ns;
	for (size_t i = 0; i < set->nr; i++)
		memset(&set->all[i]->now, 0, sizeof(set->all[i]->now));
	set->all[SERIES_OTHER]->now = set->left_in_other;
	set->counted = 0;
}

int series_set__find(struct series_set *set, const struct io_tags *tags)
{
	struct io_tags mine = series_project(set, tags);
	struct series_row *row = series_set_known_row(set, &mine);

	if (!row && series_set_lacks(set, &mine))
		return -EAGAIN;
	row = row ?: series_set_new_row(set, &mine);
	if (!row || (row->series == SERIES_NONE && series_set_decide(set, row)))
		return -ENOMEM;
	return row->series == SERIES_NONE ? -EAGAIN : row->series;
}

static void series_sum_add(struct series_sum *sum, const struct edges *edges,
			   const struct hist *part)
{
	edges__count(edges, part, &sum->latency);
	sum->bytes += part->bytes;
	sum->timed += part->count - part->untimed;
}

int series_set__add(struct series_set *set, const struct io_tags *tags, const struct hist *part)
{
	int number = series_set__find(set, tags);

	if (number == -ENOMEM)
		return number;
	set->counted += part->count;
	if (number < 0)
		return 0; /* a later reading has all its counts */
	series_sum_add(&set->all[number]->now, set->edges, part);
	return 0;
}

void series_set__keep_last(struct series_set *set, const struct io_tags *tags,
			   const struct hist *part)
{
	struct io_tags mine = series_project(set, tags);
	const struct series_row *row = series_set_known_row(set, &mine);

	if (row && row->series == SERIES_OTHER)
		series_sum_add(&set->left_in_other, set->edges, part);
}

static void series_raise(uint64_t *shown, uint64_t now)
{
	if (now > *shown)
		*shown = now;
}

/*
 * A program may settle a failed command while the rows are read: then this reading has it twice,
 * the next one once.
 */
void series_set__end(struct series_set *set)
{
	for (size_t i = 0; i < set->nr; i++) {
		struct series_sum *now = &set->all[i]->now, *shown = &set->all[i]->shown;

		for (size_t b = 0; b <= set->edges->bounds.nr; b++)
			series_raise(&shown->latency.buckets[b], now->latency.buckets[b]);
		series_raise(&shown->latency.sum, now->latency.sum);
		series_raise(&shown->bytes, now->bytes);
		series_raise(&shown->timed, now->timed);
	}
}

uint64_t series__count(const struct series *series, const struct edges *edges)
{
	uint64_t count = 0;

	for (size_t i = 0; i <= edges->bounds.nr; i++)
		count += series->shown.latency.buckets[i];
	return count;
}
