/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_series.c: is every command in exactly one bucket of one series, whatever its latency, its
 * labels and the limits are, and does no count go down? Buckets are compared with a second count of
 * the same values.
 */
#include <stdlib.h>
#include "serve/exemplars.h"
#include "serve/metrics.h"
#include "tap.h"

static struct edges edges;

/* ---- edges ---- */

static uint64_t count_up_to(const uint64_t *values, size_t nr, uint64_t most)
{
	uint64_t count = 0;

	for (size_t i = 0; i < nr; i++)
		count += values[i] <= most;
	return count;
}

/* Around every edge, so that an edge that is off by 1 ns shows. */
static size_t values_at_edges(uint64_t *values)
{
	size_t nr = 0;

	for (size_t i = 0; i < edges.bounds.nr; i++)
		for (uint64_t d = 0; d < 3; d++)
			values[nr++] = edges.least[i] - 1 + d;
	values[nr++] = 0;
	values[nr++] = 1;
	values[nr++] = 200000000000;
	values[nr++] = 1ULL << 62;
	return nr;
}

static void check_edges(unsigned int per_octave)
{
	static uint64_t values[3 * EDGES_MOST + 4];
	static struct hist hist;
	struct openmetrics_histogram out = { 0 };
	bool rising = true, exact = true, same = true;
	uint64_t count = 0;
	size_t nr;

	memset(&hist, 0, sizeof(hist));
	edges__init(&edges, per_octave);
	is_u64(edges.bounds.nr, per_octave * 24 + 1, "edges, of 24 octaves and the end");
	nr = values_at_edges(values);
	for (size_t i = 0; i < nr; i++)
		hist__add(&hist, values[i], 0);
	edges__count(&edges, &hist, &out);
	for (size_t i = 0; i < edges.bounds.nr; i++) {
		count += out.buckets[i];
		exact &= count == count_up_to(values, nr, edges.least[i]);
		rising &= !i || edges.least[i] > edges.least[i - 1];
		same &= (uint64_t)(strtod(edges.text_of[i], NULL) * 1e9 + 0.5) == edges.least[i];
	}
	ok(exact, "%u per octave: every `le` counts what is at or below it", per_octave);
	ok(rising && same, "edges rise, and their texts say the same");
	is_u64(count + out.buckets[edges.bounds.nr], nr, "nothing is lost");
}

static void test_edges(void)
{
	for (unsigned int per_octave = 8; per_octave; per_octave /= 2)
		check_edges(per_octave);
	edges__init(&edges, 4);
	is_str(edges.text_of[0], "1.023e-06", "the first edge is 1 us");
	is_str(edges.text_of[96], "17.179869183", "the last one 17 s");
}

/* ---- series ---- */

/* "dev1", "op2"; cgroups 100 and 101 have the same path, as after a restart of a service. */
static bool label(void *arg, const struct io_tags *t, const char *labels[NR_SERIES_LABELS])
{
	static char device[16], op[16], cgroup[32];

	++*(int *)arg;
	snprintf(device, sizeof(device), "dev%d", t->device);
	snprintf(op, sizeof(op), "op%d", t->op);
	snprintf(cgroup, sizeof(cgroup), "/%d", (int)(t->cgroup == 101 ? 100 : t->cgroup));
	labels[SERIES_DEVICE] = device;
	labels[SERIES_OP] = op;
	if (t->device == 1)
		labels[SERIES_MODEL] = "ACME \"SSD\"\n# HELP x\\";
	if (t->cgroup)
		labels[SERIES_CGROUP] = cgroup;
	return t->op != 99;
}

static struct series_set set_of(size_t most, uint32_t by, int *named)
{
	struct series_set set = {
		.by = by, .most = most, .edges = &edges, .label = label, .arg = named
	};

	series_set__init(&set);
	return set;
}

static void add(struct series_set *set, int device, uint8_t op, uint64_t cgroup, unsigned int nr)
{
	const struct io_tags tags = {
		.device = device, .op = op, .cgroup = cgroup, .path = 7, .queue = (uint16_t)nr
	};
	struct hist *part = calloc(1, sizeof(*part));

	for (unsigned int i = 0; i < nr; i++)
		hist__add(part, 1000 * i, 512);
	if (series_set__add(set, &tags, part))
		ok(false, "out of memory");
	free(part);
}

