/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c: has every machine enough rows, within its bound? And is everything read that was counted,
 * in its bucket, however much? Rows are plain memory here. A model of the programs counts in them;
 * the second instrument is a plain histogram of the same latencies.
 */
#include <stdlib.h>
#include "collect/rows.h"
#include "draw.h"
#include "tap.h"

enum {
	MOST_CPUS = 1024,
	MOST_DEVICES = 1024,
	NR_CPUS = 3,
	NR_KEYS = 256,
	NR_STEPS = 20000,
};

/* ---- how many ---- */

static struct row_plan plan_of(uint32_t cpus, uint32_t online, uint32_t devices)
{
	struct row_needs needs = { .nr_cpus = cpus, .nr_online = online, .nr_devices = devices };
	struct row_plan plan;

	row_plan__make(&plan, &needs);
	return plan;
}

static bool is_power_of_two(uint32_t n)
{
	return n && !(n & (n - 1));
}

/* Chunks that no CPU can take more of: what each may leave unused of its last one. */
static uint64_t least_rows(const struct row_plan *plan, uint32_t online)
{
	return plan->nr - plan->first - (uint64_t)(plan->chunk - 1) * online;
}

static bool is_sound(const struct row_plan *plan, uint32_t cpus)
{
	return plan->first > cpus && plan->nr > plan->first && is_power_of_two(plan->chunk) &&
	       plan->first % plan->chunk == 0 && plan->nr % plan->chunk == 0 &&
	       is_power_of_two(plan->nr_keys) && plan->nr_keys <= IO_MAX_KEYS;
}

static void check_every_machine(void)
{
	uint64_t unsound = 0, above = 0, short_of = 0, cramped = 0, few_keys = 0;

	for (uint32_t cpus = 1; cpus <= MOST_CPUS; cpus++) {
		for (uint32_t devices = 1; devices <= MOST_DEVICES; devices++) {
			struct row_plan plan = plan_of(cpus, cpus, devices);
			uint64_t used = (uint64_t)cpus * devices * 6 + devices * 6;

			unsound += !is_sound(&plan, cpus);
			above += row_plan__bytes(&plan) > row_plan__most_bytes(cpus);
			short_of += cpus * devices <= 128 * 64 && cpus <= 128 &&
				    least_rows(&plan, cpus) < used;
			cramped += least_rows(&plan, cpus) < 32ULL * cpus;
			few_keys += plan.nr_keys < 2 * 6 * devices;
		}
	}
	is_u64(unsound, 0, "1 to 1,024 CPUs, 1 to 1,024 devices: every plan is sound");
	is_u64(above, 0, "none is above its bound");
	is_u64(short_of, 0, "up to 128 CPUs x 64 devices: a row for six operations of each");
	is_u64(cramped, 0, "every CPU has 32 rows at least");
	is_u64(few_keys, 0, "the table of keys is at most half full");
}

/* With 64 controllers beside their 64 namespaces. */
static void check_large_machine(void)
{
	struct row_plan plan = plan_of(128, 128, 128);
	uint64_t bytes = row_plan__bytes(&plan) + (1ULL << 20) * sizeof(struct io_slot) +
			 4ULL * plan.nr_keys * (128 + 1) + plan.nr_keys * sizeof(struct io_key) +
			 IO_MAX_DEVICES * sizeof(struct io_device) +
			 IO_MAX_NAMES * sizeof(struct io_name);

	ok(bytes <= 256 << 20, "128 CPUs, 64 drives: all tables are within 256 MiB");
	printf("# %.1f MiB, %u rows\n", (double)bytes / (1 << 20), plan.nr);
	ok(least_rows(&plan, 128) >= 128 * 64 * 6 + 64 * 6, "and have a row for each operation");
}

static void check_offline(void)
{
	struct row_plan plan = plan_of(128, 2, 64), all = plan_of(128, 128, 64);

	ok(least_rows(&plan, 2) >= 2 * 64 * 8 + 4096,
	   "2 CPUs of 128: rows for these and later ones");
	ok(row_plan__bytes(&plan) < 20 << 20 && row_plan__bytes(&all) > 100 << 20,
	   "in a tenth of the memory");
	ok(row_plan__most_bytes(256) == 352 << 20 && row_plan__most_bytes(128) == 176 << 20 &&
		   row_plan__most_bytes(1024) == 480 << 20,
	   "the bound grows with the CPUs, up to what a program can address");
}

