/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shift.c: is noise called noise, and is a shift found that is there? The truth is known: samples
 * are drawn here, of one distribution or of two, independent or like their neighbours.
 */
#include <math.h>
#include <stdlib.h>
#include "analyse/chance.h"
#include "analyse/shift.h"
#include "tap.h"

enum { SEEDS = 100, FEW_SEEDS = 10 };

/* How latencies are made. */
struct maker {
	double median_ns, deviation;
	double like_before; /* part of the last one's deviation that remains: neighbours are alike
			     */
	double slow_part;   /* of the I/Os, which take ten times as long */
	double factor;	    /* of all */
	uint64_t nr, every_ns; /* one ends after the other */
	uint64_t bytes, fails_every;
	unsigned int bits;
};

static const struct maker plain = { .median_ns = 80000,
				    .deviation = 0.3,
				    .factor = 1,
				    .nr = 20000,
				    .every_ns = 100000,
				    .bytes = 4096 };

static double make_ns(const struct maker *m, struct chance *chance, double *state)
{
	double fresh = sqrt(1 - m->like_before * m->like_before);

	*state = m->like_before * *state + fresh * chance__normal(chance);
	return m->factor * m->median_ns * exp(m->deviation * *state) *
	       (chance__part(chance) < m->slow_part ? 10 : 1);
}

static void make(struct sample *s, const struct maker *m, uint64_t seed)
{
	struct chance chance = { seed * 7919 };
	double state = chance__normal(&chance);
	int err = sample__init(s, m->bits ? m->bits : SAMPLE_FINE);

	for (uint64_t i = 0; i < m->nr && !err; i++)
		err = sample__add(s, &(struct sample_io){
					     .ns = (uint64_t)make_ns(m, &chance, &state),
					     .bytes = m->bytes,
					     .at_ns = i * m->every_ns,
					     .failed = m->fails_every && i % m->fails_every == 0,
				     });
	err = err ? err : sample__settle(s, (double)(m->nr * m->every_ns) / 1e9);
	if (err)
		ok(false, "memory");
}

static struct shift_list compare(const struct maker *a, const struct maker *b, uint64_t seed)
{
	struct shift_list list = { 0 };
	struct sample sample_a, sample_b;

	make(&sample_a, a, 2 * seed);
	make(&sample_b, b, 2 * seed + 1);
	if (shift_list__compare(&list, &sample_a, &sample_b))
		ok(false, "memory");
	shift_list__settle(&list);
	sample__free(&sample_a);
	sample__free(&sample_b);
	return list;
}

static const struct shift *find(const struct shift_list *list, enum shift_what what)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->shifts[i].what == what)
			return &list->shifts[i];
	return NULL;
}

static bool finds_nothing(const struct shift_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->shifts[i].verdict == SHIFT_MORE || list->shifts[i].verdict == SHIFT_LESS)
			return false;
	return true;
}

/* Seeds in which nothing is found between two samples of the same. */
static int quiet_seeds(const struct maker *m)
{
	int quiet = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct shift_list list = compare(m, m, seed);

		quiet += finds_nothing(&list);
		shift_list__free(&list);
	}
	return quiet;
}

static void check_noise(struct maker m, const char *what)
{
	int quiet = quiet_seeds(&m);

	ok(quiet >= 94, "two samples of the same are noise, %s: %d of %d", what, quiet, SEEDS);
}

static void check_same_is_noise(void)
{
	struct maker m = plain;

	m.nr = 23;
	check_noise(m, "23 I/Os");
	m.bits = SAMPLE_COARSE; /* eight times as fast */
	m.nr = 1000;
	check_noise(m, "1,000 I/Os");
	m.nr = 11000;
	check_noise(m, "11,000 I/Os");
	m.slow_part = 0.02;
	check_noise(m, "two humps");
	m.slow_part = 0;
	m.like_before = 0.98;
	check_noise(m, "each like the one before");
}

