/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * breakdown.c: does every part land in exactly the row that --by asks for? All masks are tried
 * against pairs of tags that differ in one thing, and thousands of rows against plain sums.
 */
#include <stdlib.h>
#include "analyse/breakdown.h"
#include "draw.h"
#include "tap.h"
#include "wire/io_tables.h"

enum { NR_TAGS = 5000 };

static const struct io_tags full_tags = {
	.cgroup = 1ULL << 40 | 7,
	.inode = 12,
	.file_dev = 8 << 20 | 1,
	.comm = "fio",
	.device = 3,
	.path = 4,
	.ctrl = 1,
	.nsid = 2,
	.pid = 4711,
	.queue = 5,
	.cpu = 6,
	.unit = 1ULL << 41 | 3,
	.container = 1ULL << 42 | 9,
	.host = 21,
	.kind = IO_BLOCK,
	.op = 1,
	.size_class = 13,
};

/* The same, but for one thing. */
static struct io_tags changed_tags(enum breakdown_by by)
{
	struct io_tags tags = full_tags;

	switch (by) {
	case BY_CTRL: tags.ctrl++; break;
	case BY_NS: tags.nsid++; break;
	case BY_DEV: tags.device++; break;
	case BY_OP: tags.op++; break;
	case BY_SIZE: tags.size_class++; break;
	case BY_QUEUE: tags.queue++; break;
	case BY_CPU: tags.cpu++; break;
	case BY_PID: tags.pid++; break;
	case BY_COMM: tags.comm[15] = 'x'; break;
	case BY_CGROUP: tags.cgroup += 1ULL << 50; break;
	case BY_FILE: tags.inode += 1ULL << 50; break;
	case BY_PATH: tags.path++; break;
	case BY_UNIT: tags.unit += 1ULL << 50; break;
	case BY_CONTAINER: tags.container += 1ULL << 50; break;
	case BY_HOST: tags.host++; break;
	default: break;
	}
	return tags;
}

static struct hist part; /* large: not on the stack */

static void set_part(uint64_t ns, uint64_t bytes)
{
	memset(&part, 0, sizeof(part));
	hist__add(&part, ns, bytes);
}

static void add(struct breakdown *b, const struct io_tags *tags)
{
	if (breakdown__add(b, tags, &part))
		printf("Bail out! no memory\n");
}

/* A namespace's id means nothing without its controller: ns keeps both. */
static bool mask_keeps(uint32_t mask, enum breakdown_by by)
{
	return mask >> by & 1 || (by == BY_CTRL && mask >> BY_NS & 1);
}

/* One row per thing that the mask tells apart, and the first row holds all the others. */
static bool mask_is_right(uint32_t mask)
{
	struct breakdown b;
	uint64_t kept = 0;
	bool good;

	breakdown__init(&b, mask);
	add(&b, &full_tags);
	for (int by = 0; by < NR_BY; by++) {
		struct io_tags tags = changed_tags(by);

		kept += mask_keeps(mask, by);
		add(&b, &tags);
	}
	good = b.nr == 1 + kept && b.rows[0]->total.count == 1 + NR_BY - kept;
	breakdown__free(&b);
	return good;
}

static void check_masks(void)
{
	uint64_t wrong = 0;

	set_part(1000, 512);
	for (uint32_t mask = 0; mask < 1u << NR_BY; mask++)
		if (!mask_is_right(mask) && !wrong++)
			printf("# mask %#x\n", mask);
	is_u64(wrong, 0, "each of the 4,096 masks tells apart what it names and nothing else");
}

/* What a single word of --by leaves of the tags. */
static void check_projection(enum breakdown_by by, const struct io_tags *want, const char *what)
{
	struct breakdown b;

	breakdown__init(&b, 1u << by);
	add(&b, &full_tags);
	ok(!memcmp(&b.rows[0]->tags, want, sizeof(*want)), "%s", what);
	breakdown__free(&b);
}

