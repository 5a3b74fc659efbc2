/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/shift.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/chance.h"
#include "base/compare.h"
#include "base/grow.h"

enum {
	SHIFT_DRAWS = 1000,
	SHIFT_BEYOND = 10,    /* I/Os required beyond a percentile */
	SHIFT_LEAST = 20,     /* I/Os required otherwise */
	SHIFT_LEAST_TIMES = 8 /* slices with I/Os required for a rate */
};
static const double shift_doubt = 0.05; /* chance that any interval is wrong */
static const double shift_parts[] = { 0.5, 0.9, 0.99, 0.999 };

/* A run, and room for its resamples. */
struct shift_side {
	const struct sample *sample;
	double *lats, *sizes, *steps; /* sums of the current resample */
	double totals[NR_SAMPLE_TOTALS];
	double rate;
	double *values; /* one for each shift */
};

bool shift__is_points(enum shift_what what)
{
	return what == SHIFT_ERRORS || what == SHIFT_SIZE_SHARE || what == SHIFT_STEP_SHARE;
}

static bool shift_is_percentile(enum shift_what what)
{
	return what <= SHIFT_P999;
}

/* ---- measures of a resample ---- */

static double sums_all(const double *sums, uint32_t nr)
{
	double all = 0;

	for (uint32_t i = 0; i < nr; i++)
		all += sums[i];
	return all;
}

/* The row of the bucket, and the count before it. */
static uint32_t percentile_row(const struct sample *s, const double *sums, double part,
			       double *rank)
{
	uint32_t row = 0;

	*rank = part * sums_all(sums, s->lats.nr);
	while (row + 1 < s->lats.nr && *rank > sums[row])
		*rank -= sums[row++];
	return row;
}

static double bucket_width(const struct sample *s, uint32_t row)
{
	uint32_t slot = s->lats.keys[row];

	if (slot + 1 == sample__slots(s->bits)) /* open-ended */
		return 0;
	return sample__slot_from(slot + 1, s->bits) - sample__slot_from(slot, s->bits);
}

/* Interpolates in the bucket by rank. */
double sample__percentile(const struct sample *s, const double *sums, double part)
{
	double rank, inside;
	uint32_t row;

	if (!s->lats.nr)
		return 0;
	row = percentile_row(s, sums, part, &rank);
	inside = sums[row] > 0 && rank < sums[row] ? rank / sums[row] : 1;
	return sample__slot_from(s->lats.keys[row], s->bits) + inside * bucket_width(s, row);
}

/* From buckets alone, where a resample has no exact sum. */
static double loose_mean(const struct sample *s, const double *sums)
{
	double all = sums_all(sums, s->lats.nr), ns = 0;

	for (uint32_t row = 0; row < s->lats.nr; row++)
		ns += sums[row] *
		      (sample__slot_from(s->lats.keys[row], s->bits) + bucket_width(s, row) / 2);
	return all > 0 ? ns / all : 0;
}

static double side_share(const struct profile *p, const double *sums, uint32_t key, double all)
{
	int row = profile__row(p, key);

	return row >= 0 && all > 0 ? 100 * sums[row] / all : 0;
}

static double side_ratio(double part, double all)
{
	return all > 0 ? part / all : 0;
}

static double side_value(const struct shift_side *side, const struct shift *shift)
{
	const struct sample *s = side->sample;
	const double *totals = side->totals;

	switch (shift->what) {
	case SHIFT_MEAN:
		return s->is_loose ? loose_mean(s, side->lats)
				   : side_ratio(totals[SAMPLE_NS], totals[SAMPLE_COUNT]);
	case SHIFT_RATE: return side->rate;
	case SHIFT_SIZE: return side_ratio(totals[SAMPLE_BYTES], totals[SAMPLE_COUNT]);
	case SHIFT_ERRORS: return 100 * side_ratio(totals[SAMPLE_FAILED], totals[SAMPLE_COUNT]);
	case SHIFT_SIZE_SHARE:
		return side_share(&s->sizes, side->sizes, shift->key, totals[SAMPLE_COUNT]);
	case SHIFT_STEP_SHARE:
		return side_share(&s->steps, side->steps, shift->key,
				  sums_all(side->steps, s->steps.nr));
	default: return sample__percentile(s, side->lats, shift_parts[shift->what]);
	}
}

static void side_measure(struct shift_side *side, const struct shift *shifts, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		side->values[i] = side_value(side, &shifts[i]);
}

/* ---- draws ---- */

