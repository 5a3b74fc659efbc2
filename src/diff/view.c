/* SPDX-License-Identifier: BSD-2-Clause */
#include "diff/view.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/log.h"
#include "decode/words.h"

/*
 *   dev     op    what        A       B   shift    from      to verdict
 *   nvme0n1 read  count   20011   20007
 *   nvme0n1 read  p50    81.2us  97.4us  +20.0%  +19.1%  +20.8% slower
 *   nvme0n1 read  p99     160us   163us   +1.9%   -2.2%   +6.1% noise
 */
struct diff_row {
	const char *dev, *dev_b, *matched, *op, *what, *unit;
	struct cell a, b;
	double shift, low, high;
	const char *shift_unit, *verdict;
	uint64_t blocks;
	/* as words, for text */
	const char *shift_words, *low_words, *high_words;
	char what_text[32], words[3][24];
};

#define ROW(name) offsetof(struct diff_row, name)

static struct cell row_a(const void *row)
{
	return ((const struct diff_row *)row)->a;
}

static struct cell row_b(const void *row)
{
	return ((const struct diff_row *)row)->b;
}

static const struct column diff_columns[] = {
	{ "dev", "dev", CELL_TEXT, 7, "device in A; null: only in B", .at = ROW(dev) },
	{ "dev_b", "dev_b", CELL_TEXT, 7, "device in B; null: only in A", .at = ROW(dev_b) },
	{ "matched", "matched", CELL_TEXT, 7,
	  "how the devices were paired: serial, name, left (the only ones left) or asked (--pair)",
	  .at = ROW(matched) },
	{ "op", "op", CELL_TEXT, 5, "operation", .at = ROW(op) },
	{ "what", "what", CELL_TEXT, 10,
	  "count, p50, p90, p99, p99.9, mean, iops, size, errors, size N (share of commands of up "
	  "to N bytes), step X2Y (share of the time)",
	  .at = ROW(what) },
	{ "unit", "unit", CELL_TEXT, 5, "unit of a and b: ns, bytes, per_s, percent, commands",
	  .at = ROW(unit) },
	{ "a", "A", CELL_RATE, 7, "value in A", .get = row_a },
	{ "b", "B", CELL_RATE, 7, "value in B", .get = row_b },
	{ "shift", "shift", CELL_RATE, 7,
	  "change from a to b, in percent of a; for percentages, in points", .at = ROW(shift) },
	{ "low", "from", CELL_RATE, 7,
	  "lower end of the interval of the shift; null: it cannot be judged", .at = ROW(low) },
	{ "high", "to", CELL_RATE, 7,
	  "upper end of the interval of the shift; null: it cannot be judged", .at = ROW(high) },
	{ "shift_unit", "shift_unit", CELL_TEXT, 7,
	  "unit of shift, low and high: percent or points", .at = ROW(shift_unit) },
	{ "blocks", "blocks", CELL_COUNT, 3,
	  "number of blocks that the block bootstrap resamples; null: single I/Os are resampled",
	  .at = ROW(blocks) },
	{ "verdict", "verdict", CELL_TEXT, 7,
	  "noise, slower, faster, more, less; too few: too few I/Os; unknown: variation not known; "
	  "only A, only B",
	  .at = ROW(verdict) },
	{ 0 },
};
const struct object diff_object = { "shift", { diff_columns } };

/* The same columns with signs and units, without those that a heading shows. */
static const struct column text_columns[] = {
	{ "dev", "dev", CELL_TEXT, 7, "", .at = ROW(dev) },
	{ "op", "op", CELL_TEXT, 5, "", .at = ROW(op) },
	{ "what", "what", CELL_TEXT, 11, "", .at = ROW(what) },
	{ "a", "A", CELL_RATE, 8, "", .get = row_a },
	{ "b", "B", CELL_RATE, 8, "", .get = row_b },
	{ "shift", "   shift", CELL_TEXT, 8, "", .at = ROW(shift_words) },
	{ "low", "    from", CELL_TEXT, 8, "", .at = ROW(low_words), .drop = 1 },
	{ "high", "      to", CELL_TEXT, 8, "", .at = ROW(high_words), .drop = 2 },
	{ "verdict", "verdict", CELL_TEXT, 7, "", .at = ROW(verdict) },
	{ 0 },
};

