/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slowest.c: are those that are kept the slowest, in order, the first of equal ones first? A
 * thousand I/Os, many of them equally slow, are compared with all of them sorted; ASan sees to the
 * memory.
 */
#include <malloc.h>
#include <stdlib.h>
#include "analyse/slowest.h"
#include "tap.h"

enum { NR_IOS = 1009, NR_DEVICES = 5 };

struct whole {
	struct io_record record;
	struct io_stages stages;
};

/* An I/O whose number is in its record. */
static struct slow_io *add(struct slowest *s, uint64_t ns, int32_t device, uint32_t seq)
{
	const struct io_record record = { .seq = seq };
	struct slow_io *io;
	int err;

	io = slowest__add(s, ns, device, &record, &err);
	if (err)
		printf("Bail out! no memory\n");
	return io;
}

/* "7 3 1": which are kept, slowest first. */
static const char *kept(const struct slowest *s)
{
	static char text[256];
	size_t len = 0;

	text[0] = 0;
	for (size_t i = 0; i < s->nr && len < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%u", i ? " " : "",
					s->ios[i].record.seq);
	return text;
}

static void check_order(void)
{
	struct slowest s = { .most = 3 };

	is_str(kept(&s), "", "nothing yet");
	add(&s, 20, 0, 1);
	add(&s, 30, 0, 2);
	add(&s, 10, 0, 3);
	is_str(kept(&s), "2 1 3", "the slowest first");
	ok(!add(&s, 5, 0, 4), "a faster one than all is not kept");
	is_str(kept(&s), "2 1 3", "and takes nobody's place");
	add(&s, 25, 0, 5);
	is_str(kept(&s), "2 5 1", "a slower one goes to its place, the fastest goes");
	add(&s, 40, 0, 6);
	is_str(kept(&s), "6 2 5", "the slowest of all goes first");
	is_u64(s.ios[1].ns, 30, "with its time");
	slowest__free(&s);
}

static void check_ties(void)
{
	struct slowest s = { .most = 3 };

	add(&s, 20, 0, 1);
	add(&s, 20, 0, 2);
	add(&s, 30, 0, 3);
	is_str(kept(&s), "3 1 2", "of equal ones the first that came is first");
	ok(!add(&s, 20, 0, 4), "one as slow as the last is not kept");
	add(&s, 30, 0, 5);
	is_str(kept(&s), "3 5 1", "the later of equal ones has to go");
	ok(add(&s, 21, 0, 6), "one that is slower by 1 ns is kept");
	slowest__free(&s);
}

static void check_one(void)
{
	struct slowest s = { .most = 1 };

	ok(add(&s, 0, 0, 1), "of one: the first is kept, however fast it is");
	is_str(kept(&s), "1", "it is the slowest");
	ok(!add(&s, 0, 0, 2), "another as slow is not");
	add(&s, 1, 0, 3);
	is_str(kept(&s), "3", "a slower one is, alone");
	add(&s, UINT64_MAX, 0, 4);
	ok(!add(&s, UINT64_MAX, 0, 5), "nothing is slower than the longest time");
	is_u64(s.nr, 1, "one, still");
	slowest__free(&s);
}

static void check_none(void)
{
	struct slowest s = { .most = 0 };

	ok(!add(&s, 1, 0, 1), "of none: none is kept");
	slowest__free(&s);
	ok(!s.ios && !s.nr, "nothing is left of nothing");
}

static void check_each_device(void)
{
	struct slowest s = { .most = 2, .each_device = true };

	add(&s, 100, 0, 1);
	add(&s, 110, 0, 2);
	add(&s, 1, 1, 3);
	add(&s, 2, -1, 4);
	is_str(kept(&s), "2 1 4 3", "each device has its own, all are in one order");
	ok(!add(&s, 100, 0, 8), "one without room does not take what is no slower");
	ok(add(&s, 0, 1, 5), "one with room takes any");
	ok(add(&s, 3, 1, 5), "and then what is slower than the fastest");
	add(&s, 4, 1, 6);
	is_str(kept(&s), "2 1 6 5 4", "its own fastest goes, not another's");
	add(&s, 105, 0, 7);
	is_str(kept(&s), "2 7 6 5 4", "and the same where all are slow");
	slowest__free(&s);
}