static double weighed(const double *blocks, const double *weights, uint32_t nr)
{
	double sum = 0;

	for (uint32_t i = 0; i < nr; i++)
		sum += weights[i] * blocks[i];
	return sum;
}

static void side_weigh(struct shift_side *side, const double *weights)
{
	const struct sample *s = side->sample;

	profile__weigh(&s->lats, weights, side->lats);
	profile__weigh(&s->sizes, weights, side->sizes);
	profile__weigh(&s->steps, weights, side->steps);
	for (int i = 0; i < NR_SAMPLE_TOTALS; i++)
		side->totals[i] = weighed(s->totals[i], weights, s->nr_blocks);
}

static void side_weigh_time(struct shift_side *side, const double *weights)
{
	const struct sample *s = side->sample;

	side->rate = s->nr_slices ? weighed(s->slices, weights, s->nr_slices) / s->nr_slices /
					    ((double)s->slice_ns / 1e9)
				  : 0;
}

/* The run itself: every block once. */
static void side_take(struct shift_side *side)
{
	double once[PROFILE_BLOCKS];

	for (int i = 0; i < PROFILE_BLOCKS; i++)
		once[i] = 1;
	side_weigh(side, once);
	side_weigh_time(side, once);
}

/* Draws nr out of nr with replacement, all equally likely. */
static void draw_weights(struct chance *chance, uint32_t nr, double weights[PROFILE_BLOCKS])
{
	memset(weights, 0, PROFILE_BLOCKS * sizeof(*weights));
	for (uint32_t i = 0; i < nr; i++)
		weights[chance__below(chance, nr)]++;
}

static void side_draw(struct shift_side *side, struct chance *chance)
{
	const struct profile *lats = &side->sample->lats;
	double weights[PROFILE_BLOCKS];

	if (side->sample->is_loose) {
		/* Without blocks each I/O is taken to be independent, which they seldom are. */
		profile__sum(lats, side->lats);
		for (uint32_t row = 0; row < lats->nr; row++)
			side->lats[row] = chance__poisson(chance, side->lats[row]);
	} else {
		draw_weights(chance, side->sample->nr_blocks, weights);
		side_weigh(side, weights);
	}
	draw_weights(chance, side->sample->nr_slices, weights);
	side_weigh_time(side, weights);
}

static int side_init(struct shift_side *side, const struct sample *sample, size_t nr)
{
	*side = (struct shift_side){ .sample = sample };
	side->lats = calloc(sample->lats.nr + 1, sizeof(double));
	side->sizes = calloc(sample->sizes.nr + 1, sizeof(double));
	side->steps = calloc(sample->steps.nr + 1, sizeof(double));
	side->values = calloc(nr + 1, sizeof(double));
	return side->lats && side->sizes && side->steps && side->values ? 0 : -ENOMEM;
}

static void side_free(struct shift_side *side)
{
	free(side->lats);
	free(side->sizes);
	free(side->steps);
	free(side->values);
}

/* ---- which measures ---- */

static int list_add(struct shift_list *list, enum shift_what what, uint32_t key)
{
	if (GROW(list->shifts, list->room, list->nr + 1))
		return -ENOMEM;
	list->shifts[list->nr++] = (struct shift){ .what = what, .key = key };
	return 0;
}

/* Every kind that either sample has, in order. */
static int list_add_shares(struct shift_list *list, enum shift_what what, const struct profile *a,
			   const struct profile *b)
{
	int err = 0;

	for (uint32_t key = 0; !err && key < a->nr_keys; key++)
		if (profile__row(a, key) >= 0 || profile__row(b, key) >= 0)
			err = list_add(list, what, key);
	return err;
}

static int list_add_all(struct shift_list *list, const struct sample *a, const struct sample *b)
{
	bool has_bytes = sample__total(a, SAMPLE_BYTES) > 0 || sample__total(b, SAMPLE_BYTES) > 0;
	int err = 0;

	for (int what = SHIFT_P50; !err && what <= SHIFT_RATE; what++)
		err = list_add(list, (enum shift_what)what, 0);
	if (!err && has_bytes)
		err = list_add(list, SHIFT_SIZE, 0);
	if (!err && a->has_failed && b->has_failed)
		err = list_add(list, SHIFT_ERRORS, 0);
	if (!err && has_bytes && a->has_sizes && b->has_sizes)
		err = list_add_shares(list, SHIFT_SIZE_SHARE, &a->sizes, &b->sizes);
	if (!err && a->steps.nr && b->steps.nr)
		err = list_add_shares(list, SHIFT_STEP_SHARE, &a->steps, &b->steps);
	return err;
}