static void check_projections(void)
{
	static const struct {
		struct io_tags tags;
		const char *what;
	} wants[NR_BY] = {
		[BY_CTRL] = { { .ctrl = 1 }, "ctrl" },
		[BY_NS] = { { .ctrl = 1, .nsid = 2 }, "ns, with its controller" },
		[BY_DEV] = { { .device = 3 }, "dev" },
		[BY_OP] = { { .kind = IO_BLOCK, .op = 1 }, "op, with its kind" },
		[BY_SIZE] = { { .size_class = 13 }, "size" },
		[BY_QUEUE] = { { .queue = 5 }, "queue" },
		[BY_CPU] = { { .cpu = 6 }, "cpu" },
		[BY_PID] = { { .pid = 4711 }, "pid" },
		[BY_COMM] = { { .comm = "fio" }, "comm" },
		[BY_CGROUP] = { { .cgroup = 1ULL << 40 | 7 }, "cgroup" },
		[BY_PATH] = { { .path = 4 }, "path" },
		[BY_UNIT] = { { .unit = 1ULL << 41 | 3 }, "unit" },
		[BY_CONTAINER] = { { .container = 1ULL << 42 | 9 }, "container" },
		[BY_HOST] = { { .host = 21 }, "host" },
		[BY_FILE] = { { .inode = 12, .file_dev = 8 << 20 | 1 }, "file" },
	};

	set_part(1000, 512);
	for (int by = 0; by < NR_BY; by++)
		check_projection(by, &wants[by].tags, wants[by].what);
}

static void check_other(void)
{
	struct io_tags other = full_tags, kind = full_tags;
	struct breakdown b;

	other.other = 1;
	kind.kind = IO_NVME;
	breakdown__init(&b, (1u << NR_BY) - 1);
	add(&b, &full_tags);
	add(&b, &other);
	other.pid++;
	add(&b, &other);
	add(&b, &kind);
	is_u64(b.nr, 3, "the row `other` is one row, and a kind is part of an operation");
	is_u64(b.rows[1]->total.count, 2, "with whatever found no row of its own");
	is_u64((uint64_t)b.rows[1]->tags.device + b.rows[1]->tags.pid, 0, "and without tags");
	breakdown__free(&b);
}

/* ---- many rows ---- */

static struct io_tags nth_tags(uint32_t i)
{
	struct io_tags tags = { .pid = i / 7, .device = (int32_t)(i % 7), .cgroup = i % 3 };

	return tags;
}

static bool row_is(const struct breakdown *b, uint32_t i, uint64_t count, uint64_t sum_ns)
{
	struct io_tags tags = nth_tags(i);

	return i < b->nr && !memcmp(&b->rows[i]->tags, &tags, sizeof(tags)) &&
	       b->rows[i]->total.count == count && b->rows[i]->total.sum_ns == sum_ns;
}

static void check_growth(void)
{
	struct breakdown b;
	uint64_t wrong = 0;

	breakdown__init(&b, 1u << BY_PID | 1u << BY_DEV | 1u << BY_CGROUP);
	for (uint32_t round = 1; round <= 3; round++) {
		for (uint32_t i = 0; i < NR_TAGS; i++) {
			struct io_tags tags = nth_tags(i);

			set_part(100 * i + round, 1);
			add(&b, &tags);
		}
	}
	is_u64(b.nr, NR_TAGS, "5,000 tags, 5,000 rows, however often each comes");
	for (uint32_t i = 0; i < NR_TAGS; i++)
		wrong += !row_is(&b, i, 3, 300ULL * i + 6);
	is_u64(wrong, 0, "each with its own three parts");
	ok(b.index.room >= 2 * b.nr, "the index is at most half full");
	breakdown__free(&b);
	ok(!b.rows && !b.index.cells && !b.nr, "nothing is left after free");
	breakdown__free(&b);
}

/* ---- snapshots and intervals ---- */

static struct hist cpu0, cpu1, interval;