/* ---- one number ---- */

static const struct {
	const char *what, *unit;
	enum cell_kind kind;
} shift_words[NR_SHIFTS] = {
	[SHIFT_P50] = { "p50", "ns", CELL_DURATION },
	[SHIFT_P90] = { "p90", "ns", CELL_DURATION },
	[SHIFT_P99] = { "p99", "ns", CELL_DURATION },
	[SHIFT_P999] = { "p99.9", "ns", CELL_DURATION },
	[SHIFT_MEAN] = { "mean", "ns", CELL_DURATION },
	[SHIFT_RATE] = { "iops", "per_s", CELL_RATE },
	[SHIFT_SIZE] = { "size", "bytes", CELL_BYTES },
	[SHIFT_ERRORS] = { "errors", "percent", CELL_PERCENT },
	[SHIFT_SIZE_SHARE] = { "size", "percent", CELL_PERCENT },
	[SHIFT_STEP_SHARE] = { "step", "percent", CELL_PERCENT },
};

static struct cell shift_cell(enum shift_what what, double value)
{
	enum cell_kind kind = shift_words[what].kind;

	if (kind == CELL_DURATION || kind == CELL_BYTES)
		return (struct cell){ kind, .n = (uint64_t)(value + 0.5) };
	return (struct cell){ kind, .real = value };
}

static const char *shift_name(const struct shift *shift, char *buf, size_t size)
{
	char part[16];

	if (shift->what == SHIFT_STEP_SHARE)
		snprintf(buf, size, "step %s",
			 step__name(sample__step_from(shift->key), sample__step_to(shift->key),
				    part));
	else if (shift->what == SHIFT_SIZE_SHARE)
		snprintf(buf, size, "size %s",
			 shift->key ? text__bytes(part, sizeof(part), 1ULL << (shift->key - 1))
				    : "none");
	else
		snprintf(buf, size, "%s", shift_words[shift->what].what);
	return buf;
}

const char *diff_view__verdict(const struct shift *shift)
{
	bool is_time = shift->what <= SHIFT_MEAN;

	switch (shift->verdict) {
	case SHIFT_MORE: return is_time ? "slower" : "more";
	case SHIFT_LESS: return is_time ? "faster" : "less";
	case SHIFT_TOO_FEW: return "too few";
	case SHIFT_UNKNOWN: return "unknown";
	default: return "noise";
	}
}

enum { ROW_NUMBER = 24 };

/* "+20.0%", "-3.1pt"; a shift of zero has no sign. */
static const char *row_number(double value, bool is_points, char buf[ROW_NUMBER])
{
	const char *unit = is_points ? "pt" : "%";

	if (fabs(value) < 0.05)
		snprintf(buf, ROW_NUMBER, "0.0%s", unit);
	else
		snprintf(buf, ROW_NUMBER,
			 fabs(value) < 1000  ? "%+.1f%s"
			 : fabs(value) < 1e6 ? "%+.0f%s"
					     : "%+.0e%s",
			 value, unit);
	return buf;
}

static const char *row_words(double value, bool is_points, char *buf, size_t size)
{
	char number[ROW_NUMBER];

	if (isnan(value))
		return "       -";
	snprintf(buf, size, "%8s", row_number(value, is_points, number));
	return buf;
}

const char *diff_view__percent(double value, char *buf, size_t size)
{
	return row_words(value, false, buf, size);
}