/* Each I/O for itself, what is drawn is independent, and neighbours are not: false alarms. */
static void check_blocks_matter(void)
{
	struct maker m = plain;
	int quiet = 0;

	m.like_before = 0.98;
	for (uint64_t seed = 1; seed <= FEW_SEEDS; seed++) {
		struct shift_list list = { 0 };
		struct sample a, b;

		make(&a, &m, 2 * seed);
		make(&b, &m, 2 * seed + 1);
		a.is_loose = b.is_loose = true;
		shift_list__compare(&list, &a, &b);
		shift_list__settle(&list);
		quiet += finds_nothing(&list);
		shift_list__free(&list);
		sample__free(&a);
		sample__free(&b);
	}
	ok(quiet < FEW_SEEDS / 2,
	   "without blocks they would be called shifts: noise in %d of %d only", quiet, FEW_SEEDS);
}

static void check_itself(void)
{
	struct shift_list list = { 0 };
	struct sample s;
	bool exact = true;

	make(&s, &plain, 1);
	shift_list__compare(&list, &s, &s);
	shift_list__settle(&list);
	for (size_t i = 0; i < list.nr; i++)
		exact &= list.shifts[i].shift == 0 && list.shifts[i].verdict == SHIFT_NOISE &&
			 list.shifts[i].a == list.shifts[i].b;
	ok(exact && list.nr >= 8, "a run is itself: every shift is 0, and noise");
	shift_list__free(&list);
	sample__free(&s);
}

static bool is_slower(const struct shift_list *list, enum shift_what what, double from, double to)
{
	const struct shift *s = find(list, what);

	if (s && s->verdict == SHIFT_MORE && s->shift >= from && s->shift <= to && s->low <= 20 &&
	    s->high >= 20)
		return true;
	printf("# %d: %.2f %% [%.2f %.2f] verdict %d\n", what, s ? s->shift : 0, s ? s->low : 0,
	       s ? s->high : 0, s ? s->verdict : 0);
	return false;
}

static void check_slower(void)
{
	struct maker slower = plain;
	int found = 0;

	slower.factor = 1.2;
	for (uint64_t seed = 1; seed <= FEW_SEEDS; seed++) {
		struct shift_list list = compare(&plain, &slower, seed);

		found += is_slower(&list, SHIFT_P50, 18, 22) &&
			 is_slower(&list, SHIFT_P90, 18, 22) &&
			 is_slower(&list, SHIFT_MEAN, 18, 22) &&
			 find(&list, SHIFT_RATE)->verdict == SHIFT_NOISE;
		shift_list__free(&list);
	}
	ok(found == FEW_SEEDS, "20 %% slower is 20 +- 2 %%, and its interval holds it: %d of %d",
	   found, FEW_SEEDS);
}

/* As null_blk under icount: all of them take the same time. */
static void check_constant(void)
{
	static const double medians_ns[] = { 100123, 131072, 262143, 1003210, 5001000 };
	struct maker a = plain, b = plain;

	a.nr = b.nr = 2003;
	a.deviation = b.deviation = 0.0005;
	b.factor = 1.2;
	for (size_t i = 0; i < sizeof(medians_ns) / sizeof(*medians_ns); i++) {
		struct shift_list list;

		a.median_ns = b.median_ns = medians_ns[i];
		list = compare(&a, &b, 1);
		ok(is_slower(&list, SHIFT_P50, 19.2, 20.8) &&
			   is_slower(&list, SHIFT_P90, 19.2, 20.8) &&
			   is_slower(&list, SHIFT_P99, 19.2, 20.8) &&
			   is_slower(&list, SHIFT_MEAN, 19.8, 20.2),
		   "all take %.0f ns, then 20 %% more: found to 0.8 %%", medians_ns[i]);
		shift_list__free(&list);
	}
}

/* And then 0.2 % longer: chance gives no such thing, but nobody would call it a change. */
static void check_hair(void)
{
	struct maker a = plain, b = plain;
	struct shift_list list;

	a.nr = b.nr = 2003;
	a.deviation = b.deviation = 0.0002;
	b.factor = 1.002;
	list = compare(&a, &b, 1);
	ok(finds_nothing(&list), "less than the width of a bucket is noise, however sure");
	shift_list__free(&list);
}

