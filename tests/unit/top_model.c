/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_model.c: does top show the right rows, in the right order, at the place where its user is?
 * Two devices with three operations do a known number of I/Os in each interval.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/log.h"
#include "tap.h"
#include "view/latency_by.h"
#include "view/top_model.h"
#include "wire/io_tables.h"

enum { FAST = 1, SLOW = 2, READ = 0, WRITE = 1, FLUSH = 2, NR_LOADS = 4 };

/* What was counted since the start, as the kernel has it. */
static struct load {
	struct io_tags tags;
	struct hist hist;
} loads[NR_LOADS];
static struct top_model model;

static struct io_tags tags_of(int device, int op)
{
	return (struct io_tags){ .device = device, .kind = IO_BLOCK, .op = (uint8_t)op };
}

static void label(void *arg, const struct io_tags *tags, uint32_t mask, struct latency_row *row)
{
	static const char *const devices[] = { "?", "fast", "slow" };
	static const char *const ops[] = { "read", "write", "flush" };

	(void)arg, (void)mask;
	row->dev = devices[tags->device];
	row->op = ops[tags->op];
}

static void arrange(void)
{
	if (top_model__arrange(&model, label, NULL))
		printf("Bail out! no memory\n");
}

static void begin(void)
{
	static const enum breakdown_by keys[] = { BY_DEV, BY_OP };
	static const struct io_tags none;

	top_model__free(&model);
	top_model__init(&model, keys, 2);
	model.knows_open = true;
	for (int i = 0; i < NR_LOADS; i++)
		loads[i] = (struct load){ .tags = none };
	loads[0].tags = tags_of(FAST, READ);
	loads[1].tags = tags_of(FAST, WRITE);
	loads[2].tags = tags_of(SLOW, READ);
	loads[3].tags = tags_of(SLOW, FLUSH);
}

static void add_ios(int load, int nr, uint64_t ns)
{
	while (nr-- > 0)
		hist__add(&loads[load].hist, ns, 4096);
}

/* An interval of one second; `open` is in flight at its end, -1: nothing is. */
static void end_interval(int open)
{
	top_model__begin(&model);
	if (open >= 0)
		top_model__add_open(&model, &loads[open].tags);
	for (int i = 0; i < NR_LOADS; i++) {
		if (loads[i].hist.count)
			top_model__add(&model, &loads[i].tags, &loads[i].hist);
		loads[i].hist.max_ns = 0; /* the kernel's is that since the last read */
	}
	top_model__end(&model, 1);
	arrange();
}

static const char *names(void)
{
	static char text[256];
	char name[64];

	text[0] = 0;
	for (size_t i = 0; i < model.nr; i++) {
		strcat(text, i ? " " : "");
		strcat(text, top_model__name(&model, &model.order[i]->shown, name, sizeof(name)));
	}
	return text;
}

static const char *chosen(void)
{
	static char name[64];
	const struct top_row *row = top_model__chosen(&model);

	return row ? top_model__name(&model, &row->shown, name, sizeof(name)) : "";
}

static void test_sums(void)
{
	begin();
	add_ios(0, 700, 10000);
	add_ios(1, 300, 20000);
	add_ios(2, 13, 5000000);
	end_interval(-1);
	is_str(names(), "fast slow", "rows are devices, the busiest first");
	is_u64(model.order[0]->shown.count, 1000, "a device is the sum of its operations");
	is_u64(model.order[0]->shown.max_ns, 20000, "its maximum is the largest of theirs");
	is_u64(model.order[0]->shown.mean_ns, 13000, "its mean is that of all commands");
	ok(model.order[0]->shown.per_s == 1000 && model.order[0]->shown.mb_per_s == 4.096,
	   "rates are per second");
	is_u64(model.all.count, 1013, "the header is the sum of all devices");
	is_u64(model.all.max_ns, 5000000, "with the largest maximum");
	add_ios(2, 3, 1000000);
	end_interval(-1);
	is_str(names(), "slow fast", "an interval has only what came since the last one");
	is_u64(model.all.count, 3, "the header, too");
	is_u64(model.all.max_ns, 1000000, "and its maximum");
	is_u64(top_model__finest(&model)->nr, 3, "rows by all keys are kept");
}