static void row_fill(struct diff_row *row, const struct shift *shift)
{
	bool is_points = shift__is_points(shift->what);

	row->what = shift_name(shift, row->what_text, sizeof(row->what_text));
	row->unit = shift_words[shift->what].unit;
	row->a = shift_cell(shift->what, shift->a);
	row->b = shift_cell(shift->what, shift->b);
	row->shift = shift->shift;
	row->low = shift->low;
	row->high = shift->high;
	row->shift_unit = is_points ? "points" : "percent";
	row->blocks = shift->is_judged && shift->nr_blocks ? shift->nr_blocks : CELL_NO_NUMBER;
	row->verdict = diff_view__verdict(shift);
	row->shift_words = row_words(row->shift, is_points, row->words[0], sizeof(row->words[0]));
	row->low_words = row_words(row->low, is_points, row->words[1], sizeof(row->words[1]));
	row->high_words = row_words(row->high, is_points, row->words[2], sizeof(row->words[2]));
}

/* ---- one device and operation ---- */

static uint64_t group_count(const struct diff_group *group)
{
	return group ? (uint64_t)sample__total(&group->sample, SAMPLE_COUNT) : 0;
}

static void row_begin(struct diff_row *row, const struct diff_pair *p, enum table_format format)
{
	*row = (struct diff_row){
		.dev = p->dev_a || format != TABLE_TEXT ? p->dev_a : p->dev_b,
		.dev_b = p->dev_b,
		.matched = pair__words(p->by),
		.op = p->op,
		.what = "count",
		.unit = "commands",
		.a = { CELL_COUNT, .n = group_count(p->a) },
		.b = { CELL_COUNT, .n = group_count(p->b) },
		.shift = NAN,
		.low = NAN,
		.high = NAN,
		.blocks = CELL_NO_NUMBER,
		.shift_words = "       -",
		.low_words = "       -",
		.high_words = "       -",
		.verdict = !p->b   ? "only A"
			   : !p->a ? "only B"
				   : NULL,
	};
}

static size_t view_show_pair(const struct diff *d, const struct diff_pair *p, struct table *table,
			     const struct diff_show *show, uint32_t *stages)
{
	const bool is_brief = show->format == TABLE_TEXT && !show->all;
	struct diff_row row;
	size_t hidden = 0;

	row_begin(&row, p, show->format);
	if (!is_brief || row.verdict || !p->nr)
		table__row(table, &row);
	for (size_t i = p->first; i < p->first + p->nr; i++) {
		const struct shift *shift = &d->list.shifts[i];

		/* In text, unchanged parts of the mix are not shown. */
		if (is_brief && shift->what >= SHIFT_SIZE_SHARE && shift->verdict == SHIFT_NOISE) {
			hidden++;
			continue;
		}
		if (shift->what == SHIFT_STEP_SHARE)
			*stages |= stage__bits(sample__step_from(shift->key),
					       sample__step_to(shift->key));
		row_fill(&row, shift);
		table__row(table, &row);
	}
	return hidden;
}

static void view_show_files(const struct diff *d, FILE *out)
{
	for (int i = 0; i < 2; i++) {
		const struct diff_side *side = &d->sides[i];
		uint64_t count = 0;

		for (size_t group = 0; group < side->nr_groups; group++)
			count += group_count(side->groups[group]);
		fprintf(out, "%c  ", 'A' + i);
		text__put_terminal(out, side->path);
		fprintf(out, ": %llu commands in %.3f s\n", (unsigned long long)count,
			side->seconds);
	}
	fputc('\n', out);
}

int diff_view__show(const struct diff *d, const struct diff_show *show)
{
	const bool is_text = show->format == TABLE_TEXT;
	const struct object texts = { "shift", { text_columns } };
	struct table *table =
		table__of(show->out, show->format, is_text ? &texts : &diff_object, NULL, NULL);
	char legend[STAGE_LEGEND];
	uint32_t stages = 0;
	size_t hidden = 0;

	if (!table)
		return log_no_memory();
	if (is_text)
		view_show_files(d, show->out);
	for (size_t i = 0; i < d->nr_pairs; i++)
		hidden += view_show_pair(d, &d->pairs[i], table, show, &stages);
	table__free(table);
	if (stages && is_text)
		log_note("steps: %s", stage__legend(stages, legend));
	if (hidden)
		log_note("%zu shares of sizes and steps are noise; --all shows them", hidden);
	return 0;
}

