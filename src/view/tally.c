/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* qsort_r */
#include "view/tally.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/log.h"
#include "base/units.h"
#include "render/chart.h"
#include "render/flame.h"
#include "session/probe_source.h"
#include "session/table.h"
#include "view/intervals.h"
#include "view/stacks.h"

enum {
	TALLY_TOP = 60,	     /* rows in text */
	TALLY_NEVER = 24,    /* names of probes without hits in text, without -v */
	TALLY_PICTURES = 10, /* histograms in text */
	TALLY_RANGES = 24,   /* rows of one */
};

const struct column tally_lead[] = {
	{ "span", "span", CELL_TEXT, 0, "interval, or total for the whole run",
	  .at = TALLY_AT(TALLY_SPAN) },
	{ "time_s", "time", CELL_SECONDS, 5, "time of the end of the span, since the start",
	  .at = TALLY_AT(TALLY_TIME) },
	{ 0 },
};

/* ---- columns ---- */

/* The cell kind of the summed value. */
static enum cell_kind tally_value_kind(const struct plan *plan)
{
	return values__number_kind(plan->of_unit, plan->of_is_signed);
}

/* A column that shows the value gets its unit as a suffix: p50_ns. */
static void tally_settle_unit(struct tally_view *v, struct column *c, size_t i)
{
	const enum value_unit unit = v->request.plan.of_unit;

	if ((c->at != TALLY_AT(TALLY_SUM) && c->at < TALLY_AT(TALLY_MEAN)) ||
	    c->at > TALLY_AT(TALLY_TO) || c->kind == CELL_DURATION) /* pairs: always times */
		return;
	c->kind = tally_value_kind(&v->request.plan);
	snprintf(v->column_keys[i], sizeof(v->column_keys[i]), "%s%s", c->key,
		 unit == VALUE_DURATION ? "_ns"
		 : unit == VALUE_BYTES	? "_bytes"
					: "");
	c->key = v->column_keys[i];
}

/* In text a stack is below its row, and constant columns are left out. */
static bool tally_shows(const struct tally_view *v, const struct session *s, const struct column *c)
{
	size_t key = c->at / sizeof(union value_slot) - TALLY_KEYS;

	if (s->format != TABLE_TEXT)
		return true;
	if (c->at == TALLY_AT(TALLY_SPAN))
		return false;
	if (c->at == TALLY_AT(TALLY_TIME))
		return s->options->run.interval_ns.given || s->options->run.count.given;
	if (c->at >= TALLY_AT(TALLY_KEYS) && key < v->request.plan.nr_keys)
		return !values__is_stack(&v->request.plan.keys[key]);
	return true;
}

/* The lead, the keys, the command's columns. Returns how many are picked. */
static size_t tally_columns(struct tally_view *v, const struct session *s,
			    const struct object *object, struct column *columns,
			    const struct column **picked)
{
	const struct plan *plan = &v->request.plan;
	size_t nr = 0, nr_picked = 0;

	for (const struct column *c = tally_lead; c->key; c++)
		columns[nr++] = *c;
	if (values__columns(v->values, plan->keys, plan->nr_keys, TALLY_KEYS, columns + nr,
			    object->parts[1]))
		return 0;
	nr += plan->nr_keys;
	for (const struct column *c = object->parts[1]; c->key; c++) {
		columns[nr] = *c;
		if (c->at == TALLY_AT(TALLY_COUNT) && !run__is_exact(probe_source__run(s)))
			columns[nr].header = "~count";
		tally_settle_unit(v, &columns[nr], nr);
		nr++;
	}
	for (size_t i = 0; i < nr; i++)
		if (tally_shows(v, s, &columns[i]))
			picked[nr_picked++] = &columns[i];
	return nr_picked;
}

/* ---- one row ---- */

static void tally_fill_spread(struct tally_view *v, const struct tally_group *group,
			      union value_slot *slots)
{
	static const struct {
		enum tally_slot slot;
		uint32_t per_10000;
	} percentiles[] = {
		{ TALLY_P50, 5000 }, { TALLY_P90, 9000 }, { TALLY_P99, 9900 }, { TALLY_P999, 9990 }
	};

	for (size_t i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++)
		slots[percentiles[i].slot].n =
			(uint64_t)scale__percentile(&v->scale, group, percentiles[i].per_10000);
	slots[TALLY_MAX].n = (uint64_t)group->sum.max;
}