static void check_keys(void)
{
	struct row_needs needs = { .nr_cpus = 4, .nr_online = 4, .nr_devices = 4, .by_task = true };
	struct row_plan plan, sizes, queues, cpus;

	row_plan__make(&plan, &needs);
	ok(least_rows(&plan, 4) >= 4 * 1024, "a thousand tasks on each CPU");
	needs = (struct row_needs){ 16, 16, 32, .by_size = true };
	row_plan__make(&sizes, &needs);
	needs = (struct row_needs){ 16, 16, 32, .by_queue = true };
	row_plan__make(&queues, &needs);
	needs = (struct row_needs){ 16, 16, 32, .by_cpu = true };
	row_plan__make(&cpus, &needs);
	plan = plan_of(16, 16, 32);
	ok(sizes.nr > 3 * plan.nr && queues.nr > 3 * plan.nr / 2,
	   "sizes and queues need more rows");
	ok(cpus.nr == plan.nr && cpus.nr_keys == 16 * plan.nr_keys, "CPUs need only more keys");
}

/* Before 5.11 a table has 4 MiB. */
static void check_halved(void)
{
	struct row_plan plan = plan_of(1024, 1024, 64);
	bool sound = true;

	while (row_plan__bytes(&plan) > 4 << 20 && row_plan__halve(&plan))
		sound &= is_sound(&plan, 1024);
	ok(sound && row_plan__bytes(&plan) <= 4 << 20, "a pool is halved until it fits");
	while (row_plan__halve(&plan))
		sound &= is_sound(&plan, 1024);
	ok(sound && plan.nr == plan.first + 1, "down to one row");
}

/* ---- what they have counted ---- */

static struct row_plan plan;
static struct row_table table;
static struct io_row *rows;
static struct hist got[NR_KEYS], want[NR_KEYS];
static uint32_t row_of[NR_CPUS][NR_KEYS], far_of[NR_KEYS], next;

static void begin(bool zoom)
{
	row_table__free(&table);
	free(rows);
	plan = (struct row_plan){ .first = 4, .nr = 4 + 256, .chunk = 1, .nr_keys = NR_KEYS };
	rows = calloc(plan.nr, sizeof(*rows));
	memset(row_of, 0, sizeof(row_of));
	memset(far_of, 0, sizeof(far_of));
	memset(want, 0, sizeof(want));
	next = plan.first;
	if (!rows || row_table__init(&table, rows, &plan, NR_CPUS, zoom))
		printf("Bail out! no memory\n");
}

static uint32_t take(uint32_t key, bool is_far)
{
	rows[next].claim = 1;
	rows[next].key_nr = (uint16_t)key;
	rows[next].is_far = is_far;
	return next++;
}

/* As bpf/row.h does. */
static void count(uint32_t cpu, uint32_t key, uint64_t ns, uint32_t nr)
{
	struct io_row *row;

	row_of[cpu][key] = row_of[cpu][key] ?: take(key, false);
	row = &rows[row_of[cpu][key]];
	if (row_is_near(ns)) {
		row->cells[row_near_slot(ns) - ROW_FIRST] += nr;
	} else {
		far_of[key] = far_of[key] ?: take(key, true);
		rows[far_of[key]].cells[row_far_cell(hist_slot(ns))] += nr;
	}
	row->sum_ns += ns * nr;
	row->bytes += nr;
	row->max_ns[0] = ns > row->max_ns[0] ? ns : row->max_ns[0];
	want[key].slots[hist_slot(ns)] += nr;
	want[key].count += nr;
	want[key].sum_ns += ns * nr;
	want[key].bytes += nr;
	want[key].max_ns = ns > want[key].max_ns ? ns : want[key].max_ns;
}

static void add_part(void *arg, uint32_t key, const struct hist *part)
{
	hist__merge(&got[key], part);
	(void)arg;
}

/* Maxima are new ones at each reading: the test keeps those of earlier ones. */
static bool reads_as_wanted(void)
{
	for (uint32_t key = 0; key < NR_KEYS; key++)
		got[key] = (struct hist){ .max_ns = got[key].max_ns };
	row_table__read(&table, add_part, NULL);
	return !memcmp(got, want, sizeof(got));
}