static uint32_t busy_slices(const struct sample *s)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->nr_slices; i++)
		nr += s->slices[i] > 0;
	return nr;
}

static bool is_enough(enum shift_what what, const struct sample *s)
{
	double count = sample__total(s, SAMPLE_COUNT);

	if (what == SHIFT_RATE)
		return busy_slices(s) >= SHIFT_LEAST_TIMES;
	if (shift_is_percentile(what)) /* 100 * (1 - 0.9) is a little below 10 */
		return count * (1 - shift_parts[what]) > SHIFT_BEYOND - 0.0005;
	return count >= SHIFT_LEAST;
}

/* The variation of data that was only summed up is unknown. */
static bool is_known(enum shift_what what, const struct sample *s)
{
	return !s->is_loose || what <= SHIFT_MEAN || (what == SHIFT_RATE && s->nr_slices);
}

static void shift_admit(struct shift *shift, const struct sample *a, const struct sample *b)
{
	uint32_t nr_a = a->is_loose ? 0 : a->nr_blocks, nr_b = b->is_loose ? 0 : b->nr_blocks;

	if (shift->what == SHIFT_RATE) {
		nr_a = a->nr_slices;
		nr_b = b->nr_slices;
	}
	shift->nr_blocks = !nr_a || (nr_b && nr_b < nr_a) ? nr_b : nr_a;
	if (!is_known(shift->what, a) || !is_known(shift->what, b))
		shift->verdict = SHIFT_UNKNOWN;
	else if (!is_enough(shift->what, a) || !is_enough(shift->what, b))
		shift->verdict = SHIFT_TOO_FEW;
	else
		shift->is_judged = true;
}

/* ---- two runs ---- */

static double change_of(enum shift_what what, double a, double b)
{
	const double least = 1e-9; /* a resample may be empty: far off, but finite */

	if (shift__is_points(what))
		return b - a;
	return log((b > least ? b : least) / (a > least ? a : least));
}

/*
 * Half the width of the bucket, relative to its latency. Exact values get no finer limit: where all
 * I/Os take the same time, a run in which they take 1/1,000 longer still counts as equal.
 */
static double side_blur(const struct shift_side *side, const struct shift *shift, double value)
{
	const double least = 0.5 / (1 << SAMPLE_FINE);
	const struct sample *s = side->sample;
	double rank, half;

	if (shift__is_points(shift->what))
		return 0;
	if (!shift_is_percentile(shift->what) || !s->lats.nr || !(value > 0))
		return least;
	half = bucket_width(s, percentile_row(s, side->lats, shift_parts[shift->what], &rank)) /
	       value / 2;
	return half > least ? half : least;
}

/* Exact where the sample has it so: of all I/Os and the whole time. */
static double side_shown(const struct shift_side *side, const struct shift *shift, double value)
{
	const struct sample *s = side->sample;

	if (shift->what == SHIFT_RATE)
		return side_ratio(side->totals[SAMPLE_COUNT], s->seconds);
	if (shift->what == SHIFT_MEAN)
		return side_ratio(side->totals[SAMPLE_NS], side->totals[SAMPLE_COUNT]);
	return value;
}

static void shift_set(struct shift *shift, const struct shift_side *a, const struct shift_side *b,
		      size_t at)
{
	shift->a = side_shown(a, shift, a->values[at]);
	shift->b = side_shown(b, shift, b->values[at]);
	shift->blur = side_blur(a, shift, a->values[at]) + side_blur(b, shift, b->values[at]);
	shift->change = change_of(shift->what, shift->a, shift->b);
	if (shift__is_points(shift->what))
		shift->shift = shift->b - shift->a;
	else if (shift->a > 0)
		shift->shift = 100 * (shift->b / shift->a - 1);
	else
		shift->shift = shift->b > 0 ? NAN : 0;
	if (isnan(shift->shift))
		shift->is_judged = false;
	shift->low = shift->high = NAN;
}

static int compare_doubles(const void *a, const void *b)
{
	return COMPARE(*(const double *)a, *(const double *)b);
}

/* How far 95 of 100 resamples are from the run itself, down and up. */
static void shift_spread(struct shift *shift, double *draws, double as_it_was)
{
	const int tail = (int)(shift_doubt / 2 * SHIFT_DRAWS);

	qsort(draws, SHIFT_DRAWS, sizeof(*draws), compare_doubles);
	shift->down = fmax(as_it_was - draws[tail], 0);
	shift->up = fmax(draws[SHIFT_DRAWS - 1 - tail] - as_it_was, 0);
}

