/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* qsort_r */
#include "view/top_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"
#include "render/chart.h"

enum { TOP_FROM_BIT = 10 }; /* of the first band: 2^10 ns */

/* ---- columns ---- */

static const struct column open_columns[] = {
	{ "in_flight", "in flight", CELL_COUNT, 5,
	  "commands in flight at the end of the interval; null in a replay and in totals",
	  .at = offsetof(struct top_row, in_flight) },
	{ 0 },
};

#define SAMPLE(name) offsetof(struct top_sample, name)

static const struct column sample_columns[] = {
	{ "in_flight", "in flight", CELL_COUNT, 5, "commands in flight; null in a replay",
	  .at = SAMPLE(in_flight) },
	{ "issued", "issued", CELL_COUNT, 5, "commands issued since the start; null in a replay",
	  .at = SAMPLE(issued) },
	{ "completed", "completed", CELL_COUNT, 5,
	  "commands completed since the start; null in a replay", .at = SAMPLE(completed) },
	{ "lost", "lost", CELL_COUNT, 5,
	  "commands lost since the start, for any reason; null in a replay", .at = SAMPLE(lost) },
	{ "cpu_percent", "CPU", CELL_PERCENT, 5, "CPU time of iosonar, in percent of one CPU",
	  .at = SAMPLE(cpu_percent) },
	{ "bpf_percent", "BPF", CELL_PERCENT, 5,
	  "CPU time of its BPF programs since the start, in percent of one CPU; null if none of "
	  "their runs was measured",
	  .at = SAMPLE(bpf_percent) },
	{ 0 },
};

const struct object top_rows = { "top",
				 { latency_span_columns, latency_ctrl_columns, latency_op_columns,
				   latency_more_columns, latency_measured_columns, open_columns } };
const struct object top_samples = {
	"sample", { latency_span_columns, latency_measured_columns, sample_columns }
};

const struct column *top_model__column(const struct top_model *m, size_t column)
{
	static const char *const keys[2][TOP_COLUMNS] = {
		{ NULL, "iops", "mb_per_s", "size_bytes", "p50_ns", "p99_ns", "max_ns" },
		{ NULL, "iops", "mb_per_s", "size_bytes", "p90_ns", "p99_9_ns", "mean_ns" },
	};
	const char *key = keys[m->shows_others][column];

	if (column == TOP_COLUMNS - 1)
		return &open_columns[0];
	for (const struct column *c = latency_measured_columns; key && c->key; c++)
		if (!strcmp(c->key, key))
			return c;
	return NULL;
}

/* ---- the levels ---- */

uint32_t top_model__mask(const struct top_model *m, size_t level)
{
	return m->levels[level].breakdown.mask;
}

static bool level_shows(const void *level, const struct column *column)
{
	return latency_column__is_asked(column, ((const struct top_level *)level)->breakdown.mask);
}

void top_model__init(struct top_model *m, const enum breakdown_by *keys, size_t nr)
{
	uint32_t mask = 0;

	memset(m, 0, sizeof(*m));
	m->nr_keys = nr;
	m->column = 1;
	for (size_t i = 0; i < nr; i++) {
		m->keys[i] = keys[i];
		mask |= 1u << keys[i];
		breakdown__init(&m->levels[i].breakdown, mask);
	}
}

void top_model__free(struct top_model *m)
{
	for (size_t i = 0; i < m->nr_keys; i++) {
		breakdown__free(&m->levels[i].breakdown);
		free(m->levels[i].tracks);
		condition__free(m->levels[i].only);
	}
	free(m->rows);
	free(m->order);
	memset(m, 0, sizeof(*m));
}

/* Every row up to this one has a track then; NULL: out of memory. */
static struct top_track *level_track(struct top_level *level, const struct breakdown_row *row)
{
	if (row->number >= level->nr) {
		if (GROW(level->tracks, level->room, row->number + 1))
			return NULL;
		memset(&level->tracks[level->nr], 0,
		       (row->number + 1 - level->nr) * sizeof(*level->tracks));
		level->nr = row->number + 1;
	}
	return &level->tracks[row->number];
}

const struct breakdown *top_model__finest(const struct top_model *m)
{
	return &m->levels[m->nr_keys - 1].breakdown;
}

/* ---- an interval ---- */

static void level_begin(struct top_level *level)
{
	for (size_t i = 0; i < level->breakdown.nr; i++) {
		memset(&level->breakdown.rows[i]->total, 0, sizeof(struct hist));
		level->breakdown.rows[i]->interval_max_ns = 0;
	}
}

void top_model__begin(struct top_model *m)
{
	breakdown__mark_and_begin(&m->levels[m->nr_keys - 1].breakdown);
	for (size_t i = 0; i < m->nr_keys; i++) {
		if (i + 1 < m->nr_keys)
			level_begin(&m->levels[i]);
		for (size_t n = 0; n < m->levels[i].nr; n++)
			m->levels[i].tracks[n].in_flight = 0;
	}
	m->in_flight = 0;
}