/* Counts since the start come again with each snapshot; the maximum only if it is new. */
static void snapshot(struct breakdown *b)
{
	breakdown__begin(b);
	part = cpu0;
	add(b, &full_tags);
	part = cpu1;
	add(b, &full_tags);
	cpu0.max_ns = cpu1.max_ns = 0;
}

static void check_first_interval(struct breakdown *b)
{
	hist__add(&cpu0, 5000, 4096);
	hist__add(&cpu0, 7000, 4096);
	hist__add(&cpu1, 6000, 512);
	snapshot(b);
	is_u64(b->nr, 1, "two CPUs, one row");
	breakdown_row__interval(b->rows[0], &interval);
	is_u64(interval.count, 3, "the first interval is everything");
	is_u64(interval.bytes, 8704, "its bytes");
	is_u64(interval.max_ns, 7000, "its maximum");
	snapshot(b);
	is_u64(b->rows[0]->total.count, 3, "a second snapshot does not count again");
	is_u64(b->rows[0]->total.max_ns, 7000, "nor forget the maximum");
	breakdown_row__interval(b->rows[0], &interval);
	is_u64(interval.max_ns, 7000, "of the interval neither");
	breakdown__mark(b);
}

static void check_next_interval(struct breakdown *b)
{
	breakdown_row__interval(b->rows[0], &interval);
	is_u64(interval.count + interval.sum_ns + interval.bytes + interval.max_ns, 0,
	       "after the mark nothing has happened yet");
	hist__add(&cpu1, 2000, 100);
	hist__add(&cpu1, 3000, 100);
	snapshot(b);
	breakdown_row__interval(b->rows[0], &interval);
	is_u64(interval.count, 2, "the next interval is the difference");
	is_u64(interval.sum_ns, 5000, "its sum");
	is_u64(interval.bytes, 200, "its bytes");
	is_u64(interval.slots[hist_slot(2000)] + interval.slots[hist_slot(3000)], 2, "its buckets");
	is_u64(interval.slots[hist_slot(7000)], 0, "not those from before");
	is_u64(interval.max_ns, 3000, "and its own, smaller maximum");
	is_u64(b->rows[0]->total.max_ns, 7000, "the whole run keeps the larger");
	is_u64(b->rows[0]->total.count, 5, "and all five");
	is_u64(b->rows[0]->total.sum_ns, 23000, "with their sum");
}

static void check_intervals(void)
{
	struct breakdown b;

	breakdown__init(&b, 1u << BY_DEV);
	check_first_interval(&b);
	check_next_interval(&b);
	breakdown__free(&b);
}

/* A device that stays away for a snapshot (its rows are empty) is still a row, with nothing. */
static void check_absent(void)
{
	struct io_tags late = changed_tags(BY_DEV);
	struct breakdown b;

	set_part(1000, 1);
	breakdown__init(&b, 1u << BY_DEV);
	breakdown__begin(&b);
	add(&b, &full_tags);
	breakdown__mark(&b);
	breakdown__begin(&b);
	add(&b, &full_tags);
	add(&b, &late);
	breakdown_row__interval(b.rows[0], &interval);
	is_u64(interval.count, 0, "quiet: an empty interval");
	breakdown_row__interval(b.rows[1], &interval);
	is_u64(interval.count, 1, "a row that is new: all of it");
	breakdown__free(&b);
}

/* ---- order ---- */

static struct io_tags random_tags(void)
{
	struct io_tags tags = {
		.cgroup = draw(2) ? UINT64_MAX : draw(2),
		.device = (int32_t)draw(3),
		.ctrl = (int32_t)draw(2),
		.nsid = draw(2) ? UINT32_MAX : 1,
		.pid = draw(2) ? UINT32_MAX : 1,
		.queue = draw(2) ? UINT16_MAX : 0,
		.cpu = (uint16_t)draw(2),
		.kind = (uint8_t)draw(4),
		.op = (uint8_t)draw(256),
		.size_class = (uint8_t)draw(33),
		.other = !draw(10),
	};