static void tally_fill(struct tally_view *v, const struct session *s, bool total,
		       const struct tally_group *group)
{
	union value_slot *slots = v->slots;
	double span_s = total ? s->span_s : s->interval_s;

	slots[TALLY_SPAN].text = total ? "total" : "interval";
	slots[TALLY_TIME].real = s->elapsed_s;
	values__fill(v->values, v->request.plan.keys, v->request.plan.nr_keys, group->key,
		     &slots[TALLY_KEYS]);
	slots[TALLY_COUNT].n = group->sum.count;
	slots[TALLY_PER_S].real = (double)group->sum.count / span_s;
	slots[TALLY_SUM].n = group->sum.sum;
	slots[TALLY_SUM_PER_S].real =
		(v->request.plan.of_is_signed ? (double)(int64_t)group->sum.sum
					      : (double)group->sum.sum) /
		span_s;
	slots[TALLY_MEAN].n = 0;
	if (group->sum.count && v->request.plan.of_is_signed)
		slots[TALLY_MEAN].n =
			(uint64_t)((int64_t)group->sum.sum / (int64_t)group->sum.count);
	else if (group->sum.count)
		slots[TALLY_MEAN].n = group->sum.sum / group->sum.count;
	if (v->buckets)
		tally_fill_spread(v, group, slots);
}

static void tally_put_stacks(const struct tally_view *v, FILE *out)
{
	const struct plan *plan = &v->request.plan;

	for (size_t i = 0; i < plan->nr_keys; i++) {
		const char *stack = v->slots[TALLY_KEYS + i].text;

		if (!values__is_stack(&plan->keys[i]))
			continue;
		if (!stack)
			fprintf(out, "      [no %s stack]\n",
				plan->keys[i].shape.unit == VALUE_KSTACK_ID ? "kernel" : "user");
		frames__put(out, stack);
	}
}

/* ---- histograms ---- */

static void tally_bound(const struct tally_view *v, char *buf, size_t size, int64_t value)
{
	switch (tally_value_kind(&v->request.plan)) {
	case CELL_DURATION: text__duration(buf, size, (uint64_t)value); break;
	case CELL_BYTES: text__bytes(buf, size, (uint64_t)value); break;
	default: snprintf(buf, size, "%" PRId64, value); break;
	}
}

static void tally_bar(const struct tally_view *v, const struct scale_range *range,
		      struct chart_bar *bar)
{
	*bar = (struct chart_bar){ .is_closed = true,
				   .count = range->count,
				   .cumulative_percent = range->cumulative_percent };
	tally_bound(v, bar->from, sizeof(bar->from), range->span.from);
	tally_bound(v, bar->to, sizeof(bar->to), range->span.last);
	if (range->span.no_from)
		snprintf(bar->from, sizeof(bar->from), "...");
	if (range->span.no_last)
		snprintf(bar->to, sizeof(bar->to), "...");
}

/* "comm=fio, pid=12" over the picture. */
static void tally_put_caption(const struct tally_view *v, FILE *out)
{
	const char *gap = "\n";

	for (size_t i = 0; i < v->request.plan.nr_keys; i++) {
		const struct column *c = &v->columns[2 + i];
		struct cell cell = column__cell(c, v->slots);

		if (values__is_stack(&v->request.plan.keys[i]))
			continue;
		fprintf(out, "%s%s=", gap, c->header);
		if (cell.kind == CELL_TEXT)
			text__put_terminal(out, cell.text);
		else if (cell.kind != CELL_NONE)
			fprintf(out, "%" PRId64, (int64_t)cell.n);
		gap = ", ";
	}
	fputc('\n', out);
}

static void tally_put_picture(struct tally_view *v, const struct session *s,
			      const struct tally_group *group)
{
	struct chart_style style = chart__style_of(s->out, s->options->output.color);
	struct scale_range ranges[TALLY_RANGES];
	struct chart_bar bars[TALLY_RANGES];
	int nr = scale__ranges(&v->scale, group, ranges, TALLY_RANGES);

	for (int i = 0; i < nr; i++)
		tally_bar(v, &ranges[i], &bars[i]);
	tally_put_caption(v, s->out);
	chart__bars(s->out, style, v->request.line.of ? v->request.line.of : "latency", bars, nr);
}

/* Each bucket that is not empty, as it was counted. */
static void tally_put_buckets(struct tally_view *v, const struct tally_group *group)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < group->nr; i++) {
		const struct tally_bucket *b = &group->buckets[i];
		struct scale_span span = scale__span(&v->scale, b->bucket);

		seen += b->sum.count;
		v->slots[TALLY_FROM].n = (uint64_t)span.from;
		v->slots[TALLY_TO].n = (uint64_t)span.last;
		v->slots[TALLY_COUNT].n = b->sum.count;
		v->slots[TALLY_CUMULATIVE].real = 100.0 * (double)seen / (double)group->sum.count;
		table__row(v->bucket_table, v->slots);
	}
}