int top_model__add(struct top_model *m, const struct io_tags *tags, const struct hist *part)
{
	return breakdown__add(&m->levels[m->nr_keys - 1].breakdown, tags, part);
}

int top_model__add_open(struct top_model *m, const struct io_tags *tags)
{
	for (size_t i = 0; i < m->nr_keys; i++) {
		struct breakdown_row *row = breakdown__row(&m->levels[i].breakdown, tags);
		struct top_track *track = row ? level_track(&m->levels[i], row) : NULL;

		if (!track)
			return -ENOMEM;
		track->in_flight++;
	}
	m->in_flight++;
	return 0;
}

/* Counts in the slots from one to before another. */
static uint64_t slots_sum(const struct hist *hist, uint32_t from, uint32_t to)
{
	uint64_t sum = 0;

	for (uint32_t slot = from; slot < to; slot++)
		sum += hist->slots[slot];
	return sum;
}

static void track_remember(struct top_track *track, uint64_t number, const struct hist *hist)
{
	uint8_t *levels = track->levels[number % TOP_INTERVALS];
	uint32_t from = 0, to = hist_slot(1ULL << TOP_FROM_BIT);

	for (size_t band = 0; band < TOP_BANDS; band++) {
		to = band == TOP_BANDS - 1 ? HIST_CELLS : to + HIST_SUB;
		levels[band] = (uint8_t)chart__level(slots_sum(hist, from, to), hist->count);
		from = to;
	}
	track->last = number;
}

int top_track__level(const struct top_model *m, const struct top_track *track, size_t ago,
		     size_t band)
{
	if (ago >= TOP_INTERVALS || ago >= m->nr_intervals)
		return 0;
	return track->levels[(m->nr_intervals - ago) % TOP_INTERVALS][band];
}

static void row_merge(struct breakdown_row *row, const struct hist *interval)
{
	hist__merge(&row->total, interval);
	row->interval_max_ns = row->total.max_ns;
}

/* Adds each row to the one that it is part of: levels end from the last one up. */
static int level_end(struct top_model *m, size_t at)
{
	struct top_level *level = &m->levels[at];

	for (size_t i = 0; i < level->breakdown.nr; i++) {
		struct breakdown_row *row = level->breakdown.rows[i];
		struct top_track *track = level_track(level, row);
		const struct hist *interval;

		if (!track)
			return -ENOMEM;
		if (at && !track->above)
			track->above = breakdown__row(&m->levels[at - 1].breakdown, &row->tags);
		if (at && !track->above)
			return -ENOMEM;
		memset(track->levels[m->nr_intervals % TOP_INTERVALS], 0, TOP_BANDS);
		if (row->total.count == row->before.count)
			continue; /* idle, as most rows are */
		if (at + 1 == m->nr_keys)
			breakdown_row__interval(row, &m->interval);
		interval = at + 1 == m->nr_keys ? &m->interval : &row->total;
		track_remember(track, m->nr_intervals, interval);
		if (at)
			row_merge(track->above, interval);
		else
			hist__merge(&m->sum, interval);
	}
	return 0;
}

int top_model__end(struct top_model *m, double seconds)
{
	int err = 0;

	m->nr_intervals++;
	m->seconds = seconds;
	memset(&m->sum, 0, sizeof(m->sum));
	for (size_t i = m->nr_keys; i-- > 0 && !err;)
		err = level_end(m, i);
	hist__mend_max(&m->sum);
	memset(&m->all, 0, sizeof(m->all));
	latency_row__measure(&m->all, &m->sum, seconds);
	latency_row__measure_percentiles(&m->all, &m->sum);
	return err;
}

void top_model__forget(struct top_model *m)
{
	for (size_t i = 0; i < m->nr_keys; i++)
		for (size_t n = 0; n < m->levels[i].nr; n++) {
			m->levels[i].tracks[n].last = 0;
			memset(m->levels[i].tracks[n].levels, 0,
			       sizeof(m->levels[i].tracks[n].levels));
		}
	m->nr_intervals = 0;
}

/* ---- the rows of a place ---- */

void top_model__measure(struct top_model *m, size_t level, const struct breakdown_row *from,
			struct top_row *row)
{
	memset(row, 0, sizeof(*row));
	row->from = from;
	row->track = &m->levels[level].tracks[from->number];
	row->in_flight = m->knows_open ? row->track->in_flight : CELL_NO_NUMBER;
	breakdown_row__interval(from, &m->interval);
	hist__mend_max(&m->interval);
	latency_row__measure(&row->shown, &m->interval, m->seconds);
	latency_row__measure_percentiles(&row->shown, &m->interval);
}

static bool track_is_shown(const struct top_model *m, const struct top_track *track)
{
	if (track->above != (m->depth ? m->inside[m->depth - 1] : NULL))
		return false;
	return track->in_flight || (track->last && m->nr_intervals - track->last < TOP_INTERVALS);
}