/* One in fifty takes ten times as long: p50 is the same, p99 is not. */
static void check_tail(void)
{
	struct maker tail = plain;
	struct shift_list list;

	tail.slow_part = 0.02;
	list = compare(&plain, &tail, 3);
	ok(find(&list, SHIFT_P50)->verdict == SHIFT_NOISE, "a longer tail: p50 is noise");
	ok(find(&list, SHIFT_P99)->verdict == SHIFT_MORE && find(&list, SHIFT_P99)->shift > 200,
	   "and p99 is far more");
	shift_list__free(&list);
	list = compare(&tail, &plain, 3);
	ok(find(&list, SHIFT_P99)->verdict == SHIFT_LESS, "the other way round it is less");
	shift_list__free(&list);
}

static void check_few(void)
{
	struct maker few = plain;
	struct shift_list list;

	few.nr = 999;
	list = compare(&few, &plain, 1);
	ok(find(&list, SHIFT_P99)->verdict == SHIFT_TOO_FEW, "999 I/Os have no p99 to judge");
	ok(find(&list, SHIFT_P90)->verdict == SHIFT_NOISE, "but a p90");
	ok(isnan(find(&list, SHIFT_P99)->low), "and no interval is made up");
	shift_list__free(&list);
	few.nr = 1000;
	list = compare(&few, &plain, 1);
	ok(find(&list, SHIFT_P99)->verdict == SHIFT_NOISE, "1,000 have one: ten are beyond it");
	shift_list__free(&list);
}

static void check_others(void)
{
	struct maker other = plain;
	struct shift_list list;
	const struct shift *s;
	bool four = false, eight = false;

	other.bytes = 8192;
	other.every_ns = 125000;
	other.fails_every = 50;
	list = compare(&plain, &other, 1);
	s = find(&list, SHIFT_SIZE);
	ok(s->verdict == SHIFT_MORE && s->shift == 100, "twice the size is 100 %% more");
	s = find(&list, SHIFT_RATE);
	ok(s->verdict == SHIFT_LESS && fabs(s->shift + 20) < 0.1,
	   "8,000 of 10,000 a second: -20 %%");
	s = find(&list, SHIFT_ERRORS);
	ok(s->verdict == SHIFT_MORE && s->a == 0 && fabs(s->shift - 2) < 1e-9,
	   "2 points of errors");
	for (size_t i = 0; i < list.nr; i++) {
		s = &list.shifts[i];
		four |= s->what == SHIFT_SIZE_SHARE && s->key == 13 && s->shift == -100;
		eight |= s->what == SHIFT_SIZE_SHARE && s->key == 14 && s->shift == 100;
	}
	ok(four && eight, "the mix of sizes: 4Ki went, 8Ki came");
	shift_list__free(&list);
}

/* Q2D took 10 of 100 us, then 30 of 120. */
static void check_steps(void)
{
	struct shift_list list = { 0 };
	struct sample samples[2];

	for (int run = 0; run < 2; run++) {
		sample__init(&samples[run], SAMPLE_FINE);
		for (uint64_t i = 0; i < 500; i++) {
			uint64_t wait_ns = (run ? 30000 : 10000) + i % 7;
			const struct moment way[] = { { STAGE_QUEUED, 1000 },
						      { STAGE_ISSUED, 1000 + wait_ns },
						      { STAGE_DONE, 91000 + wait_ns } };

			sample__add(&samples[run], &(struct sample_io){ .ns = 90000,
									.bytes = 4096,
									.at_ns = i * 200000,
									.nr_moments = 3,
									.moments = way });
		}
		sample__settle(&samples[run], 0.1);
	}
	shift_list__compare(&list, &samples[0], &samples[1]);
	shift_list__settle(&list);
	for (size_t i = 0; i < list.nr; i++) {
		const struct shift *s = &list.shifts[i];

		if (s->what == SHIFT_STEP_SHARE &&
		    s->key == sample__step(STAGE_QUEUED, STAGE_ISSUED))
			ok(s->verdict == SHIFT_MORE && fabs(s->a - 10) < 0.1 &&
				   fabs(s->b - 25) < 0.1,
			   "a step's share of the time went from 10 to 25 %%");
	}
	ok(find(&list, SHIFT_P50)->verdict == SHIFT_NOISE, "and the device took as long as before");
	shift_list__free(&list);
	sample__free(&samples[0]);
	sample__free(&samples[1]);
}