/* ---- --fail-if ---- */

struct asked_row {
	const char *dev, *op;
	double shifts[SHIFT_ERRORS + 1]; /* noise is 0; NaN: it cannot be judged */
};

#define SHIFTED(what) offsetof(struct asked_row, shifts) + (what) * sizeof(double)

static const struct column asked_columns[] = {
	{ "dev", "dev", CELL_TEXT, 0, "", .at = offsetof(struct asked_row, dev) },
	{ "op", "op", CELL_TEXT, 0, "", .at = offsetof(struct asked_row, op) },
	{ "p50", "p50", CELL_PERCENT, 0, "", .at = SHIFTED(SHIFT_P50) },
	{ "p90", "p90", CELL_PERCENT, 0, "", .at = SHIFTED(SHIFT_P90) },
	{ "p99", "p99", CELL_PERCENT, 0, "", .at = SHIFTED(SHIFT_P99) },
	{ "p99_9", "p99.9", CELL_PERCENT, 0, "", .at = SHIFTED(SHIFT_P999) },
	{ "mean", "mean", CELL_PERCENT, 0, "", .at = SHIFTED(SHIFT_MEAN) },
	{ "iops", "iops", CELL_PERCENT, 0, "", .at = SHIFTED(SHIFT_RATE) },
	{ "size", "size", CELL_PERCENT, 0, "", .at = SHIFTED(SHIFT_SIZE) },
	{ "errors", "errors", CELL_PERCENT, 0, "", .at = SHIFTED(SHIFT_ERRORS) },
};

enum { NR_ASKED = sizeof(asked_columns) / sizeof(asked_columns[0]) };
static const struct column *const asked_list[NR_ASKED] = {
	&asked_columns[0], &asked_columns[1], &asked_columns[2], &asked_columns[3],
	&asked_columns[4], &asked_columns[5], &asked_columns[6], &asked_columns[7],
	&asked_columns[8], &asked_columns[9],
};

int diff_view__parse(const char *text, struct condition **condition)
{
	return condition__parse("--fail-if", text, asked_list, NR_ASKED, condition);
}

static void asked_fill(struct asked_row *row, const struct diff *d, const struct diff_pair *p)
{
	*row = (struct asked_row){ .dev = p->dev_a, .op = p->op };
	for (int i = 0; i <= SHIFT_ERRORS; i++)
		row->shifts[i] = NAN;
	for (size_t i = p->first; i < p->first + p->nr; i++) {
		const struct shift *shift = &d->list.shifts[i];

		if (shift->what > SHIFT_ERRORS)
			continue;
		if (shift->verdict == SHIFT_MORE || shift->verdict == SHIFT_LESS)
			row->shifts[shift->what] = shift->shift;
		else if (shift->verdict == SHIFT_NOISE)
			row->shifts[shift->what] = 0;
	}
}

bool diff_view__came_true(const struct diff *d, const char *text, const struct condition *condition)
{
	struct asked_row row;

	for (size_t i = 0; condition && i < d->nr_pairs; i++) {
		if (!d->pairs[i].nr)
			continue;
		asked_fill(&row, d, &d->pairs[i]);
		if (!condition__is_true(condition, &row))
			continue;
		log_warn("--fail-if '%s' is true: %s %s", text, row.dev, row.op);
		return true;
	}
	return false;
}

/* ---- can --fail-if be decided? ---- */

enum { NR_ASKED_SHIFTS = SHIFT_ERRORS + 1, NR_ASKED_CASES = 1 << NR_ASKED_SHIFTS };

/* The bounds of each shift of a pair; NULL: it is settled, and both bounds are equal. */
struct asked_bounds {
	double low[NR_ASKED_SHIFTS], high[NR_ASKED_SHIFTS];
	const struct shift *open[NR_ASKED_SHIFTS];
};