static void tally_put_pictures(struct tally_view *v, const struct session *s)
{
	for (size_t i = 0; i < v->tally.nr_groups; i++) {
		const struct tally_group *group = &v->tally.groups[i];

		if (!group->sum.count || (s->format == TABLE_TEXT && i >= TALLY_PICTURES))
			break;
		tally_fill(v, s, true, group);
		if (s->format == TABLE_TEXT)
			tally_put_picture(v, s, group);
		else if (s->format == TABLE_JSON)
			tally_put_buckets(v, group);
	}
}

/* ---- flame graphs ---- */

/* Keys that are not stacks are at the bottom. */
static int tally_add_flame(struct tally_view *v, struct flame *flame,
			   const struct tally_group *group)
{
	static char names[2][STACK_FRAMES][FRAME_NAME];
	static char keys[PLAN_MAX_PARTS][FRAME_NAME];
	struct flame_frame frames[PLAN_MAX_PARTS + 2 * STACK_FRAMES];
	const struct plan *plan = &v->request.plan;
	const char *stacks[2] = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i < plan->nr_keys; i++) {
		struct cell cell = column__cell(&v->columns[TALLY_KEYS + i], v->slots);

		if (values__is_stack(&plan->keys[i])) {
			stacks[plan->keys[i].shape.unit == VALUE_KSTACK_ID] = cell.text;
			continue;
		}
		if (cell.kind == CELL_TEXT)
			snprintf(keys[i], FRAME_NAME, "%s", cell.text);
		else
			snprintf(keys[i], FRAME_NAME, "%" PRId64, (int64_t)cell.n);
		frames[nr++] = (struct flame_frame){ keys[i], FLAME_COMM };
	}
	nr = view_stacks__bars(stacks[0], FLAME_USER, names[0], frames, nr);
	nr = view_stacks__bars(stacks[1], FLAME_KERNEL, names[1], frames, nr);
	return nr ? flame__add(flame, frames, nr, group->sum.count) : 0;
}

static int tally_write_svg(const struct tally_view *v, struct session *s, struct flame *flame)
{
	char title[256], note[96];
	const struct flame_style style = {
		.title = title, .note = note, .value = CELL_COUNT, .unit = "hits"
	};
	struct flame_drawn drawn;

	snprintf(title, sizeof(title), "%s by stack", v->request.line.events[0]);
	snprintf(note, sizeof(note), "%" PRIu64 " hits in %.1f s", flame__total(flame), s->span_s);
	return flame__write_svg(flame, &style, s->out, &drawn);
}

static int tally_write_flame(struct tally_view *v, struct session *s)
{
	struct flame *flame = flame__new();
	int err = flame ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < v->tally.nr_groups; i++) {
		tally_fill(v, s, true, &v->tally.groups[i]);
		err = tally_add_flame(v, flame, &v->tally.groups[i]);
	}
	if (!err)
		err = s->options->output.format == OUTPUT_SVG ? tally_write_svg(v, s, flame)
							      : flame__write_folded(flame, s->out);
	flame__free(flame);
	return err ? log_err(err, "cannot draw the stacks: %s", strerror(-err)) : 0;
}

/* ---- all rows ---- */

/* The key that is a probe's name, or nr_keys. */
static size_t tally_name_key(const struct plan *plan)
{
	size_t i = 0;

	while (i < plan->nr_keys && plan->keys[i].shape.unit != VALUE_PROBE_NAME &&
	       plan->keys[i].shape.unit != VALUE_FUNC_NAME)
		i++;
	return i;
}

/* Sorts by the probe's number in the plan: the order of the command line. */
static int tally_compare_probes(const void *a, const void *b, void *at)
{
	uint64_t left, right;

	memcpy(&left, (const char *)((const struct tally_group *)a)->key + *(uint32_t *)at,
	       sizeof(left));
	memcpy(&right, (const char *)((const struct tally_group *)b)->key + *(uint32_t *)at,
	       sizeof(right));
	return COMPARE(left, right);
}