/* The second instrument is the sorted list. */
static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void check_percentiles(void)
{
	static const double parts[] = { 0.5, 0.9, 0.99, 0.999 };
	enum { NR = 100000 };
	uint64_t *values = calloc(NR, sizeof(*values));
	struct chance chance = { 5 };
	struct sample s;
	double *sums, state = 0;
	bool near = true;

	sample__init(&s, SAMPLE_FINE);
	for (size_t i = 0; i < NR; i++) {
		values[i] = (uint64_t)make_ns(&plain, &chance, &state);
		sample__add(&s, &(struct sample_io){ .ns = values[i], .at_ns = i });
	}
	sample__settle(&s, 1);
	sums = calloc(s.lats.nr, sizeof(*sums));
	profile__sum(&s.lats, sums);
	qsort(values, NR, sizeof(*values), compare_u64);
	for (size_t i = 0; i < 4; i++) {
		double want = (double)values[(size_t)(parts[i] * NR) - 1];
		double got = sample__percentile(&s, sums, parts[i]);

		near &= fabs(got - want) <= 0.004 * want;
	}
	ok(near, "percentiles are those of the sorted list, to 0.4 %%");
	ok(s.nr_blocks > PROFILE_BLOCKS / 2 && s.nr_blocks <= PROFILE_BLOCKS &&
		   sample__total(&s, SAMPLE_COUNT) == NR,
	   "100,000 I/Os are in %u blocks, and none is lost", s.nr_blocks);
	free(sums);
	free(values);
	sample__free(&s);
}

/* Buckets begin where their slot says, and meet. */
static void check_slots(void)
{
	static const unsigned int bits[] = { SAMPLE_FINE, SAMPLE_COARSE };
	bool good = true;

	for (int i = 0; i < 2; i++)
		for (uint32_t slot = 0; slot + 1 < sample__slots(bits[i]); slot++) {
			uint64_t from = (uint64_t)sample__slot_from(slot, bits[i]);
			uint64_t next = (uint64_t)sample__slot_from(slot + 1, bits[i]);

			good &= sample__slot(from, bits[i]) == slot &&
				sample__slot(next - 1, bits[i]) == slot;
			good &= bits[i] != SAMPLE_COARSE || hist_slot(from) == slot;
		}
	good &= sample__slot(UINT64_MAX, SAMPLE_FINE) == sample__slots(SAMPLE_FINE) - 1;
	ok(good, "every latency is in the bucket that begins at or below it");
}

static void check_reach(void)
{
	/* Student's t, two-sided 5 % and 0.1 %, from tables. */
	ok(fabs(chance__reach(0.05, 0) - 1.95996) < 0.0001, "1.96 deviations");
	ok(fabs(chance__reach(0.05, 21) - 2.086) < 0.002, "2.086 of 21 values");
	ok(fabs(chance__reach(0.001, 21) - 3.850) < 0.01, "3.850 of them, in 999 of 1,000");
	ok(fabs(chance__reach(0.001, 9) - 5.041) < 0.1, "5.04 of nine");
}

int main(void)
{
	check_slots();
	check_reach();
	check_percentiles();
	check_itself();
	check_same_is_noise();
	check_blocks_matter();
	check_slower();
	check_constant();
	check_hair();
	check_tail();
	check_few();
	check_others();
	check_steps();
	return done_testing();
}