static void test_limit(void)
{
	struct series_set set;
	uint64_t count = 0;
	int named = 0;

	set = set_of(3, 0, &named);
	for (int pass = 0; pass < 2; pass++) {
		series_set__begin(&set, 0);
		for (int device = 1; device <= 7; device++)
			add(&set, device, 1, 5, 10 * (unsigned int)device);
		series_set__add(&set, &(struct io_tags){ .other = 1, .device = 3 },
				&(struct hist){ .slots[40] = 11, .count = 11, .untimed = 9 });
		series_set__end(&set);
	}
	is_u64(set.nr, 4, "three series and `other`");
	is_u64(set.nr_dropped, 4, "four label sets are in it");
	is_u64(series__count(set.all[0], &edges), 40 + 50 + 60 + 70 + 11,
	       "with all their commands, and those of the full table");
	is_u64(series__count(set.all[3], &edges), 30, "a series has its own");
	for (size_t i = 0; i < set.nr; i++)
		count += series__count(set.all[i], &edges);
	is_u64(count, 291, "the sum is exact");
	is_u64(set.counted, 291, "by the collector's count, too");
	is_u64(set.all[3]->shown.bytes, 30 * 512, "bytes");
	is_u64(set.all[0]->shown.timed, 40 + 50 + 60 + 70 + 2, "and how many were timed");
	is_u64((uint64_t)named, 7, "each is named once");
	series_set__free(&set);
}

/* Two rows with one label set are one series: two would be refused by the scraper. */
static void test_same_labels(void)
{
	int named = 0;
	struct series_set set = set_of(10, 1u << SERIES_CGROUP, &named);

	series_set__begin(&set, 0);
	add(&set, 1, 1, 100, 5);
	add(&set, 1, 1, 101, 6);
	add(&set, 1, 1, 102, 7);
	series_set__end(&set);
	is_u64(set.nr, 3, "two label sets and `other`");
	is_u64(series__count(set.all[1], &edges), 11, "the first has both rows");
	series_set__free(&set);
}

static void test_never_down(void)
{
	int named = 0;
	struct series_set set = set_of(10, 0, &named);
	struct ledger shown = { .failed = 7, .lost = { [LOST_ROW] = 3 } };

	for (unsigned int nr = 10; nr >= 9; nr--) {
		series_set__begin(&set, 0);
		add(&set, 1, 1, 0, nr);
		series_set__end(&set);
	}
	is_u64(series__count(set.all[1], &edges), 10, "a count does not go down");
	is_u64(set.all[1]->shown.bytes, 5120, "nor do bytes");
	is_u64(set.counted, 9, "the ledger gets what was read");
	metrics__raise(&shown, &(struct ledger){ .failed = 6, .retries = 2, .in_flight = 1 });
	is_u64(shown.failed, 7, "nor does the ledger");
	is_u64(shown.lost[LOST_ROW], 3, "nor its losses");
	is_u64(shown.retries + shown.in_flight, 3, "what is higher is taken");
	metrics__raise(&shown, &(struct ledger){ .in_flight = 0 });
	is_u64(shown.in_flight, 0, "what is in flight may go down");
	series_set__free(&set);
}

/* Operation 99 has no name yet: its series begins when it has, or after 5 s without. */
static void test_late_names(void)
{
	const uint64_t second = 1000000000;
	int named = 0;
	struct series_set set = set_of(10, 1u << SERIES_POD | 1u << SERIES_UNIT, &named);

	is_str(set.all[0]->labels[SERIES_POD], "other", "`other` has all labels of --by");
	is_str(set.all[0]->labels[SERIES_UNIT], "other", "each of them");
	ok(!set.all[0]->labels[SERIES_CGROUP], "and no others");
	for (uint64_t s = 0; s < 5; s++) {
		series_set__begin(&set, (100 + s) * second);
		add(&set, 1, 99, 7, 3 + (unsigned int)s);
		series_set__end(&set);
		is_u64(set.nr, 1, "no series yet");
		is_u64(set.counted, 3 + s, "its commands are counted");
	}
	series_set__begin(&set, 105 * second);
	add(&set, 1, 99, 7, 8);
	series_set__end(&set);
	is_u64(set.nr, 2, "now it has one");
	is_u64(series__count(set.all[1], &edges), 8, "with all commands");
	is_u64((uint64_t)named, 6, "it was named in each reading");
	series_set__free(&set);
}