/* In text, events without hits have no row of zeros, but they are named. */
static void tally_put_never(struct tally_view *v, const struct session *s, size_t from)
{
	const size_t key = tally_name_key(&v->request.plan);
	size_t nr = v->tally.nr_groups - from, column = 0, width;
	const char *name;

	qsort_r(v->tally.groups + from, nr, sizeof(*v->tally.groups), tally_compare_probes,
		&v->request.plan.keys[key].at);
	if (nr > TALLY_NEVER && !log_verbosity())
		nr = TALLY_NEVER;
	for (size_t i = from; i < from + nr; i++) {
		tally_fill(v, s, true, &v->tally.groups[i]);
		name = v->slots[TALLY_KEYS + key].text;
		width = text__width(name ? name : "?");
		if (!column || column + width > 98) {
			fputs(column ? "\n  " : "\nnever:\n  ", s->out);
			column = 2;
		}
		text__put_terminal(s->out, name ? name : "?");
		fputc(' ', s->out);
		column += width + 1;
	}
	if (column)
		fputc('\n', s->out);
	if (from + nr < v->tally.nr_groups)
		fprintf(s->out, "  and %zu more; -v lists them\n", v->tally.nr_groups - from - nr);
}

/* All rows are known before the first is printed: columns fit the widest. */
static int tally_widen(struct tally_view *v, struct session *s, bool total, size_t nr)
{
	bool grew = !v->table;

	for (size_t i = 0; s->format == TABLE_TEXT && i < nr; i++) {
		tally_fill(v, s, total, &v->tally.groups[i]);
		for (size_t c = 0; c < v->nr_picked; c++) {
			struct column *column = (struct column *)v->picked[c];
			struct cell cell = column__cell(column, v->slots);
			size_t width = cell.kind == CELL_TEXT ? text__width(cell.text) : 0;

			if (width <= (size_t)column->width)
				continue;
			column->width = (int)width;
			grew = true;
		}
	}
	if (!grew)
		return 0;
	table__free(v->table);
	v->table = session__table_new(s, v->object->type, v->picked, v->nr_picked);
	return v->table ? 0 : log_no_memory();
}

/* Before its first hit only a probe's name and a constant have a row: that of a constant, as the
 * one row without keys, is shown with its zeros. */
static size_t tally_count_rows(const struct tally_view *v, const struct session *s)
{
	size_t nr = v->tally.nr_groups;

	if (s->format != TABLE_TEXT || tally_name_key(&v->request.plan) == v->request.plan.nr_keys)
		return nr;
	while (nr && !v->tally.groups[nr - 1].sum.count)
		nr--;
	return nr;
}

static int tally_show(struct tally_view *v, struct session *s, bool total)
{
	size_t i, nr = v->tally.nr_groups, nonzero = tally_count_rows(v, s);
	size_t top = s->format == TABLE_TEXT ? TALLY_TOP : SIZE_MAX;
	int err;

	if (v->options.top.given)
		top = v->options.top.value;
	err = tally_widen(v, s, total, nonzero < top ? nonzero : top);
	if (err)
		return err;
	for (i = 0; i < nonzero && i < top; i++) {
		tally_fill(v, s, total, &v->tally.groups[i]);
		table__row(v->table, v->slots);
		if (s->format == TABLE_TEXT)
			tally_put_stacks(v, s->out);
	}
	if (s->format == TABLE_TEXT && nonzero > top)
		fprintf(s->out, "%zu more; --top %zu shows them\n", nonzero - top, nonzero);
	if (total && nonzero < nr)
		tally_put_never(v, s, nonzero);
	return 0;
}

static void tally_on_row(void *arg, const void *key, uint32_t bucket, const struct probe_row *row)
{
	struct tally_view *v = arg;
	const struct plan *plan = &v->request.plan;
	const struct tally_sum sum = { row->count, row->sum, (int64_t)row->max };
	uint8_t joined[PLAN_MAX_KEY];

	if (plan->key_bytes)
		memcpy(joined, key, plan->key_bytes);
	values__join(v->values, plan->keys, plan->nr_keys, joined);
	v->read_err = v->read_err ?: tally__add(&v->tally, joined, bucket, &sum);
}

static int tally_read(struct tally_view *v, struct session *s, enum tally_span span)
{
	int err;

	tally__begin(&v->tally);
	err = run__read(probe_source__run(s), tally_on_row, v);
	err = err ?: v->read_err;
	err = err ?: tally__groups(&v->tally, span, v->measure);
	return err == -ENOMEM ? log_err(err, "out of memory") : err;
}

static int tally_on_tick(void *state, struct session *s)
{
	struct tally_view *v = state;
	int err = tally_read(v, s, TALLY_INTERVAL);

	if (err || s->options->output.format > OUTPUT_CSV)
		return err;
	if (v->table && s->format == TABLE_TEXT && !(++v->nr_ticks % INTERVALS_HEADING))
		table__heading_again(v->table);
	return tally_show(v, s, false);
}