static void test_order(void)
{
	begin();
	add_ios(0, 100, 10000);
	add_ios(2, 10, 5000000);
	end_interval(-1);
	is_str(chosen(), "fast", "the first row is chosen");
	while (top_model__column(&model, model.column) == NULL ||
	       strcmp(top_model__column(&model, model.column)->key, "p99_ns"))
		top_model__sort_next(&model);
	arrange();
	is_str(names(), "slow fast", "by p99 the slowest is first");
	is_str(chosen(), "fast", "the chosen row stays chosen at its new place");
	is_u64(model.at, 1, "which is the second");
	model.is_reversed = true;
	arrange();
	is_str(names(), "fast slow", "reversed");
	model.column = 0;
	arrange();
	is_str(names(), "slow fast", "by name, reversed");
	model.is_reversed = false;
	arrange();
	is_str(names(), "fast slow", "by name");
	for (int i = 0; i < TOP_COLUMNS; i++)
		top_model__sort_next(&model);
	is_u64(model.column, 0, "after all columns comes the first one again");
	model.shows_others = true;
	is_str(top_model__column(&model, 4)->key, "p90_ns", "there is another set of columns");
}

static void test_move(void)
{
	begin();
	top_model__move(&model, 1);
	arrange();
	is_str(chosen(), "", "without rows none is chosen");
	ok(!top_model__enter(&model), "nor can one be entered");
	add_ios(0, 10, 10000);
	add_ios(2, 5, 10000);
	end_interval(-1);
	top_model__move(&model, 7);
	is_str(chosen(), "slow", "there is nothing below the last row");
	add_ios(2, 50, 10000);
	add_ios(0, 10, 10000);
	end_interval(-1);
	is_str(names(), "slow fast", "the order changes");
	is_str(chosen(), "slow", "the chosen row does not");
	top_model__move(&model, -7);
	is_str(chosen(), "slow", "there is nothing above the first row");
}

static void test_place(void)
{
	begin();
	add_ios(0, 7, 10000);
	add_ios(1, 70, 20000);
	add_ios(2, 500, 5000000);
	end_interval(-1);
	ok(!top_model__leave(&model), "nothing is above the devices");
	top_model__move(&model, 1);
	ok(top_model__enter(&model), "a device is entered");
	arrange();
	is_str(names(), "write read", "it shows its operations, and no other device's");
	is_str(model.place, "fast", "the place is the device");
	is_str(chosen(), "write", "the first of them is chosen");
	is_u64(model.order[0]->shown.count + model.order[1]->shown.count, 77,
	       "they add up to the device");
	ok(!top_model__enter(&model), "nothing is below the last key");
	add_ios(0, 7, 10000);
	end_interval(-1);
	is_str(names(), "read write", "an interval later the place is the same");
	is_u64(model.all.count, 7, "the header is about all devices");
	ok(top_model__leave(&model), "back");
	arrange();
	is_str(chosen(), "fast", "the device that was entered is chosen");
}

static void quiet(void *arg, const char *message)
{
	snprintf(arg, 128, "%s", message);
}

static void test_filter(void)
{
	char said[128] = "";

	begin();
	add_ios(0, 100, 10000);
	add_ios(2, 10, 5000000);
	end_interval(-1);
	is_u64((uint64_t)top_model__filter(&model, "p99 > 1ms"), 0, "a filter is taken");
	arrange();
	is_str(names(), "slow", "only rows for which it is true are shown");
	is_str(chosen(), "slow", "and one of them is chosen");
	log_set_listener(quiet, said);
	ok(top_model__filter(&model, "op == read") == -EINVAL, "devices have no operation");
	ok(strstr(said, "op"), "which is said");
	log_set_listener(NULL, NULL);
	is_str(model.levels[0].filter, "p99 > 1ms", "and the filter stays");
	top_model__enter(&model);
	arrange();
	is_str(names(), "read", "rows below have no filter");
	is_u64((uint64_t)top_model__filter(&model, "op == write"), 0, "but may have their own");
	arrange();
	is_str(names(), "", "for which no row may be left");
	top_model__leave(&model);
	top_model__filter(&model, "");
	arrange();
	is_str(names(), "fast slow", "an empty filter shows all rows");
	is_u64((uint64_t)top_model__filter(&model, "in_flight > 0"), 0, "in_flight is a column");
	arrange();
	is_str(names(), "", "of rows with commands in flight");
}

/* --if: each level whose rows have the fields is filtered. */
static void test_filter_all(void)
{
	begin();
	is_u64((uint64_t)top_model__filter_all(&model, "op == write"), 0, "an option is taken");
	add_ios(0, 100, 10000);
	add_ios(1, 7, 20000);
	add_ios(2, 10, 5000000);
	end_interval(-1);
	is_str(names(), "fast slow", "devices have no operation: all are shown");
	is_str(model.levels[0].filter, "", "and no filter is named");
	top_model__enter(&model);
	arrange();
	is_str(names(), "write", "operations are chosen by it");
	is_str(model.levels[1].filter, "op == write", "which is named");
	top_model__leave(&model);
	top_model__filter_all(&model, "max > 1ms");
	arrange();
	is_str(names(), "slow", "a field of all rows chooses devices, too");
	top_model__filter_all(&model, NULL);
	is_str(model.levels[0].filter, "max > 1ms", "no option changes nothing");
}

/* ---- other keys ---- */