/* ---- exemplars ---- */

static bool tag(void *arg, const struct io_record *record, struct io_tags *tags)
{
	(void)arg;
	*tags = (struct io_tags){ .device = record->device, .op = record->op };
	return record->device;
}

static struct io_record ended(uint16_t device, uint64_t lat_ns)
{
	return (struct io_record){ .device = device, .first_ns = 1000, .end_ns = 1000 + lat_ns };
}

static void test_exemplars(void)
{
	int named = 0;
	struct series_set set = set_of(1, 0, &named);
	struct exemplars e = { .set = &set, .tags = tag };
	const uint64_t lats[] = { 2000, 2040, 2001, 1000000 };
	const size_t low = edges__bucket(&edges, 2000), high = edges__bucket(&edges, 1000000);
	struct io_record record = { .device = 1, .what = RECORD_ATTEMPT };

	exemplars__add(&e, &record, 1); /* number 1 */
	for (int i = 0; i < 4; i++) {
		record = ended(1, lats[i]);
		exemplars__add(&e, &record, 1);
	}
	is_u64(set.all[1]->slowest[low].number, 3, "the slowest of a bucket, by its number");
	is_u64(set.all[1]->slowest[low].lat_ns, 2040, "its latency");
	is_u64(set.all[1]->slowest[high].number, 5, "another bucket has its own");
	record = ended(1, 1999);
	exemplars__add(&e, &record, 3); /* 6 */
	is_u64(set.all[1]->slowest[low].number, 3, "a faster one does not replace it");
	exemplars__add(&e, &record, 4); /* 7 */
	is_u64(set.all[1]->slowest[low].number, 7, "unless it is forgotten");
	record = ended(2, 2000);
	exemplars__add(&e, &record, 1);
	ok(!set.all[0]->slowest && set.nr == 2, "`other` has none");
	record = ended(0, 2000);
	exemplars__add(&e, &record, 1);
	is_u64(e.nr, 9, "every record has a number");
	exemplars__free(&e);
	series_set__free(&set);
}

static int32_t gone_device;

static bool is_gone(void *arg, int32_t device)
{
	(void)arg;
	return device && device == gone_device;
}

/* One that returns has its series again. */
static void test_gone(void)
{
	int named = 0;
	struct series_set set = set_of(10, 0, &named);

	series_set__begin(&set, 0);
	add(&set, 1, 1, 0, 3);
	add(&set, 2, 1, 0, 4);
	series_set__end(&set);
	gone_device = 2;
	series_set__retire(&set, is_gone);
	ok(set.all[2]->has_ended, "a device ends: so do its series");
	ok(!set.all[1]->has_ended && !set.all[0]->has_ended, "others go on");
	gone_device = 0;
	series_set__retire(&set, is_gone);
	ok(!set.all[2]->has_ended, "so does one that returns");
	series_set__free(&set);
}

static bool has_left(void *arg, int32_t device)
{
	(void)arg;
	return device > 100 && device <= gone_device;
}

static uint64_t read_ten(struct series_set *set, int device)
{
	series_set__begin(set, 0);
	add(set, 1, 1, 0, 10);
	for (uint8_t op = 1; op <= 4; op++)
		add(set, device, op, 0, 10);
	series_set__end(set);
	return set->counted;
}

/* A thousand devices come and go: each has series of its own, and there are never more. */
static void test_many_gone(void)
{
	int named = 0;
	struct series_set set = set_of(5, 0, &named);
	bool own = true, exact = true;

	set.has_left = has_left;
	for (int device = 101; device <= 1100; device++) {
		gone_device = device - 1;
		exact &= read_ten(&set, device) == 50;
		own &= set.nr == 6 && !series__count(set.all[0], &edges);
		for (size_t i = 1; i < set.nr; i++)
			exact &= series__count(set.all[i], &edges) == 10;
		gone_device = device;
		series_set__forget(&set);
		own &= set.nr == 2;
	}
	ok(own, "a thousand devices: the series of each find room, and leave it");
	ok(exact, "with their own counts");
	is_u64(set.rows_by_tags.nr, 1, "no row of theirs is left");
	exact = read_ten(&set, 1100) == 50;
	ok(exact && set.nr == 2 && set.rows_by_tags.nr == 1,
	   "what the collector still has is counted only");
	series_set__free(&set);
}

