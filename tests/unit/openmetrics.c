/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * openmetrics.c: are families, buckets and labels as OpenMetrics wants them, whatever a device is
 * called? promtool reads whole files in tests/cli/export.bats.
 */
#include <stdlib.h>
#include "render/openmetrics.h"
#include "tap.h"

static void test_bounds(void)
{
	const struct openmetrics_bounds *all[] = { &openmetrics_seconds, &openmetrics_bytes };
	bool rising = true, same = true;

	for (size_t b = 0; b < 2; b++)
		for (size_t i = 0; i < all[b]->nr; i++) {
			double unit = b ? 1 : 1e9, text = strtod(all[b]->texts[i], NULL);

			rising &= !i || all[b]->least[i] > all[b]->least[i - 1];
			same &= (uint64_t)(text * unit + 0.5) == all[b]->least[i];
		}
	ok(rising, "bounds rise");
	ok(same, "and their texts say the same");
	is_u64(openmetrics_bounds__find(&openmetrics_seconds, 0), 0, "0 is in the first");
	is_u64(openmetrics_bounds__find(&openmetrics_seconds, 1000), 0, "so is its bound");
	is_u64(openmetrics_bounds__find(&openmetrics_seconds, 1001), 1, "what is above is not");
	is_u64(openmetrics_bounds__find(&openmetrics_bytes, UINT64_MAX), openmetrics_bytes.nr,
	       "above all");
}

static char *written(void (*write)(FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	write(out);
	fclose(out);
	return text;
}

static void write_gauges(FILE *out)
{
	const struct openmetrics_label labels[] = {
		{ "host", NULL },
		{ "device", "a\"b\\\n}\x1b\xff\xc3\xa9" },
	};

	openmetrics__family(out, "x_bytes", "gauge", "bytes", "What it is.");
	openmetrics__gauge(out, "x_bytes", (struct openmetrics_labels){ labels, 2 }, 7);
	openmetrics__gauge(out, "x_bytes", (struct openmetrics_labels){ labels, 1 },
			   18446744073709551615u);
	openmetrics__end(out);
}

static bool histogram_exemplars;

static void write_histogram(FILE *out)
{
	static const char *const texts[] = { "0.001", "1.0" };
	static const uint64_t least[] = { 1000000, 1000000000 };
	const struct openmetrics_bounds bounds = { texts, least, 2 };
	const struct openmetrics_exemplar exemplars[] = { { 17, 900001, 1700000000000000005 },
							  { 0 },
							  { 18, 2000000000, 1700000001500000000 } };
	struct openmetrics_histogram histogram = { .buckets = { 3, 0, 4 }, .sum = 12000000345 };
	const struct openmetrics_label op = { "op", "read" };

	if (histogram_exemplars)
		histogram.exemplars = exemplars;
	openmetrics__histogram(out, "l", (struct openmetrics_labels){ &op, 1 }, &bounds, &histogram,
			       1000000000);
}

static void write_counters(FILE *out)
{
	const struct openmetrics_label op = { "op", "read" };
	const struct openmetrics_labels none = { NULL, 0 };

	openmetrics__counter_family(out, OPENMETRICS_TEXT_0_0_4, "x_bytes", "bytes", "Old.");
	openmetrics__counter_family(out, OPENMETRICS_1_0, "x_bytes", "bytes", "New.");
	openmetrics__counter(out, "x_bytes", (struct openmetrics_labels){ &op, 1 }, 7);
	openmetrics__gauge_seconds(out, "y_seconds", none, 1000000001);
}

static void test_counters(void)
{
	char *counters = written(write_counters);

	is_str(counters,
	       "# HELP x_bytes_total Old.\n# TYPE x_bytes_total counter\n"
	       "# HELP x_bytes New.\n# TYPE x_bytes counter\n# UNIT x_bytes bytes\n"
	       "x_bytes_total{op=\"read\"} 7\ny_seconds 1.000000001\n",
	       "the head of a counter is the format's, its samples are the same; seconds are "
	       "exact");
	free(counters);
}

static void test_text(void)
{
	char *gauges = written(write_gauges), *histogram = written(write_histogram);

	is_str(gauges,
	       "# HELP x_bytes What it is.\n# TYPE x_bytes gauge\n# UNIT x_bytes bytes\n"
	       "x_bytes{device=\"a\\\"b\\\\\\\\x0a}\\\\x1b\\\\xff\xc3\xa9\"} 7\n"
	       "x_bytes 18446744073709551615\n# EOF\n",
	       "a label cannot end itself nor its line, and one without a value is not there");
	is_str(histogram,
	       "l_bucket{op=\"read\",le=\"0.001\"} 3\nl_bucket{op=\"read\",le=\"1.0\"} 3\n"
	       "l_bucket{op=\"read\",le=\"+Inf\"} 7\nl_sum{op=\"read\"} 12.000000345\n"
	       "l_count{op=\"read\"} 7\n",
	       "buckets are cumulative, the last one is the count, the sum is exact");
	free(histogram);
	histogram_exemplars = true;
	histogram = written(write_histogram);
	is_str(histogram,
	       "l_bucket{op=\"read\",le=\"0.001\"} 3 # {record=\"17\"} 0.000900001 "
	       "1700000000.000000005\nl_bucket{op=\"read\",le=\"1.0\"} 3\n"
	       "l_bucket{op=\"read\",le=\"+Inf\"} 7 # {record=\"18\"} 2.000000000 "
	       "1700000001.500000000\nl_sum{op=\"read\"} 12.000000345\nl_count{op=\"read\"} 7\n",
	       "a bucket may have an exemplar");
	free(gauges);
	free(histogram);
}

int main(void)
{
	test_bounds();
	test_text();
	test_counters();
	return done_testing();
}
