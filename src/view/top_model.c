/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* qsort_r */
#include "view/top_model.h"

#include <errno.h>
#include <math.h>
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

void top_model__init(struct top_model *m, const enum breakdown_by *keys, size_t nr)
{
	uint32_t mask = 0;

	memset(m, 0, sizeof(*m));
	m->nr_keys = nr;
	m->column = 1;
	for (size_t i = 0; i < nr; i++) {
		m->keys[i] = m->by[i] = keys[i];
		mask |= 1u << keys[i];
		breakdown__init(&m->levels[i].breakdown, mask);
	}
}

static void level_free(struct top_level *level)
{
	breakdown__free(&level->breakdown);
	free(level->tracks);
	condition__free(level->only);
	memset(level, 0, sizeof(*level));
}

void top_model__free(struct top_model *m)
{
	for (size_t i = 0; i < m->nr_keys; i++)
		level_free(&m->levels[i]);
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

static size_t slot_band(uint32_t slot)
{
	uint32_t first = hist_slot(1ULL << TOP_FROM_BIT);
	size_t band = slot < first ? 0 : (slot - first) / HIST_SUB;

	return band < TOP_BANDS ? band : TOP_BANDS - 1;
}

/* The commands of the interval are in its bands. */
static void track_remember(struct top_track *track, uint64_t number, uint64_t count)
{
	uint8_t *levels = track->levels[number % TOP_INTERVALS];

	memset(levels, 0, TOP_BANDS);
	if (!count)
		return; /* idle, as most rows are */
	for (size_t band = 0; band < TOP_BANDS; band++)
		levels[band] = (uint8_t)chart__level(track->bands[band], count);
	memset(track->bands, 0, sizeof(track->bands));
	track->last = number;
}

int top_track__level(const struct top_model *m, const struct top_track *track, size_t ago,
		     size_t band)
{
	if (ago >= TOP_INTERVALS || ago >= m->nr_intervals)
		return 0;
	return track->levels[(m->nr_intervals - ago) % TOP_INTERVALS][band];
}

/* The rows that a row of the last level is part of, by level; each has a track then. */
static int model_find_chain(struct top_model *m, struct breakdown_row *row,
			    struct breakdown_row *chain[NR_BY])
{
	size_t at = m->nr_keys - 1;

	for (chain[at] = row; at > 0; at--) {
		struct top_track *track = level_track(&m->levels[at], chain[at]);

		if (track && !track->above)
			track->above =
				breakdown__row(&m->levels[at - 1].breakdown, &chain[at]->tags);
		if (!track || !track->above)
			return -ENOMEM;
		chain[at - 1] = track->above;
	}
	return level_track(&m->levels[0], chain[0]) ? 0 : -ENOMEM;
}

static void hist_add_slotless(struct hist *into, const struct breakdown_row *row)
{
	into->count += row->total.count - row->before.count;
	into->sum_ns += row->total.sum_ns - row->before.sum_ns;
	into->bytes += row->total.bytes - row->before.bytes;
	if (row->interval_max_ns > into->max_ns)
		into->max_ns = row->interval_max_ns;
}

static void model_add_slot(struct top_model *m, struct breakdown_row *const chain[NR_BY],
			   uint32_t slot, uint64_t nr)
{
	const size_t last = m->nr_keys - 1, band = slot_band(slot);

	m->sum.slots[slot] += nr;
	m->levels[last].tracks[chain[last]->number].bands[band] += nr;
	for (size_t at = 0; at < last; at++) {
		chain[at]->total.slots[slot] += nr;
		m->levels[at].tracks[chain[at]->number].bands[band] += nr;
	}
}

/* Returns how many commands of the interval are in this octave. */
static uint64_t model_spread_octave(struct top_model *m, struct breakdown_row *const chain[NR_BY],
				    const struct breakdown_row *row, uint32_t octave)
{
	uint64_t sum = 0;

	for (uint32_t slot = octave * HIST_SUB; slot < (octave + 1) * HIST_SUB; slot++) {
		uint64_t nr;

		if (slot >= HIST_CELLS)
			break;
		nr = row->total.slots[slot] - row->before.slots[slot];
		if (nr)
			model_add_slot(m, chain, slot, nr);
		sum += nr;
	}
	return sum;
}

/*
 * Adds the interval of a row of the last level to all that it is part of. One pass over its octaves
 * up to the last command: few are in use, and most latencies are far below the last one.
 */
static int model_spread(struct top_model *m, struct breakdown_row *row)
{
	uint64_t left = row->total.count - row->before.count;
	struct breakdown_row *chain[NR_BY];
	int err = model_find_chain(m, row, chain);

	if (err || !left)
		return err;
	hist_add_slotless(&m->sum, row);
	for (size_t at = 0; at + 1 < m->nr_keys; at++) {
		hist_add_slotless(&chain[at]->total, row);
		chain[at]->interval_max_ns = chain[at]->total.max_ns;
	}
	for (uint32_t octave = 0; left && octave < HIST_OCTAVES; octave++)
		if (row->octaves >> octave & 1)
			left -= model_spread_octave(m, chain, row, octave);
	return 0;
}

static void level_remember(struct top_level *level, uint64_t number)
{
	for (size_t i = 0; i < level->breakdown.nr; i++) {
		const struct breakdown_row *row = level->breakdown.rows[i];

		track_remember(&level->tracks[row->number], number,
			       row->total.count - row->before.count);
	}
}

/* The rows above the last level, and the sum, from its interval. */
static int model_sum(struct top_model *m)
{
	struct breakdown *finest = &m->levels[m->nr_keys - 1].breakdown;
	int err = 0;

	memset(&m->sum, 0, sizeof(m->sum));
	for (size_t i = 0; i < finest->nr && !err; i++)
		err = model_spread(m, finest->rows[i]);
	for (size_t i = 0; i < m->nr_keys && !err; i++)
		level_remember(&m->levels[i], m->nr_intervals);
	return err;
}

int top_model__end(struct top_model *m, double seconds)
{
	int err;

	m->nr_intervals++;
	m->seconds = seconds;
	err = model_sum(m);
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

/* ---- other keys ---- */

/* What is in flight, and which interval was the last one with commands. */
static void model_raise_track(struct top_model *m, const struct top_track *track)
{
	const struct breakdown_row *above = track->above;

	for (size_t at = m->nr_keys - 1; at-- > 0;) {
		struct top_track *up = &m->levels[at].tracks[above->number];

		up->in_flight += track->in_flight;
		up->last = up->last < track->last ? track->last : up->last;
		above = up->above;
	}
}

/* The last interval once more, for levels that have other keys now. */
static int model_recount(struct top_model *m)
{
	const struct top_level *finest = &m->levels[m->nr_keys - 1];
	int err;

	for (size_t i = 0; i + 1 < m->nr_keys; i++) {
		level_begin(&m->levels[i]);
		for (size_t n = 0; n < m->levels[i].nr; n++)
			m->levels[i].tracks[n].in_flight = 0;
	}
	err = model_sum(m);
	for (size_t n = 0; n < finest->breakdown.nr && !err; n++)
		model_raise_track(m, &finest->tracks[n]);
	return err;
}

int top_model__set_keys(struct top_model *m, size_t from, const enum breakdown_by *keys)
{
	struct top_level *finest = &m->levels[m->nr_keys - 1];
	uint32_t mask = from ? top_model__mask(m, from - 1) : 0;

	for (size_t i = from; i + 1 < m->nr_keys; i++) {
		mask |= 1u << keys[i];
		level_free(&m->levels[i]);
		breakdown__init(&m->levels[i].breakdown, mask);
	}
	memcpy(m->keys, keys, sizeof(m->keys));
	finest->chosen = NULL;
	for (size_t n = 0; n < finest->nr; n++)
		finest->tracks[n].above = NULL;
	return model_recount(m);
}

/* ---- the rows of a place ---- */

static void row_begin(struct top_model *m, size_t level, const struct breakdown_row *from,
		      struct top_row *row)
{
	memset(row, 0, sizeof(*row));
	row->from = from;
	row->track = &m->levels[level].tracks[from->number];
	row->in_flight = m->knows_open ? row->track->in_flight : CELL_NO_NUMBER;
}

/* What needs no look at the slots. */
static void row_measure_rates(const struct top_model *m, struct top_row *row)
{
	const struct hist *now = &row->from->total, *before = &row->from->before;
	double seconds = m->seconds > 0 ? m->seconds : INFINITY;
	uint64_t bytes = now->bytes - before->bytes;

	row->shown.count = now->count - before->count;
	row->shown.per_s = (double)row->shown.count / seconds;
	row->shown.mb_per_s = (double)bytes / seconds / 1e6;
	row->shown.size_bytes = row->shown.count ? bytes / row->shown.count : 0;
}

static void row_measure_latency(struct top_model *m, struct top_row *row)
{
	breakdown_row__interval(row->from, &m->interval);
	hist__mend_max(&m->interval);
	latency_row__measure(&row->shown, &m->interval, m->seconds);
	latency_row__measure_percentiles(&row->shown, &m->interval);
}

void top_model__measure(struct top_model *m, size_t level, const struct breakdown_row *from,
			struct top_row *row)
{
	row_begin(m, level, from, row);
	row_measure_latency(m, row);
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

/* A filter may ask for any column; an order by rates or names needs no latency. */
static bool model_needs_latency(const struct top_model *m)
{
	const struct column *column = top_model__column(m, m->column);

	return !m->lines || m->levels[m->depth].only ||
	       (column && column__cell(column, &(struct top_row){ 0 }).kind == CELL_DURATION);
}

static void row_complete(struct top_model *m, struct top_row *row, top_label_fn label, void *arg)
{
	if (row->shown.count)
		row_measure_latency(m, row);
	label(arg, &row->from->tags, m->levels[m->depth].breakdown.mask, &row->shown);
}

/* Only those that can be on the screen, above or below the chosen one. */
static void model_complete_near(struct top_model *m, top_label_fn label, void *arg)
{
	size_t from = m->at > m->lines ? m->at - m->lines : 0;

	for (size_t i = from; i < m->nr && i <= m->at + m->lines; i++)
		row_complete(m, m->order[i], label, arg);
}

int top_model__arrange(struct top_model *m, top_label_fn label, void *arg)
{
	struct top_level *level = &m->levels[m->depth];
	const bool whole = model_needs_latency(m);

	/* All at once: a row holds pointers into itself. */
	if (GROW(m->rows, m->room, level->nr) || GROW(m->order, m->room_order, level->nr))
		return -ENOMEM;
	m->nr = 0;
	for (size_t i = 0; i < level->nr; i++) {
		struct top_row *row = &m->rows[m->nr];

		if (!track_is_shown(m, &level->tracks[i]))
			continue;
		row_begin(m, m->depth, level->breakdown.rows[i], row);
		row_measure_rates(m, row);
		if (whole)
			row_complete(m, row, label, arg);
		if (!level->only || condition__is_true(level->only, row))
			m->order[m->nr++] = row;
	}
	if (m->nr) /* without rows there is no array */
		qsort_r(m->order, m->nr, sizeof(*m->order), row_compare, m);
	model_choose(m);
	if (!whole)
		model_complete_near(m, label, arg);
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