/* What was added up in `other` stays there, whether it is read again or not. */
static void test_gone_from_other(void)
{
	static struct hist last;
	const struct io_tags tags = { .device = 102, .op = 1 };
	int named = 0;
	struct series_set set = set_of(1, 0, &named);

	memset(&last, 0, sizeof(last));
	for (uint64_t i = 0; i < 10; i++)
		hist__add(&last, 1000 * i, 512);
	set.has_left = has_left;
	gone_device = 0;
	read_ten(&set, 102);
	is_u64(series__count(set.all[0], &edges), 40, "a device in `other`");
	gone_device = 102;
	series_set__keep_last(&set, &tags, &last);
	series_set__forget(&set);
	series_set__begin(&set, 0);
	for (uint8_t op = 2; op <= 4; op++)
		add(&set, 102, op, 0, 20);
	series_set__end(&set);
	is_u64(series__count(set.all[0], &edges), 70, "goes on there");
	is_u64(set.all[0]->shown.bytes, 70 * 512, "with its bytes");
	series_set__free(&set);
}

/* ---- the page ---- */

static struct failures failures = {
	.all = { { "dev1", "op1", "media \"error\"", 2, 1 },
		 { "dev1", "op1", "timeout", 5, 2 },
		 { "dev1", "op1", "media \"error\"", 4, 3 } },
	.nr = 3,
	.unknown = 1,
};

static char *page(const struct series_set *set, enum openmetrics_format format,
		  const uint64_t *own_ns)
{
	const struct ledger ledger = { .failed = 3, .lost = { [LOST_SKIPPED] = 5 } };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ok(!metrics__write(&(struct metrics){ set, &ledger, format, own_ns, &failures }, out),
	   "written");
	fclose(out);
	return text;
}

static bool each_line_is_sane(const char *text)
{
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (strncmp(text, "# ", 2) && strncmp(text, "iosonar_", 8))
			return false;
		text += len + (text[len] == '\n');
	}
	return true;
}

static void test_page(void)
{
	int named = 0;
	struct series_set set = set_of(10, 0, &named);
	char *old, *open;

	series_set__begin(&set, 0);
	add(&set, 1, 1, 0, 13);
	series_set__end(&set);
	old = page(&set, OPENMETRICS_TEXT_0_0_4, &(uint64_t){ 1500000000 });
	open = page(&set, OPENMETRICS_1_0, NULL);
	ok(strstr(old, "\niosonar_commands_total{device=\"dev1\",model=\"ACME \\\"SSD\\\"\\\\x0a# "
		       "HELP x\\\\\",op=\"op1\"} 13\n"),
	   "a hostile model ends neither its label nor its line");
	ok(each_line_is_sane(old) && each_line_is_sane(open), "no line is its own");
	ok(strstr(old, "# TYPE iosonar_commands_total counter\n") &&
		   strstr(open, "# TYPE iosonar_commands counter\n"),
	   "the head of a counter is the format's");
	ok(strstr(open, "\n# EOF\n") && !strstr(old, "# EOF"), "OpenMetrics has an end");
	ok(strstr(old, "\niosonar_lost_total{reason=\"skipped\"} 5\n"), "losses by reason");
	ok(strstr(old, "\niosonar_failed_commands_total{device=\"dev1\",op=\"op1\",status=\"media "
		       "\\\"error\\\"\"} 6\n") &&
		   strstr(old, ",status=\"timeout\"} 5\n"),
	   "failures by status, whose words may come twice");
	ok(strstr(old, "\niosonar_failed_commands_total 1\n"), "those without a status");
	ok(strstr(old, "\niosonar_bpf_run_seconds_total 1.500000000\n"),
	   "our own time, in seconds");
	ok(!strstr(open, "bpf_run"), "absent where it is not known");
	ok(!strstr(old, "\"other\""), "`other` is absent while it is empty");
	free(old);
	free(open);
	series_set__free(&set);
}

int main(void)
{
	test_edges();
	test_limit();
	test_same_labels();
	test_never_down();
	test_late_names();
	test_exemplars();
	test_gone();
	test_many_gone();
	test_gone_from_other();
	test_page();
	return done_testing();
}