	snprintf(tags.comm, sizeof(tags.comm), "%c", (int)('a' + draw(3)));
	return tags;
}

static int compare(const struct io_tags *a, const struct io_tags *b)
{
	static struct breakdown_row left, right;
	struct breakdown_row *rows[] = { &left, &right };

	left.tags = *a;
	right.tags = *b;
	return breakdown_row__compare(&rows[0], &rows[1]);
}

static void check_order_is_one(void)
{
	uint64_t wrong = 0;

	for (int i = 0; i < 100000; i++) {
		struct io_tags a = random_tags(), b = random_tags(), c = random_tags();

		wrong += compare(&a, &b) != -compare(&b, &a) || compare(&a, &a) != 0;
		wrong += !compare(&a, &b) && memcmp(&a, &b, sizeof(a));
		wrong += compare(&a, &b) < 0 && compare(&b, &c) < 0 && compare(&a, &c) >= 0;
	}
	is_u64(wrong, 0, "rows have one order, and only the same tags are equal");
}

static void check_before(struct io_tags a, struct io_tags b, const char *what)
{
	ok(compare(&a, &b) < 0 && compare(&b, &a) > 0, "%s", what);
}

static void check_order(void)
{
	check_before((struct io_tags){ .device = 1, .kind = 3, .op = 9 },
		     (struct io_tags){ .device = 2 }, "the device comes first");
	check_before((struct io_tags){ .op = 1, .size_class = 9, .pid = 9 },
		     (struct io_tags){ .op = 2 }, "then the operation");
	check_before((struct io_tags){ .op = 1, .size_class = 9 },
		     (struct io_tags){ .op = 1, .size_class = 10 }, "then the size");
	check_before((struct io_tags){ .pid = 1 }, (struct io_tags){ .pid = UINT32_MAX },
		     "large pids are not negative");
	check_before((struct io_tags){ .cgroup = 1 }, (struct io_tags){ .cgroup = UINT64_MAX },
		     "nor large cgroups");
	check_before((struct io_tags){ .comm = "dd" }, (struct io_tags){ .comm = "fio" },
		     "names by the alphabet");
	check_before((struct io_tags){ .device = 99 }, (struct io_tags){ .other = 1 },
		     "and `other` is last");
	check_order_is_one();
}

static bool is_of_device(void *arg, const struct breakdown_row *row)
{
	return row->tags.device == *(int *)arg;
}

/* A device goes: its rows go, the others keep their counts and are found. */
static void check_drop(void)
{
	struct breakdown b;
	struct io_tags tags = { 0 };
	int gone = 7;
	bool whole = true;

	breakdown__init(&b, 1u << BY_DEV | 1u << BY_OP);
	for (int i = 0; i < 2; i++)
		for (int n = 0; n < 200; n++) {
			tags.device = n % 20;
			tags.op = (uint8_t)(n / 20);
			breakdown__row(&b, &tags)->total.count += (uint64_t)n;
		}
	breakdown__drop(&b, is_of_device, &gone);
	is_u64(b.nr, 190, "ten rows of a device go");
	for (size_t i = 0; i < b.nr; i++) {
		tags = b.rows[i]->tags;
		whole &= b.rows[i]->number == i && breakdown__row(&b, &tags) == b.rows[i] &&
			 tags.device != gone &&
			 b.rows[i]->total.count == 2 * (uint64_t)(tags.op * 20 + tags.device);
	}
	ok(whole && b.nr == 190, "the others are found, with their counts");
	tags.device = gone;
	is_u64(breakdown__row(&b, &tags)->total.count, 0, "one that comes again begins at 0");
	is_u64(breakdown__row(&b, &tags)->number, 190, "behind the others");
	breakdown__free(&b);
}

int main(void)
{
	check_masks();
	check_projections();
	check_other();
	check_growth();
	check_intervals();
	check_absent();
	check_order();
	check_drop();
	return done_testing();
}
