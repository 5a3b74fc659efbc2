/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report_latency.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "session/io_source.h"
#include "session/table.h"
#include "view/latency_rows.h"

/* A row of any table below; the members it shares with latency are in `of`. */
struct report_row {
	struct latency_row of;
	double percentile;
	uint64_t lat_ns;
	uint64_t begin_ns, end_ns; /* of a time column, since the start of the run */
};

#define FIELD(name) offsetof(struct report_row, name)

static const struct column percentile_columns[] = {
	{ "dev", "dev", CELL_TEXT, 7,
	  "disk, or controller for admin commands; #2 is the second device of that name",
	  .at = FIELD(of.dev) },
	{ "op", "op", CELL_TEXT, 8, "operation", .at = FIELD(of.op) },
	{ "percentile", "percentile", CELL_PERCENT, 7, "percentile; 100: the maximum",
	  .at = FIELD(percentile) },
	{ "lat_ns", "latency", CELL_DURATION, 7, "latency at this percentile",
	  .at = FIELD(lat_ns) },
	{ 0 },
};

static const struct column moment_columns[] = {
	{ "begin_s", "from", CELL_TIME, 11, "start of the time slice, since the start of the run",
	  .at = FIELD(begin_ns) },
	{ "end_s", "to", CELL_TIME, 11, "start of the next time slice", .at = FIELD(end_ns) },
	{ "count", "count", CELL_COUNT, 7, "commands that ended", .at = FIELD(of.count) },
	{ "iops", "IO/s", CELL_RATE, 5, "commands per second", .at = FIELD(of.per_s) },
	{ "mb_per_s", "MB/s", CELL_MBPS, 5, "10^6 bytes per second", .at = FIELD(of.mb_per_s) },
	{ "max_ns", "max", CELL_DURATION, 6, "maximum latency, exact", .at = FIELD(of.max_ns) },
	{ 0 },
};

static const struct column heat_columns[] = {
	{ "dev", "dev", CELL_TEXT, 7, "device; null: all devices and operations",
	  .at = FIELD(of.dev) },
	{ "op", "op", CELL_TEXT, 8, "operation", .at = FIELD(of.op) },
	{ "begin_s", "from", CELL_TIME, 11, "start of the time slice, since the start of the run",
	  .at = FIELD(begin_ns) },
	{ "end_s", "to", CELL_TIME, 11, "start of the next time slice", .at = FIELD(end_ns) },
	{ "from_ns", "at least", CELL_DURATION, 6, "start of the bucket", .at = FIELD(of.from_ns) },
	{ "to_ns", "less than", CELL_DURATION, 6, "start of the next bucket; 0: no upper limit",
	  .at = FIELD(of.to_ns) },
	{ "count", "count", CELL_COUNT, 7, "commands", .at = FIELD(of.count) },
	{ 0 },
};

const struct object report_percentiles = { "percentile", { percentile_columns } };
const struct object report_moments = { "moment", { moment_columns } };
const struct object report_heat = { "heat", { heat_columns } };

/* ---- groups ---- */

static struct heat *report_new_heat(uint64_t start_ns)
{
	struct heat *heat = malloc(sizeof(*heat));

	if (heat)
		heat__init(heat, start_ns);
	return heat;
}

int report_latency__init(struct report_latency *l, const struct device_list *devices,
			 uint64_t start_ns)
{
	*l = (struct report_latency){
		.groups = calloc(REPORT_GROUPS, sizeof(struct report_group *)),
		.all = report_new_heat(start_ns),
		.heads = calloc(devices->nr + 1, sizeof(*l->heads)),
	};
	for (size_t i = 0; l->heads && i < devices->nr; i++)
		l->heads[i] = device_list__head(devices, (int)i);
	return l->groups && l->all && l->heads ? index__make_room(&l->index, REPORT_GROUPS)
					       : -ENOMEM;
}

/* The last group takes what fits in no other. */
static struct report_group *report_new_group(struct report_latency *l, const struct report_key *key,
					     uint64_t hash)
{
	struct report_group *group = calloc(1, sizeof(*group));

	if (!group)
		return NULL;
	l->groups[index__add(&l->index, hash)] = group;
	l->nr++;
	if (l->nr == REPORT_GROUPS) {
		group->other = true;
		return group;
	}
	group->key = *key;
	if (l->nr <= REPORT_HEATS)
		group->heat = report_new_heat(l->all->start_ns);
	return group->heat || l->nr > REPORT_HEATS ? group : NULL;
}

