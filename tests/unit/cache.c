/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.c: rows of the page cache: are intervals differences, keys that come twice one row, rows in
 * order, and does the ledger notice what does not add up?
 */
#include "analyse/cache.h"
#include "tap.h"

static const struct cache_tags reader = { .pid = 7, .op = CACHE_READ };
static const struct cache_tags writer = { .pid = 8, .op = CACHE_WRITE };

static void counts_of(uint64_t n[NR_CACHE_COUNTS], uint64_t hits, uint64_t ahead, uint64_t misses)
{
	memset(n, 0, NR_CACHE_COUNTS * sizeof(n[0]));
	n[CACHE_ACCESSES] = hits + ahead + misses;
	n[CACHE_HITS] = hits + 2; /* two turned out to be misses */
	n[CACHE_HITS_BACK] = 2;
	n[CACHE_RA_HITS] = ahead;
	n[CACHE_MISSES] = misses;
	n[CACHE_ADDED] = misses + 10;
	n[CACHE_DEMANDED] = misses;
	n[CACHE_RA] = 10;
}

static void test_intervals(void)
{
	uint64_t n[NR_CACHE_COUNTS];
	struct cache_table t = { 0 };
	struct cache_sums s;

	cache_table__begin(&t);
	counts_of(n, 100, 20, 3);
	ok(!cache_table__add(&t, &reader, n) && !cache_table__add(&t, &reader, n),
	   "a key that has two numbers");
	is_u64(t.nr, 1, "is one row");
	cache_sum__take(&t.sums[0], false, &s);
	is_u64(s.hits, 200, "with the sum of both");
	is_u64(s.accesses, s.hits + s.ra_hits + s.misses, "accesses are hits, ra_hits and misses");
	cache_table__begin(&t);
	counts_of(n, 300, 20, 4);
	cache_table__add(&t, &reader, n);
	cache_sum__take(&t.sums[0], false, &s);
	is_u64(s.hits, 100, "an interval is the difference to the last one");
	cache_sum__take(&t.sums[0], true, &s);
	is_u64(s.hits, 300, "the whole is not");
	ok(cache_sums__hit_percent(&s) > 98.7 && cache_sums__hit_percent(&s) < 98.8, "320 of 324");
	cache_sum__take(&t.total, true, &s);
	is_u64(s.hits, 300, "the total has it, too");
	ok(__builtin_isnan(cache_sums__hit_percent(&(struct cache_sums){ 0 })),
	   "nothing asked is no ratio");
	cache_table__free(&t);
}

/* What a capture tells apart, and the view does not. */
static void test_mask(void)
{
	const struct cache_tags all = {
		.inode = 1,
		.cgroup = 2,
		.comm = "dd",
		.dev = 3,
		.pid = 4,
		.op = CACHE_READ,
	};
	struct cache_tags tags = all;

	cache_tags__mask(&tags, (1u << NR_CACHE_BY) - 1);
	ok(!memcmp(&tags, &all, sizeof(all)), "asked for all: as it is");
	cache_tags__mask(&tags, 1u << CACHE_BY_FILE | 1u << CACHE_BY_COMM);
	ok(tags.inode == 1 && tags.dev == 3 && !strcmp(tags.comm, "dd"), "a file has its device");
	ok(!tags.cgroup && !tags.pid && tags.op == -1, "the rest is no longer told apart");
	tags = (struct cache_tags){ .op = -1, .other = true };
	cache_tags__mask(&tags, 1u << CACHE_BY_OP);
	ok(tags.other, "what had no room stays so");
	cache_tags__mask(&tags, 0);
	ok(!tags.other, "but not if nothing is told apart");
}

/* Who did as much comes in the order of names, however they came. */
static void test_ties(void)
{
	const struct cache_tags names[] = { { .comm = "b", .pid = 1 },
					    { .comm = "a", .pid = 2 },
					    { .comm = "a", .pid = 1, .op = 1 },
					    { .comm = "a", .pid = 1, .op = 0 } };
	const struct cache_sum *order[4];
	uint64_t n[NR_CACHE_COUNTS];

	counts_of(n, 1, 0, 1);
	for (int from = 0; from < 4; from++) {
		struct cache_table t = { 0 };

		cache_table__begin(&t);
		for (int i = 0; i < 4; i++)
			cache_table__add(&t, &names[(from + i) % 4], n);
		cache_table__sort(&t, CACHE_SORT_MISSES, true, order);
		ok(!order[0]->tags.op && order[1]->tags.op == 1 && order[2]->tags.pid == 2 &&
			   order[3]->tags.comm[0] == 'b',
		   "equal rows, from %d on", from);
		cache_table__free(&t);
	}
}