static void check_buckets(void)
{
	bool good = true;
	uint64_t ns;

	for (int k = 0; k < 40; k++) {
		for (int d = -1; d <= 1; d++) {
			uint32_t slot;

			ns = (1ULL << k) + (uint64_t)(int64_t)d;
			slot = hist_slot(ns);
			if (row_is_near(ns))
				good &= ns >= 128 && ns < 1 << 30 && slot == row_near_slot(ns) &&
					slot - ROW_FIRST < ROW_CELLS;
			else
				good &= (ns < 128 || ns >= 1 << 30) &&
					row_far_cell(slot) < ROW_FAR_CELLS &&
					row_far_slot(row_far_cell(slot)) == slot;
		}
	}
	ok(good, "near from 128 ns to 2^30 ns, and each bucket has one cell");
}

static void check_every_latency(void)
{
	bool good = true;

	begin(false);
	memset(got, 0, sizeof(got));
	for (uint32_t i = 0; i < NR_STEPS; i++) {
		count((uint32_t)draw(NR_CPUS), (uint32_t)draw(9), draw(1ULL << draw(41)), 1);
		if (i % 1000 == 0)
			good &= reads_as_wanted();
	}
	ok(good && reads_as_wanted(), "latencies of 0 to 2^40 ns: all are read, in their buckets");
	ok(reads_as_wanted(), "and again: reading takes nothing but maxima");
	take(5, true);
	rows[next - 1].cells[3] = 7;
	want[5].slots[3] += 7;
	want[5].count += 7;
	ok(reads_as_wanted(), "two CPUs took a far row for one key: both are read");
}

/* The most that one cell may count between two looks. */
static void check_spill(void)
{
	const uint32_t most = UINT32_MAX - ROW_SPILL;
	bool good = true;

	begin(false);
	memset(got, 0, sizeof(got));
	count(1, 7, 5000, ROW_SPILL - 1);
	good &= reads_as_wanted();
	ok(good && !table.spilled[7] && rows[row_of[1][7]].cells[row_near_slot(5000) - ROW_FIRST],
	   "a cell that is not full stays");
	count(1, 7, 5000, 1);
	ok(reads_as_wanted() && table.spilled[7] &&
		   !rows[row_of[1][7]].cells[row_near_slot(5000) - ROW_FIRST],
	   "a full one is taken out");
	for (int i = 0; i < 10; i++) {
		count(1, 7, 5000, most);
		count(2, 7, 5000, most);
		count(0, 7, 1, most); /* far */
		count(0, 8, 2000000000, most);
		row_table__spill(&table);
	}
	ok(reads_as_wanted(), "cells count past 2^32, near and far");
	is_u64(want[7].count, 30ULL * most + ROW_SPILL, "which are many");
	for (uint32_t i = 0; i < NR_STEPS / 10; i++) {
		count((uint32_t)draw(NR_CPUS), (uint32_t)draw(9), draw(1ULL << draw(41)),
		      (uint32_t)draw(most));
		if (draw(2))
			good &= reads_as_wanted();
		else
			row_table__spill(&table);
	}
	ok(good && reads_as_wanted(), "in any order");
}

static void check_zoom(void)
{
	begin(true);
	memset(got, 0, sizeof(got));
	rows[take(3, false)].cells[ZOOM_OVER] = 11;
	want[3].slots[ZOOM_OVER] = want[3].count = 11;
	ok(reads_as_wanted(), "cells of the zoom keep their numbers");
	rows[plan.first].cells[ZOOM_UNDER] = ROW_SPILL;
	want[3].slots[ZOOM_UNDER] = ROW_SPILL;
	want[3].count += ROW_SPILL;
	ok(reads_as_wanted(), "also when they are taken out");
}

static void check_other(void)
{
	begin(false);
	memset(got, 0, sizeof(got));
	rows[0].cells[1] = 2;	       /* CPU 0 */
	rows[NR_CPUS].cells[96] = 3;   /* far, of all */
	rows[plan.first].cells[5] = 9; /* not taken */
	want[0].slots[ROW_FIRST + 1] = 2;
	want[0].slots[ROW_FIRST + ROW_CELLS] = 3;
	want[0].count = 5;
	ok(reads_as_wanted(), "the rows of no key are read, those that nobody took are not");
}

int main(void)
{
	check_every_machine();
	check_large_machine();
	check_offline();
	check_keys();
	check_halved();
	check_buckets();
	check_every_latency();
	check_spill();
	check_zoom();
	check_other();
	row_table__free(&table);
	free(rows);
	return done_testing();
}