static bool report_is_of(const void *groups, uint32_t number, const void *key)
{
	const struct report_group *group = ((struct report_group *const *)groups)[number];
	const struct report_key *a = &group->key, *b = key;

	return a->device == b->device && a->kind == b->kind && a->op == b->op && !group->other;
}

/* NULL: no memory. */
static struct report_group *report_group(struct report_latency *l, const struct report_key *key)
{
	const uint64_t hash = index__mix(0, (uint64_t)(uint32_t)key->device << 16 |
						    (uint64_t)key->kind << 8 | key->op);
	uint32_t at = index__find(&l->index, hash, report_is_of, l->groups, key);

	if (at != INDEX_NONE)
		return l->groups[at];
	return l->nr == REPORT_GROUPS ? l->groups[REPORT_GROUPS - 1]
				      : report_new_group(l, key, hash);
}

int report_latency__add(struct report_latency *l, const struct io_record *r, int32_t device)
{
	const struct report_key key = {
		.device = device < 0 ? -1 : l->heads[device],
		.kind = r->kind,
		.op = r->op,
	};
	struct report_group *group = report_group(l, &key);
	uint64_t ns = r->end_ns - r->first_ns;

	if (!group)
		return -ENOMEM;
	hist__add(&group->hist, ns, r->bytes);
	if (group->heat)
		heat__add(group->heat, r->end_ns, ns, r->bytes);
	heat__add(l->all, r->end_ns, ns, r->bytes);
	l->failed += r->status != 0;
	return 0;
}

void report_latency__free(struct report_latency *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		free(l->groups[i]->heat);
		free(l->groups[i]);
	}
	free(l->groups);
	free(l->heads);
	index__free(&l->index);
	free(l->all);
}

/* ---- rows ---- */

static int report_compare(const void *a, const void *b)
{
	const struct report_group *x = *(struct report_group *const *)a;
	const struct report_group *y = *(struct report_group *const *)b;

	return COMPARE(x->other, y->other) ?: COMPARE(x->key.device, y->key.device) ?: COMPARE(x->key.kind, y->key.kind) ?: COMPARE(x->key.op, y->key.op);
}

static void report_label(struct latency_row *row, const struct session *s,
			 const struct report_group *group)
{
	const struct io_tags tags = {
		.device = group->key.device + 1,
		.kind = group->key.kind,
		.op = group->key.op,
		.other = group->other,
	};

	latency_row__label(row, s, &tags, 1 << BY_DEV | 1 << BY_OP);
}

static void report_put_latency(const struct report_latency *l, const struct session *s,
			       struct table *table)
{
	for (size_t i = 0; i < l->nr; i++) {
		struct latency_row row = { .span = "total", .time_s = s->elapsed_s };

		report_label(&row, s, l->groups[i]);
		latency_row__measure(&row, &l->groups[i]->hist, s->span_s);
		latency_row__measure_percentiles(&row, &l->groups[i]->hist);
		table__row(table, &row);
	}
}

/* Dense where the tail is: curves are drawn by the number of nines. */
static void report_put_percentiles(const struct report_latency *l, const struct session *s,
				   struct table *table)
{
	static const uint32_t per_10000[] = { 100,  500,  1000, 2000, 2500, 3000, 4000, 5000,
					      6000, 7000, 7500, 8000, 8500, 9000, 9300, 9500,
					      9700, 9800, 9900, 9930, 9950, 9970, 9980, 9990,
					      9993, 9995, 9997, 9998, 9999, 10000 };

	for (size_t i = 0; i < l->nr; i++) {
		struct report_row row = { 0 };

		report_label(&row.of, s, l->groups[i]);
		for (size_t p = 0; p < sizeof(per_10000) / sizeof(per_10000[0]); p++) {
			row.percentile = per_10000[p] / 100.0;
			row.lat_ns = per_10000[p] < 10000
					     ? hist__percentile(&l->groups[i]->hist, per_10000[p])
					     : l->groups[i]->hist.max_ns;
			table__row(table, &row);
		}
	}
}