enum { NR_TASKS = 3 };

/* Two devices, two operations, three tasks; task n does n + 1 reads and n writes on each. */
static void begin_tasks(const enum breakdown_by *keys, size_t nr)
{
	static struct hist hists[NR_TASKS][2];

	top_model__free(&model);
	top_model__init(&model, keys, nr);
	model.knows_open = true;
	memset(hists, 0, sizeof(hists));
	top_model__begin(&model);
	for (int task = 0; task < NR_TASKS; task++)
		for (int op = 0; op < 2; op++) {
			struct io_tags tags = tags_of(FAST, op);

			tags.pid = (uint32_t)task + 1;
			for (int i = 0; i < task + !op; i++)
				hist__add(&hists[task][op], 10000, 4096);
			for (tags.device = FAST; tags.device <= SLOW; tags.device++)
				if (hists[task][op].count)
					top_model__add(&model, &tags, &hists[task][op]);
		}
	top_model__add_open(&model,
			    &(struct io_tags){ .device = SLOW, .kind = IO_BLOCK, .pid = 3 });
	top_model__end(&model, 1);
	arrange();
}

/* "3:5 2:3": pid or operation, and commands. */
static const char *counts(void)
{
	static char text[256];
	size_t len = 0;

	text[0] = 0;
	for (size_t i = 0; i < model.nr; i++) {
		const struct top_row *row = model.order[i];
		bool is_pid = model.keys[model.depth] == BY_PID;

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u:%d", i ? " " : "",
					is_pid ? row->from->tags.pid : row->from->tags.op,
					(int)row->shown.count);
	}
	return text;
}

static void test_next_key(void)
{
	static const enum breakdown_by keys[] = { BY_DEV, BY_OP, BY_PID };

	begin_tasks(keys, 3);
	top_model__enter(&model);
	arrange();
	is_str(counts(), "0:6 1:3", "a device by its operations");
	is_u64((uint64_t)top_model__next_key(&model), 0, "the next key");
	arrange();
	is_str(counts(), "3:5 2:3 1:1", "by its tasks, at once, with the same commands");
	is_u64(model.all.count, 18, "the header stays");
	top_model__enter(&model);
	arrange();
	is_str(counts(), "0:3 1:2", "a task by its operations");
	ok(top_model__next_key(&model) == -ENOENT, "the last level has no other key");
	top_model__leave(&model);
	top_model__leave(&model);
	arrange();
	is_u64(model.nr, 2, "above is what was there before");
	is_u64(model.order[0]->shown.count + model.order[1]->shown.count, 18, "with its commands");
	top_model__next_key(&model);
	arrange();
	is_u64(model.keys[0], BY_OP, "the first level has other keys, too");
	is_str(counts(), "0:12 1:6", "operations of all devices");
	is_u64(model.order[0]->in_flight, 1, "with what is in flight");
	top_model__next_key(&model);
	top_model__next_key(&model);
	is_u64(model.keys[0] * 100 + model.keys[1] * 10 + model.keys[2],
	       BY_DEV * 100 + BY_OP * 10 + BY_PID, "after the last key comes the first one again");
	end_interval(-1);
	is_u64(model.in_flight, 0, "and intervals go on");
}

static void test_key_order(void)
{
	static const enum breakdown_by keys[] = { BY_OP, BY_DEV, BY_PATH };

	begin_tasks(keys, 3);
	top_model__next_key(&model);
	is_u64(model.keys[0], BY_DEV, "the disk may come first");
	is_u64(model.keys[2], BY_PATH, "a path comes after it");
	top_model__next_key(&model);
	is_u64(model.keys[0], BY_OP, "and is never the first");
	top_model__filter_all(&model, "count > 6");
	top_model__next_key(&model);
	is_str(model.levels[0].filter, "count > 6", "--if is that of the new rows, too");
}

static void test_in_flight(void)
{
	begin();
	add_ios(0, 100, 10000);
	end_interval(3);
	is_str(names(), "fast slow", "a device of which nothing ended has a row");
	is_u64(model.order[1]->in_flight, 1, "with what is in flight");
	is_u64(model.order[1]->shown.count, 0, "and no commands that ended");
	is_u64(model.in_flight, 1, "the header has it");
	end_interval(-1);
	is_u64(model.in_flight, 0, "until it has ended");
	is_str(names(), "fast", "then the row is gone");
	model.knows_open = false;
	arrange();
	ok(model.order[0]->in_flight == CELL_NO_NUMBER, "a replay does not know");
}

