/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.c: do records of several CPUs come out in order of time, each exactly once, whatever the
 * order in which they came in? Runs per CPU, late ones, equal times, what stays in the window, and
 * stages that go with their records. And does the memory of many that came at once go again?
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/order.h"
#include "tap.h"

static uint64_t seed = 0x9e3779b97f4a7c15ULL;

static uint32_t random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed >> 20) % n);
}

struct taken {
	uint64_t nr, last_ns, sum;
	uint32_t last_seq;
	bool fell, swapped, alone; /* alone: without its stages, or with another's */
};

static void take(void *arg, const struct io_record *r)
{
	struct taken *t = arg;
	uint64_t at = io_record__time_ns(r);

	t->fell |= at < t->last_ns;
	t->alone |= r->flags & RECORD_STAGES && (io_record__stages(r)->queued_ns != at + 1 ||
						 io_record__stages(r)->tid != r->seq);
	t->swapped |= at == t->last_ns && r->seq < t->last_seq;
	t->last_ns = at;
	t->last_seq = r->seq;
	t->nr++;
	t->sum += r->seq;
}

/* One in three has stages. */
static void add(struct order *o, uint64_t end_ns, uint32_t seq)
{
	struct {
		struct io_record record;
		struct io_stages stages;
	} r = { { .end_ns = end_ns, .seq = seq, .flags = seq % 3 ? 0 : RECORD_STAGES },
		{ .queued_ns = end_ns + 1, .tid = seq } };

	if (order__add(o, &r.record))
		abort();
}

static void check_runs(uint32_t cpus, uint32_t each)
{
	struct order o = { 0 };
	struct taken t = { 0 };
	uint64_t sum = 0;

	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		uint64_t at = 1000;

		for (uint32_t i = 0; i < each; i++) {
			at += random_below(50);
			/* nested programs: now and then one is a little late */
			add(&o, at - (random_below(20) ? 0 : random_below(40)), i);
			sum += i;
		}
	}
	order__take(&o, UINT64_MAX, take, &t);
	ok(!t.fell, "%u CPUs, %u records each: in order", cpus, each);
	ok(t.nr == (uint64_t)cpus * each && t.sum == sum, "each exactly once");
	ok(!t.alone, "with its own stages");
	is_u64(o.nr, 0, "none stays");
	order__free(&o);
}

static void check_window(void)
{
	struct order o = { 0 };
	struct taken t = { 0 };

	add(&o, 300, 3);
	add(&o, 500, 5);
	add(&o, 100, 1);
	add(&o, 400, 4);
	order__take(&o, 400, take, &t);
	ok(t.nr == 2 && t.sum == 4, "what ended before the window goes on");
	is_u64(o.nr, 2, "what did not, stays");
	add(&o, 450, 4);
	order__take(&o, 400, take, &t);
	is_u64(t.nr, 2, "and stays");
	order__take(&o, 501, take, &t);
	ok(t.nr == 5 && !t.fell && !o.nr && !t.alone, "until its time has come");
	order__take(&o, UINT64_MAX, take, &t);
	is_u64(t.nr, 5, "nothing comes of nothing");
	order__free(&o);
}

/* As a session has it: some come, some go, some stay for the next time. */
static void check_slices(void)
{
	struct order o = { 0 };
	struct taken t = { 0 };
	uint64_t sum = 0, now = 1000;

	for (uint32_t i = 0; i < 20000; i++) {
		now += random_below(50);
		add(&o, now - random_below(400), i);
		sum += i;
		if (i % 97 == 96)
			order__take(&o, now - 500, take, &t);
	}
	ok(o.nr > 0 && o.nr < 200, "slice by slice: the window stays");
	order__take(&o, UINT64_MAX, take, &t);
	ok(!t.fell && t.nr == 20000 && t.sum == sum, "all come in order");
	ok(!t.alone, "with their own stages");
	order__free(&o);
}

static void check_equal(void)
{
	struct order o = { 0 };
	struct taken t = { 0 };
	struct io_record submit = { .what = RECORD_SUBMIT, .last_ns = 6, .end_ns = 0, .seq = 0 };

	for (uint32_t i = 0; i < 1000; i++)
		add(&o, 7, i);
	if (order__add(&o, &submit))
		abort();
	order__take(&o, UINT64_MAX, take, &t);
	ok(!t.swapped && !t.fell,
	   "equal times keep the order of arrival, a submit goes by its issue");
	order__free(&o);
}

/* KiB of this process that no file backs. */
static uint64_t anonymous_kib(void)
{
	FILE *in = fopen("/proc/self/smaps_rollup", "r");
	unsigned long long kib = 0;
	char line[256];

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "Anonymous: %llu kB", &kib) == 1)
			break;
	if (in)
		fclose(in);
	return kib;
}

/* 100 records at a time, some of which stay for the next. */
static void take_few(struct order *o, struct taken *t, uint64_t *now, uint64_t *sum)
{
	for (uint32_t i = 0; i < 100; i++) {
		add(o, ++*now, i);
		*sum += i;
	}
	order__take(o, *now - 50, take, t);
}

/* 30 MiB of records at once, as of a process that got no turn; after them there are few. */
static void check_burst(void)
{
	struct order o = { 0 };
	struct taken t = { 0 };
	uint64_t sum = 0, now = 1000;
	__attribute__((unused)) uint64_t before, full, after;

	for (int i = 0; i < 10; i++)
		take_few(&o, &t, &now, &sum);
	before = anonymous_kib();
	for (uint32_t i = 0; i < 200000; i++) {
		add(&o, now++, i);
		sum += i;
	}
	order__take(&o, now, take, &t);
	full = anonymous_kib();
	for (int i = 0; i < ORDER_TAKES; i++)
		take_few(&o, &t, &now, &sum);
	ok(o.room_bytes > 20480 << 10, "a burst keeps its room for some time");
	for (int i = 0; i < ORDER_TAKES; i++)
		take_few(&o, &t, &now, &sum);
	ok(o.room_bytes < 512 << 10 && o.room < 1024, "then it has none");
#ifndef TAP_SANITIZED /* whose malloc keeps what is free */
	after = anonymous_kib();
	ok(full > before + 20480 && after < before + 2048,
	   "and takes no memory: %llu KiB before, %llu full, %llu after",
	   (unsigned long long)before, (unsigned long long)full, (unsigned long long)after);
#endif
	for (uint32_t i = 0; i < 200000; i++) {
		add(&o, now++, i);
		sum += i;
	}
	order__take(&o, UINT64_MAX, take, &t);
	ok(!t.fell && !t.alone && t.sum == sum,
	   "and every record came in order, also of a second burst");
	order__free(&o);
}

int main(void)
{
	check_runs(1, 1);
	check_runs(1, 5000);
	check_runs(2, 5000);
	check_runs(7, 999);
	check_runs(128, 300);
	check_window();
	check_slices();
	check_equal();
	check_burst();
	return done_testing();
}