static int tally_on_end(void *state, struct session *s)
{
	struct tally_view *v = state;
	int err = tally_read(v, s, TALLY_TOTAL);

	if (err)
		return err;
	if (s->options->output.format > OUTPUT_CSV)
		return tally_write_flame(v, s);
	if (s->format == TABLE_TEXT && v->table) { /* between the last interval and the whole */
		fputc('\n', s->out);
		table__heading_again(v->table);
	}
	err = tally_show(v, s, true);
	if (!err && v->buckets)
		tally_put_pictures(v, s);
	return !err && v->after ? v->after(v, s) : err;
}

static int tally_on_start(void *state, struct session *s)
{
	const struct column *picked[OBJECT_COLUMNS];
	struct tally_view *v = state;
	size_t nr;

	values__start(v->values, probe_source__run(s));
	tally__init(&v->tally, v->request.plan.key_bytes);
	v->nr_picked = tally_columns(v, s, v->object, v->columns, v->picked);
	if (!v->nr_picked)
		return log_no_memory();
	if (!v->buckets)
		return 0;
	nr = tally_columns(v, s, v->buckets, v->bucket_columns, picked);
	if (nr)
		v->bucket_table = session__table_new(s, v->buckets->type, picked, nr);
	return v->bucket_table ? 0 : log_no_memory();
}

static void tally_name(void *arg, const void *key, uint32_t bucket, const struct probe_row *row)
{
	const struct tally_view *v = arg;

	values__name(v->values, v->request.plan.keys, v->request.plan.nr_keys, key);
	(void)bucket, (void)row;
}

static int tally_on_glance(void *state, struct session *s)
{
	return run__read(probe_source__run(s), tally_name, state);
}

static struct request *tally_asks(void *state)
{
	return &((struct tally_view *)state)->request;
}

static const struct session_view tally_session = {
	.asks = tally_asks,
	.on_start = tally_on_start,
	.on_tick = tally_on_tick,
	.on_glance = tally_on_glance,
	.on_end = tally_on_end,
	.only_at_end = true,
};

/* "64", "-5", "4Ki", "10us"; *text moves past it and the colon. */
static bool tally_read_bound(const char **text, int64_t *value)
{
	size_t len = strcspn(*text, ":");
	bool is_negative = **text == '-';
	char word[32];
	uint64_t number;

	if (len >= sizeof(word))
		return false;
	snprintf(word, sizeof(word), "%.*s", (int)(len - is_negative), *text + is_negative);
	*text += len + ((*text)[len] == ':');
	if (units__read_size(word, &number) && units__read_duration(word, &number))
		return false;
	*value = is_negative ? -(int64_t)number : (int64_t)number;
	return number <= INT64_MAX;
}

/* "0:64:1"; the plan checks whether the values make sense. */
static int tally_read_linear(struct tally_view *v)
{
	struct line *line = &v->request.line;
	const char *text = v->options.linear;

	if (!tally_read_bound(&text, &line->linear_from) ||
	    !tally_read_bound(&text, &line->linear_to) ||
	    !tally_read_bound(&text, &line->linear_step) || *text)
		return log_err(-EINVAL,
			       "--linear %s: expected FROM:TO:STEP, e.g. 0:64:1 or 0:1ms:10us",
			       v->options.linear);
	line->buckets = BUCKETS_LINEAR;
	v->scale = (struct scale){ SCALE_LINEAR, line->linear_from, line->linear_to,
				   line->linear_step };
	return 0;
}

int tally_view__run(struct tally_view *v, enum line_action action, const struct options *options,
		    char **argv)
{
	int err = 0;

	v->request.wants.emit = v->options.emit;
	v->request.wants.unwind = (enum unwind_how)v->options.unwind;
	v->request.wants.max_keys = (uint32_t)v->options.keys.value;
	if (v->options.linear) {
		err = tally_read_linear(v);
	} else if (v->options.log2) {
		v->request.line.buckets = BUCKETS_LOG2;
		v->scale.kind = SCALE_LOG2;
	}
	err = err ?: request__understand(&v->request, action, &v->options.words, options);
	if (!err && v->measure == TALLY_BY_SUM && v->request.plan.of_is_signed)
		v->measure = TALLY_BY_SIGNED_SUM;
	if (!err) {
		v->values = values__new(&v->request);
		err = v->values ? session__run(&tally_session, v, options, argv) : log_no_memory();
	}
	table__free(v->table);
	table__free(v->bucket_table);
	tally__free(&v->tally);
	values__free(v->values);
	request__free(&v->request);
	return err;
}