static void test_order(void)
{
	uint64_t n[NR_CACHE_COUNTS];
	const struct cache_sum *order[3];
	struct cache_table t = { 0 };
	struct cache_tags idle = { .pid = 9 };

	cache_table__begin(&t);
	counts_of(n, 100, 0, 3);
	cache_table__add(&t, &reader, n);
	counts_of(n, 10, 0, 5);
	cache_table__add(&t, &writer, n);
	memset(n, 0, sizeof(n));
	cache_table__add(&t, &idle, n);
	is_u64(cache_table__sort(&t, CACHE_SORT_MISSES, true, order), 2,
	       "a row of nothing is left out");
	is_u64(order[0]->tags.pid, 8, "most misses first");
	cache_table__sort(&t, CACHE_SORT_HITS, true, order);
	is_u64(order[0]->tags.pid, 7, "or most hits");
	cache_table__sort(&t, CACHE_SORT_EVICTED, true, order);
	is_u64(order[0]->tags.pid, 7, "else whoever did most");
	cache_table__free(&t);
}

static void test_ledger(void)
{
	struct cache_ledger l = { .sums = { .accesses = 10,
					    .hits = 5,
					    .ra_hits = 3,
					    .misses = 2,
					    .added = 9,
					    .demanded = 2,
					    .readahead = 6,
					    .other = 1,
					    .removed = 12,
					    .evicted = 11,
					    .truncated = 1 } };

	cache_ledger__settle(&l);
	is_u64(l.unaccounted, 0, "what adds up");
	ok(l.grown == -3, "9 came, 12 left");
	is_u64(l.lost, 0, "nothing is lost");
	l.sums.misses = 1;
	l.sums.evicted = 12;
	l.losses.unclosed = 4;
	l.losses.ra_lost = 7;
	cache_ledger__settle(&l);
	is_u64(l.unaccounted, 2, "an access and a page do not");
	is_u64(l.lost, 4, "ends that were not seen are lost, a hit of another kind is not");
}

/* Of several captures: what all tell, and what any lacks. */
static void test_captures(void)
{
	struct cache_about about = { CACHE_BY_FENTRY, "shmem_fault", 4096, 100, 150, false };
	const struct cache_about other = {
		CACHE_BY_KPROBES, "fault, shmem_fault, filemap_fault", 4096, 7, UINT64_MAX, true
	};
	struct cache_losses losses = { .no_task = 1, .events = 5 };

	cache_about__add(&about, &other);
	is_u64(about.method, CACHE_BY_KPROBES, "the method that tells less");
	is_str(about.unseen, "shmem_fault, fault, filemap_fault",
	       "each function once, no part of one");
	is_u64(about.cached_before, 107, "pages of both");
	is_u64(about.cached_after, UINT64_MAX, "what one does not know is not known");
	ok(about.filtered, "a filter of one");
	cache_losses__add(&losses, &(struct cache_losses){ 1, 2, 3, 4, 5, 6, 7, 8, 9 });
	ok(losses.no_task == 2 && losses.no_key == 2 && losses.unclosed == 3 &&
		   losses.ra_lost == 4 && losses.no_file == 5 && losses.skipped == 6 &&
		   losses.events == 12 && losses.events_lost == 8 && losses.no_cause == 9,
	   "losses of both");
}

/* The same keys on two machines are two rows. */
static void test_hosts(void)
{
	struct cache_tags seven = reader, eight = reader;
	uint64_t n[NR_CACHE_COUNTS];
	struct cache_table t = { 0 };

	seven.host = 1;
	eight.host = 2;
	counts_of(n, 100, 20, 3);
	cache_tags__mask(&seven, 0);
	is_u64(seven.host, 1, "a mask leaves the host");
	seven.pid = reader.pid;
	seven.op = reader.op;
	cache_table__begin(&t);
	ok(!cache_table__add(&t, &seven, n) && !cache_table__add(&t, &eight, n), "of two hosts");
	is_u64(t.nr, 2, "each has its row");
	cache_table__free(&t);
}

int main(void)
{
	test_intervals();
	test_mask();
	test_ties();
	test_order();
	test_ledger();
	test_captures();
	test_hosts();
	return done_testing();
}