/* Since the start of the run. The last column ends with the run. */
static void report_place(const struct heat *heat, const struct session *s, uint32_t column,
			 struct report_row *row)
{
	/* A file may hold false times: more than 300 years do not fit in ns. */
	uint64_t end_ns = s->elapsed_s < 1e10 ? (uint64_t)(s->elapsed_s * 1e9 + 0.5) : UINT64_MAX;

	row->begin_ns = heat->start_ns - s->start_ns + column * heat->width_ns;
	row->end_ns = row->begin_ns + heat->width_ns;
	if (end_ns > row->begin_ns && end_ns < row->end_ns)
		row->end_ns = end_ns;
}

/* A rate needs time: a last column that the end of the run cuts short has none. */
static void report_put_moments(const struct report_latency *l, const struct session *s,
			       struct table *table)
{
	for (uint32_t i = 0; i < l->all->nr; i++) {
		const struct heat_column *column = &l->all->columns[i];
		struct report_row row = { .of.count = column->count, .of.max_ns = CELL_NO_NUMBER };
		double seconds;

		report_place(l->all, s, i, &row);
		seconds = (double)(row.end_ns - row.begin_ns) / 1e9;
		if (2 * (row.end_ns - row.begin_ns) < l->all->width_ns)
			seconds = NAN;
		row.of.per_s = (double)column->count / seconds;
		row.of.mb_per_s = (double)column->bytes / seconds / 1e6;
		if (column->count)
			row.of.max_ns = column->max_ns;
		table__row(table, &row);
	}
}

static void report_put_heat(const struct heat *heat, const struct session *s, struct table *table,
			    struct report_row *row)
{
	for (uint32_t i = 0; i < heat->nr; i++) {
		report_place(heat, s, i, row);
		for (uint32_t nr = 0; nr < HEAT_ROWS; nr++) {
			row->of.count = heat->columns[i].rows[nr];
			row->of.from_ns = heat__row_from_ns(nr);
			row->of.to_ns = heat__row_to_ns(nr);
			if (row->of.count)
				table__row(table, row);
		}
	}
}

/* Number of groups with more commands than this one, or as many and before it. */
static size_t report_rank(const struct report_latency *l, size_t nr)
{
	uint64_t count = l->groups[nr]->hist.count;
	size_t rank = 0;

	for (size_t i = 0; i < l->nr; i++)
		rank += l->groups[i]->heat && (l->groups[i]->hist.count > count ||
					       (i < nr && l->groups[i]->hist.count == count));
	return rank;
}

/* First the total; then, if there are several groups, the largest, with the same columns. */
static void report_put_heats(struct report_latency *l, const struct session *s, struct table *table)
{
	struct report_row row = { 0 };

	report_put_heat(l->all, s, table, &row);
	for (size_t i = 0; l->nr > 1 && i < l->nr; i++) {
		struct heat *heat = l->groups[i]->heat;

		if (!heat || report_rank(l, i) >= REPORT_HEATS_SHOWN)
			continue;
		heat__widen(heat, l->all->width_ns);
		report_label(&row.of, s, l->groups[i]);
		report_put_heat(heat, s, table, &row);
	}
}

int report_latency__put(struct report_latency *l, const struct session *s, FILE *out)
{
	const struct object *const objects[] = { &latency_rows_by_op, &report_percentiles,
						 &report_moments, &report_heat };
	const struct table_clock clock = session__clock(s);
	struct table *tables[4];
	bool all = true;

	for (size_t i = 0; i < 4; i++) {
		tables[i] = table__of(out, TABLE_JSON, objects[i], NULL, NULL);
		all &= tables[i] && !table__set_clock(tables[i], &clock);
	}
	qsort(l->groups, l->nr, sizeof(*l->groups), report_compare);
	if (all) {
		report_put_latency(l, s, tables[0]);
		report_put_percentiles(l, s, tables[1]);
		report_put_moments(l, s, tables[2]);
		report_put_heats(l, s, tables[3]);
	}
	for (size_t i = 0; i < 4; i++)
		table__free(tables[i]);
	return all ? 0 : -ENOMEM;
}