static double row_value(const struct column *column, const struct top_row *row)
{
	struct cell cell = column__cell(column, row);

	if (cell.kind == CELL_RATE || cell.kind == CELL_MBPS)
		return cell.real;
	return cell.kind == CELL_NONE || cell.n == CELL_NO_NUMBER ? 0 : (double)cell.n;
}

static int row_compare(const void *left, const void *right, void *arg)
{
	const struct top_row *a = *(struct top_row *const *)left;
	const struct top_row *b = *(struct top_row *const *)right;
	const struct top_model *m = arg;
	const struct column *column = top_model__column(m, m->column);
	int by_keys = breakdown_row__compare(&a->from, &b->from);
	int order = by_keys;

	if (column) {
		double x = row_value(column, a), y = row_value(column, b);

		if (x == y)
			return by_keys;
		order = x < y ? 1 : -1;
	}
	return m->is_reversed ? -order : order;
}

static void model_choose(struct top_model *m)
{
	struct top_level *level = &m->levels[m->depth];

	if (!m->nr)
		return; /* the row may come back */
	for (size_t i = 0; i < m->nr; i++) {
		if (m->order[i]->from != level->chosen)
			continue;
		m->at = i;
		return;
	}
	m->at = m->at < m->nr ? m->at : m->nr - 1;
	level->chosen = m->order[m->at]->from;
}

/* "loop0 > read > fio" */
static void model_describe_place(struct top_model *m, top_label_fn label, void *arg)
{
	struct latency_row row;
	size_t len = 0;

	m->place[0] = 0;
	for (size_t i = 0; i < m->depth && len < sizeof(m->place); i++) {
		char name[256];

		memset(&row, 0, sizeof(row));
		label(arg, &m->inside[i]->tags, top_model__mask(m, i), &row);
		latency_row__title(&row, 1u << m->keys[i], name, sizeof(name));
		len += (size_t)snprintf(m->place + len, sizeof(m->place) - len, "%s%s",
					i ? " > " : "", *name ? name : "-");
	}
}

int top_model__arrange(struct top_model *m, top_label_fn label, void *arg)
{
	struct top_level *level = &m->levels[m->depth];

	/* All at once: a row holds pointers into itself. */
	if (GROW(m->rows, m->room, level->nr) || GROW(m->order, m->room_order, level->nr))
		return -ENOMEM;
	m->nr = 0;
	for (size_t i = 0; i < level->nr; i++) {
		const struct breakdown_row *from = level->breakdown.rows[i];
		struct top_row *row = &m->rows[m->nr];

		if (!track_is_shown(m, &level->tracks[i]))
			continue;
		top_model__measure(m, m->depth, from, row);
		label(arg, &from->tags, level->breakdown.mask, &row->shown);
		if (!level->only || condition__is_true(level->only, row))
			m->order[m->nr++] = row;
	}
	if (m->nr) /* without rows there is no array */
		qsort_r(m->order, m->nr, sizeof(*m->order), row_compare, m);
	model_choose(m);
	model_describe_place(m, label, arg);
	return 0;
}

const struct top_row *top_model__chosen(const struct top_model *m)
{
	return m->nr ? m->order[m->at] : NULL;
}

const char *top_model__name(const struct top_model *m, const struct latency_row *row, char *buf,
			    size_t size)
{
	latency_row__title(row, 1u << m->keys[m->depth], buf, size);
	if (!*buf)
		snprintf(buf, size, "-");
	return buf;
}

/* ---- what a user does ---- */

void top_model__move(struct top_model *m, long by)
{
	long at = (long)m->at + by;

	if (!m->nr)
		return;
	m->at = at < 0 ? 0 : (size_t)at < m->nr ? (size_t)at : m->nr - 1;
	m->levels[m->depth].chosen = m->order[m->at]->from;
}

bool top_model__enter(struct top_model *m)
{
	const struct top_row *row = top_model__chosen(m);

	if (!row || m->depth + 1 == m->nr_keys)
		return false;
	m->inside[m->depth++] = row->from;
	m->levels[m->depth].chosen = NULL;
	m->at = 0;
	return true;
}

bool top_model__leave(struct top_model *m)
{
	if (!m->depth)
		return false;
	m->depth--;
	m->levels[m->depth].chosen = m->inside[m->depth];
	return true;
}

void top_model__sort_next(struct top_model *m)
{
	m->column = (m->column + 1) % TOP_COLUMNS;
}

int top_model__filter(struct top_model *m, const char *text)
{
	struct top_level *level = &m->levels[m->depth];
	size_t nr = object__pick(&top_rows, TABLE_TEXT, level_shows, level, level->columns);
	struct condition *only;
	int err = condition__parse("--if", *text ? text : NULL, level->columns, nr, &only);

	if (err)
		return err;
	condition__free(level->only);
	level->only = only;
	snprintf(level->filter, sizeof(level->filter), "%s", text);
	return 0;
}