/* Larger than any shift, but finite: a value that is not finite counts as absent. */
static const double asked_any = 1e12;

static void asked_bound(struct asked_bounds *bounds, const struct asked_row *row,
			const struct diff *d, const struct diff_pair *p)
{
	*bounds = (struct asked_bounds){ 0 };
	for (int i = 0; i < NR_ASKED_SHIFTS; i++)
		bounds->low[i] = bounds->high[i] = row->shifts[i];
	for (size_t i = p->first; i < p->first + p->nr; i++) {
		const struct shift *shift = &d->list.shifts[i];
		bool is_noise = shift->verdict == SHIFT_NOISE && shift->is_judged;

		if (shift->what > SHIFT_ERRORS || (!is_noise && shift->verdict != SHIFT_TOO_FEW &&
						   shift->verdict != SHIFT_UNKNOWN))
			continue;
		bounds->open[shift->what] = shift;
		bounds->low[shift->what] = is_noise ? shift->low : -100;
		bounds->high[shift->what] = is_noise ? shift->high : asked_any;
	}
}

/* Every shift at its lower or upper bound, in all combinations: a bit each. */
static void asked_try(const struct condition *condition, struct asked_row *row,
		      const struct asked_bounds *bounds, bool truths[NR_ASKED_CASES])
{
	for (int bits = 0; bits < NR_ASKED_CASES; bits++) {
		for (int i = 0; i < NR_ASKED_SHIFTS; i++)
			row->shifts[i] = bits >> i & 1 ? bounds->high[i] : bounds->low[i];
		truths[bits] = condition__is_true(condition, row);
	}
}

static bool asked_decides(const bool truths[NR_ASKED_CASES], int nr)
{
	for (int bits = 0; bits < NR_ASKED_CASES; bits++)
		if (truths[bits] != truths[bits ^ 1 << nr])
			return true;
	return false;
}

/* "p99 is between -87.9% and +1096%", "p99.9 has too few I/Os" */
static void asked_say(struct words *w, const struct shift *shift)
{
	bool is_points = shift__is_points(shift->what);
	char number[ROW_NUMBER];

	words__str(w, asked_columns[2 + shift->what].header);
	if (shift->verdict == SHIFT_TOO_FEW) {
		words__str(w, " has too few I/Os");
		return;
	}
	if (shift->verdict == SHIFT_UNKNOWN) {
		words__str(w, " is a single number: its variation is unknown");
		return;
	}
	words__str(w, " is between ");
	words__str(w, row_number(shift->low, is_points, number));
	words__str(w, " and ");
	words__str(w, row_number(shift->high, is_points, number));
}

/* Which shifts could turn the answer; how many. */
static int asked_explain(struct words *w, const struct asked_bounds *bounds,
			 const bool truths[NR_ASKED_CASES])
{
	int nr = 0;

	for (int i = 0; i < NR_ASKED_SHIFTS; i++) {
		if (!bounds->open[i] || !asked_decides(truths, i))
			continue;
		words__str(w, nr++ ? ", " : "");
		asked_say(w, bounds->open[i]);
	}
	return nr;
}

bool diff_view__is_unsure(const struct diff *d, const char *text, const struct condition *condition)
{
	bool truths[NR_ASKED_CASES], unsure = false;
	struct asked_bounds bounds;
	struct asked_row row;
	char why[512];

	for (size_t i = 0; condition && i < d->nr_pairs; i++) {
		struct words w = words__on(why, sizeof(why));

		if (!d->pairs[i].nr)
			continue;
		asked_fill(&row, d, &d->pairs[i]);
		asked_bound(&bounds, &row, d, &d->pairs[i]);
		asked_try(condition, &row, &bounds, truths);
		if (!asked_explain(&w, &bounds, truths))
			continue;
		log_warn("--fail-if '%s' cannot be decided: %s %s: %s", text, row.dev, row.op,
			 words__done(&w));
		unsure = true;
	}
	return unsure;
}