static void check_copies(void)
{
	struct whole w = { .record = { .seq = 1, .flags = RECORD_STAGES, .comm = "fio" },
			   .stages = { .queued_ns = 77, .depth = 5 } };
	struct slowest s = { .most = 2 };
	struct slow_io *io;
	int err;

	io = slowest__add(&s, 9, 4, &w.record, &err);
	memset(&w, 0xff, sizeof(w));
	ok(!err && io == &s.ios[0], "its place is told");
	is_str(io->record.comm, "fio", "the record is its own");
	is_u64(io->stages.queued_ns, 77, "so are the stages");
	is_u64(io->stages.depth, 5, "to the last");
	is_u64((uint64_t)io->device, 4, "its device");
	ok(!io->kernel_stack && !io->user_stack, "it has no stacks as long as nobody gave it any");
	io = add(&s, 10, 0, 2);
	ok(!io->stages.queued_ns && !io->stages.depth, "a record without stages has zeros");
	slowest__free(&s);
}

static void check_stacks(void)
{
	struct slowest s = { .most = 2 };
	const char *names[] = { "read;a", "read;b", "read;c", "read;d" };
	struct slow_io *io;

	for (uint32_t i = 0; i < 4; i++) {
		io = add(&s, 10 + i, 0, i);
		io->kernel_stack = names[i];
		io->user_stack = i % 2 ? "main" : NULL;
	}
	is_str(s.ios[0].kernel_stack, "read;d", "a stack moves with its I/O");
	is_str(s.ios[1].kernel_stack, "read;c", "and so does the next");
	is_str(s.ios[0].user_stack, "main", "that of the process too");
	ok(!s.ios[1].user_stack, "none stays none");
	slowest__free(&s);
	ok(!s.ios && !s.nr && !s.room, "nothing is left after free");
	slowest__free(&s);
}

/* With sanitizers the allocator does not count, and the end of the program tells a leak. */
static void check_below(void)
{
	const size_t bytes = 64 << 10, before = mallinfo2().uordblks;
	struct slowest s = { .most = 2 };

	for (uint32_t i = 0; i < 100; i++) {
		struct slow_io *io = add(&s, 10 + i, 0, i);

		io->below = calloc(1, bytes);
		if (io->below)
			snprintf(io->below, bytes, "below %u", i);
	}
	is_str(s.ios[0].below, "below 99", "what became of an I/O moves with it");
	is_str(s.ios[1].below, "below 98", "and with the next");
	ok(mallinfo2().uordblks < before + 4 * bytes, "of those that had to go it is given back");
	slowest__free(&s);
	ok(mallinfo2().uordblks < before + bytes, "and in the end of all");
}

/* ---- against all of them, sorted ---- */

struct plain {
	uint64_t ns;
	int32_t device;
	uint32_t seq;
};

static int plain_compare(const void *a, const void *b)
{
	const struct plain *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void check_all(size_t most, bool each_device)
{
	struct slowest s = { .most = most, .each_device = each_device };
	static struct plain all[NR_IOS];
	size_t taken[NR_DEVICES] = { 0 }, at = 0, wrong = 0;
	uint32_t state = 7;

	for (uint32_t i = 0; i < NR_IOS; i++) {
		all[i] = (struct plain){ next_random(&state) % 97,
					 (int32_t)(next_random(&state) % NR_DEVICES), i };
		add(&s, all[i].ns, all[i].device, i);
	}
	qsort(all, NR_IOS, sizeof(all[0]), plain_compare);
	for (uint32_t i = 0; i < NR_IOS; i++) {
		if (taken[each_device ? all[i].device : 0]++ >= most)
			continue;
		wrong += at >= s.nr || s.ios[at].record.seq != all[i].seq ||
			 s.ios[at].ns != all[i].ns || s.ios[at].device != all[i].device;
		at++;
	}
	is_u64(wrong, 0, "every one of them is the one that sorting all would give");
	is_u64(s.nr, at, "and there is no other");
	slowest__free(&s);
}

int main(void)
{
	check_order();
	check_ties();
	check_one();
	check_none();
	check_each_device();
	check_copies();
	check_stacks();
	check_below();
	check_all(1, false);
	check_all(10, false);
	check_all(NR_IOS + 1, false);
	check_all(1, true);
	check_all(10, true);
	return done_testing();
}
