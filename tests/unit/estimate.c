/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * estimate.c: if only some commands are timed, are all counted, does each span weigh its share, and
 * do the intervals of percentiles cover what all commands show? The second instrument is a
 * histogram of all latencies, timed or not. Commands are chosen as the programs choose them.
 */
#include <math.h>
#include <string.h>
#include "analyse/estimate.h"
#include "draw.h"
#include "tap.h"
#include "wire/io_tables.h"

enum { RUNS = 200, NR_PERCENTILES = 4 };
static const uint32_t percentiles[NR_PERCENTILES] = { 5000, 9000, 9900, 9990 };

/* What the programs count, and what they would have counted. */
struct run {
	struct hist counted, full;
	struct estimate estimate;
	uint64_t clock_ns;
};
static struct run run;

static uint64_t sum_of(const struct hist *h)
{
	uint64_t sum = 0;

	for (int i = 0; i < HIST_CELLS; i++)
		sum += h->slots[i];
	return sum;
}

static void command(uint32_t shift, uint64_t ns)
{
	uint32_t request = 0x1000u + 384 * (uint32_t)draw(64);

	run.clock_ns += 40 * (1 + draw(500)); /* a clock of 25 MHz */
	hist__add(&run.full, ns, 4096);
	if (io_sample_takes(run.clock_ns, request, io_sample_limit(shift))) {
		hist__add(&run.counted, ns, 4096);
		return;
	}
	run.counted.count++;
	run.counted.untimed++;
	run.counted.bytes += 4096;
}

/* Most are near 100 us; one in fifty takes longer, up to a hundred times. */
static uint64_t some_latency(void)
{
	uint64_t ns = 60000 + draw(50000) + draw(50000);

	return draw(50) ? ns : ns * (1 + draw(100));
}

static void begin(void)
{
	uint64_t clock_ns = run.clock_ns;

	memset(&run, 0, sizeof(run));
	run.clock_ns = clock_ns + 1000000000;
}

static void test_counts(void)
{
	begin();
	for (int i = 0; i < 100; i++)
		command(0, some_latency());
	ok(estimate__fold(&run.estimate, &run.counted), "a span ends");
	ok(!memcmp(run.estimate.all.slots, run.full.slots, sizeof(run.full.slots)) &&
		   run.estimate.all.sum_ns == run.full.sum_ns && !run.estimate.all.doubt &&
		   !run.estimate.all.untimed,
	   "all timed: exactly what was counted");
	for (uint32_t shift = 1; shift <= IO_MAX_SAMPLE_SHIFT; shift++) {
		for (int i = 0; i < 5000; i++)
			command(shift, some_latency());
		estimate__fold(&run.estimate, &run.counted);
		ok(run.estimate.all.count == run.full.count &&
			   sum_of(&run.estimate.all) == run.full.count &&
			   run.estimate.all.bytes == run.full.bytes,
		   "1 of %u timed: %llu commands, as many in buckets, and all bytes", 1u << shift,
		   (unsigned long long)run.full.count);
	}
	ok(run.estimate.all.untimed > 0 && run.estimate.all.untimed == run.counted.untimed,
	   "and says how many were not timed");
	for (int i = 0; i < 3; i++)
		run.counted.count++, run.counted.untimed++, run.full.count++;
	estimate__fold(&run.estimate, &run.counted);
	ok(sum_of(&run.estimate.all) == run.full.count,
	   "a span in which none was timed is counted");
	begin();
	run.counted.count = run.counted.untimed = 5;
	ok(!estimate__fold(&run.estimate, &run.counted) && !run.estimate.all.count,
	   "as long as nothing was ever timed the span goes on");
}

/* A slow span of which few are timed, beside a fast one of which all are. */
static void test_weights(void)
{
	uint64_t p50;

	begin();
	for (int i = 0; i < 10000; i++)
		command(0, 1000);
	estimate__fold(&run.estimate, &run.counted);
	for (int i = 0; i < 30000; i++)
		command(6, 1000000);
	estimate__fold(&run.estimate, &run.counted);
	run.estimate.all.max_ns = run.full.max_ns;
	p50 = hist__percentile(&run.estimate.all, 5000);
	ok(p50 > 900000 && p50 == hist__percentile(&run.full, 5000),
	   "30,000 of which 1 in 64 is timed weigh more than 10,000 (p50 %llu)",
	   (unsigned long long)p50);
	ok(fabs((double)hist__mean_ns(&run.estimate.all) / (double)hist__mean_ns(&run.full) - 1) <
		   0.001,
	   "also in the mean");
}

static void test_intervals(void)
{
	int covered[NR_PERCENTILES] = { 0 }, known[NR_PERCENTILES] = { 0 };

	for (int i = 0; i < RUNS; i++) {
		begin();
		for (int span = 0; span < 4; span++) {
			uint32_t shift = (uint32_t)draw(7);

			for (int j = 0; j < 8000; j++)
				command(shift, some_latency());
			estimate__fold(&run.estimate, &run.counted);
		}
		for (int p = 0; p < NR_PERCENTILES; p++) {
			struct hist_interval in =
				hist__percentile_interval(&run.estimate.all, percentiles[p]);
			uint64_t truth = hist__percentile(&run.full, percentiles[p]);

			known[p] += in.to_ns != 0;
			covered[p] += truth >= in.from_ns && (!in.to_ns || truth < in.to_ns);
		}
	}
	for (int p = 0; p < NR_PERCENTILES; p++) {
		ok(covered[p] >= RUNS * 95 / 100,
		   "p%g: the interval covers that of all commands in %d of %d runs",
		   percentiles[p] / 100.0, covered[p], RUNS);
		ok(percentiles[p] > 9900 || known[p] > RUNS * 9 / 10,
		   "and has an upper limit in %d", known[p]);
	}
}

static void test_interval_width(void)
{
	struct hist_interval all, few;

	begin();
	for (int i = 0; i < 100000; i++)
		command(0, some_latency());
	estimate__fold(&run.estimate, &run.counted);
	all = hist__percentile_interval(&run.estimate.all, 9900);
	ok(all.from_ns <= hist__percentile(&run.full, 9900) &&
		   hist__percentile(&run.full, 9900) < all.to_ns &&
		   (double)all.to_ns / (double)all.from_ns < 1.04,
	   "all timed: one bucket");
	begin();
	for (int i = 0; i < 64; i++)
		command(0, some_latency());
	for (int i = 0; i < 2000; i++)
		command(10, some_latency());
	estimate__fold(&run.estimate, &run.counted);
	few = hist__percentile_interval(&run.estimate.all, 9990);
	ok(!few.to_ns, "a handful timed: p99.9 has no upper limit");
}

int main(void)
{
	test_counts();
	test_weights();
	test_intervals();
	test_interval_width();
	return done_testing();
}