/* 10 us is in the octave from 8.2 us, 5 ms in that from 4.2 ms. */
static void test_history(void)
{
	const struct top_track *track;

	begin();
	add_ios(0, 100, 10000);
	end_interval(-1);
	add_ios(0, 99, 10000);
	add_ios(0, 1, 5000000);
	end_interval(-1);
	end_interval(-1);
	track = top_model__chosen(&model)->track;
	is_u64((uint64_t)top_track__level(&model, track, 0, 3), 0, "nothing in the last interval");
	is_u64((uint64_t)top_track__level(&model, track, 2, 3), 9, "all of the first one");
	is_u64((uint64_t)top_track__level(&model, track, 1, 3), 9, "most of the second");
	is_u64((uint64_t)top_track__level(&model, track, 1, 12), 3, "a hundredth is a light shade");
	is_u64((uint64_t)top_track__level(&model, track, 3, 3), 0, "nothing before the start");
	for (int i = 0; i < TOP_INTERVALS - 2; i++)
		end_interval(-1);
	is_str(names(), "fast", "an idle row stays as long as its history");
	track = top_model__chosen(&model)->track;
	is_u64((uint64_t)top_track__level(&model, track, TOP_INTERVALS - 1, 12), 3,
	       "whose oldest interval is the second");
	end_interval(-1);
	is_str(names(), "", "then it is hidden");
	add_ios(0, 1, 10000);
	end_interval(-1);
	is_str(names(), "fast", "and comes back with its next command");
	is_u64(model.order[0]->shown.count, 1, "which is all that it has");
}

static void check_keys(const char **words, size_t nr, const char *want, const char *what)
{
	const struct option_list by = { words, nr };
	enum breakdown_by keys[NR_BY];
	size_t nr_keys = latency_by__keys(&by, keys);
	char got[128] = "";

	for (size_t i = 0; i < nr_keys; i++) {
		strcat(got, i ? " " : "");
		strcat(got, latency_by_words[keys[i]]);
	}
	is_str(got, want, what);
}

static void test_keys(void)
{
	check_keys(NULL, 0, "dev op", "without --by");
	check_keys((const char *[]){ "comm", "dev", "comm" }, 2, "comm dev", "in their order");
	check_keys((const char *[]){ "op", "path" }, 2, "op dev path", "a path needs its disk");
	check_keys((const char *[]){ "ns", "queue", "qid" }, 3, "ctrl ns qid", "queue is qid");
}

/* 1,000 tasks on a screen of ten lines; task n has n commands that take n us. */
static struct hist *many_begin(void)
{
	static const enum breakdown_by keys[] = { BY_DEV, BY_PID };
	struct hist *hists = calloc(1000, sizeof(*hists));

	top_model__free(&model);
	top_model__init(&model, keys, 2);
	top_model__begin(&model);
	for (uint32_t n = 0; hists && n < 1000; n++) {
		const struct io_tags tags = { .device = FAST, .kind = IO_BLOCK, .pid = n + 1 };

		for (uint32_t i = 0; i <= n; i++)
			hist__add(&hists[n], (n + 1) * 1000, 4096);
		top_model__add(&model, &tags, &hists[n]);
	}
	top_model__end(&model, 1);
	arrange();
	top_model__enter(&model);
	return hists;
}

/* What is measured only near the chosen row is the same as if all were. */
static void test_lines(void)
{
	struct hist *hists = many_begin();
	uint64_t wrong = 0, unmeasured = 0;

	model.lines = 10;
	arrange();
	is_u64(model.nr, 1000, "all rows are there");
	for (size_t i = 0; i < model.nr; i++) {
		const struct latency_row *row = &model.order[i]->shown;

		wrong += row->count != 1000 - i || (i <= 10 && row->max_ns != (1000 - i) * 1000);
		unmeasured += !row->max_ns;
	}
	is_u64(wrong, 0, "in their order, with latency where they can be seen");
	is_u64(unmeasured, 989, "and not elsewhere");
	top_model__move(&model, 500);
	arrange();
	is_u64(top_model__chosen(&model)->shown.max_ns, 500000, "also where the choice went");
	ok(model.order[490]->shown.p99_ns && model.order[510]->shown.p99_ns, "and around it");
	while (model.column != 6)
		top_model__sort_next(&model);
	arrange();
	is_u64(model.order[999]->shown.max_ns, 1000, "an order by latency measures all");
	is_u64(model.all.count, 500500, "the sum has every command");
	is_u64(model.all.max_ns, 1000000, "and the largest latency");
	top_model__leave(&model);
	arrange();
	is_u64(model.order[0]->shown.count, 500500, "so has the device");
	is_u64(model.order[0]->shown.p50_ns / 10000, model.all.p50_ns / 10000,
	       "with the latency of all");
	free(hists);
}

int main(void)
{
	test_sums();
	test_order();
	test_move();
	test_place();
	test_filter();
	test_filter_all();
	test_next_key();
	test_key_order();
	test_in_flight();
	test_history();
	test_keys();
	test_lines();
	top_model__free(&model);
	return done_testing();
}