static void draw_all(struct shift_side *a, struct shift_side *b, const struct shift *shifts,
		     size_t nr, double *draws)
{
	struct chance chance = { 1 };

	for (size_t draw = 0; draw < SHIFT_DRAWS; draw++) {
		side_draw(a, &chance);
		side_draw(b, &chance);
		side_measure(a, shifts, nr);
		side_measure(b, shifts, nr);
		for (size_t i = 0; i < nr; i++)
			draws[i * SHIFT_DRAWS + draw] =
				change_of(shifts[i].what, a->values[i], b->values[i]);
	}
}

static int shifts_judge(struct shift *shifts, size_t nr, struct shift_side *a, struct shift_side *b)
{
	double *draws = calloc(nr * SHIFT_DRAWS + 1, sizeof(*draws));
	double *before = calloc(nr + 1, sizeof(*before));

	if (draws && before) {
		for (size_t i = 0; i < nr; i++)
			before[i] = change_of(shifts[i].what, a->values[i], b->values[i]);
		draw_all(a, b, shifts, nr, draws);
		for (size_t i = 0; i < nr; i++)
			shift_spread(&shifts[i], draws + i * SHIFT_DRAWS, before[i]);
	}
	free(draws);
	free(before);
	return draws && before ? 0 : -ENOMEM;
}

static int shifts_measure(struct shift *shifts, size_t nr, struct shift_side *a,
			  struct shift_side *b)
{
	bool any = false;

	side_take(a);
	side_take(b);
	side_measure(a, shifts, nr);
	side_measure(b, shifts, nr);
	for (size_t i = 0; i < nr; i++) {
		shift_admit(&shifts[i], a->sample, b->sample);
		shift_set(&shifts[i], a, b, i);
		any |= shifts[i].is_judged;
	}
	return any ? shifts_judge(shifts, nr, a, b) : 0;
}

int shift_list__compare(struct shift_list *list, const struct sample *a, const struct sample *b)
{
	struct shift_side side_a = { 0 }, side_b = { 0 };
	size_t first = list->nr;
	int err = list_add_all(list, a, b);

	err = err ?: side_init(&side_a, a, list->nr - first);
	err = err ?: side_init(&side_b, b, list->nr - first);
	err = err ?: shifts_measure(list->shifts + first, list->nr - first, &side_a, &side_b);
	side_free(&side_a);
	side_free(&side_b);
	return err;
}

/* ---- all measures ---- */

/*
 * Resamples vary a little less than real runs, the more so the fewer blocks there are, and of many
 * intervals one is wrong more often than of few: all are widened.
 */
static double shift_wider(const struct shift *shift, size_t nr_judged)
{
	double few =
		shift->nr_blocks > 1 ? sqrt((double)shift->nr_blocks / (shift->nr_blocks - 1)) : 1;

	return few * chance__reach(shift_doubt / (double)nr_judged, shift->nr_blocks) /
	       chance__reach(shift_doubt, 0);
}

static double shift_percent(enum shift_what what, double change)
{
	return shift__is_points(what) ? change : 100 * (exp(change) - 1);
}

static void shift_settle(struct shift *shift, size_t nr_judged)
{
	double wider, low, high;

	if (shift->shift == 0)
		shift->verdict = SHIFT_NOISE;
	if (!shift->is_judged)
		return;
	wider = shift_wider(shift, nr_judged);
	low = shift->change - wider * shift->down - shift->blur;
	high = shift->change + wider * shift->up + shift->blur;
	shift->low = shift_percent(shift->what, low);
	shift->high = shift_percent(shift->what, high);
	shift->verdict = low > 0 ? SHIFT_MORE : high < 0 ? SHIFT_LESS : SHIFT_NOISE;
}

/* A value that is equal in all resamples, such as a single size, cannot cause a false alarm. */
static bool shift_can_err(const struct shift *shift)
{
	return shift->is_judged && (shift->change != 0 || shift->down > 0 || shift->up > 0);
}

void shift_list__settle(struct shift_list *list)
{
	size_t nr_judged = 0;

	for (size_t i = 0; i < list->nr; i++)
		nr_judged += shift_can_err(&list->shifts[i]);
	for (size_t i = 0; i < list->nr; i++)
		shift_settle(&list->shifts[i], nr_judged ? nr_judged : 1);
}

void shift_list__free(struct shift_list *list)
{
	free(list->shifts);
	*list = (struct shift_list){ 0 };
}
