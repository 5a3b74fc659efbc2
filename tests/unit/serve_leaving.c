/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_leaving.c: is a device that goes in one more scrape and in no further one, and is it left
 * after that, or after five minutes without a scrape?
 */
#include "serve/leaving.h"
#include "tap.h"

static const uint64_t second = 1000000000;
static struct device all[40];
static struct device_list list = { .devices = all, .nr = 2 };

static void test_scraped(void)
{
	struct leaving l = { 0 };

	ok(!leaving__has_left(&l, 1) && !leaving__has_ended(&l, 0),
	   "nothing is known: nothing left");
	ok(!leaving__look(&l, &list, 5 * second) && !leaving__settle(&l, 5 * second),
	   "two devices: none goes");
	leaving__scrape(&l);
	all[1].gone = true;
	leaving__look(&l, &list, 6 * second);
	ok(!leaving__has_ended(&l, 2) && !leaving__settle(&l, 7 * second),
	   "one goes: a scraper has to see it");
	leaving__scrape(&l);
	ok(!leaving__has_ended(&l, 2), "its last counts are in one scrape");
	leaving__look(&l, &list, 7 * second);
	leaving__scrape(&l);
	ok(leaving__has_ended(&l, 2) && !leaving__has_left(&l, 2), "and in none after it");
	ok(leaving__settle(&l, 8 * second), "the second ends: it leaves");
	ok(leaving__has_left(&l, 2) && leaving__has_ended(&l, 2), "for all");
	ok(!leaving__settle(&l, 9 * second), "once");
	leaving__scrape(&l);
	leaving__look(&l, &list, 10 * second);
	ok(leaving__has_left(&l, 2), "it stays away");
	ok(!leaving__has_left(&l, 1) && !leaving__has_ended(&l, 1), "the other one is there");
	all[1].gone = false;
	leaving__look(&l, &list, 11 * second);
	ok(!leaving__has_left(&l, 2) && !leaving__has_ended(&l, 2), "it returns");
	leaving__free(&l);
}

/* One scrape in this second: it leaves at its end. */
static void test_one_scrape(void)
{
	struct leaving l = { 0 };

	all[0].gone = true;
	leaving__look(&l, &list, second);
	leaving__scrape(&l);
	ok(leaving__settle(&l, second + 1) && leaving__has_left(&l, 1) && !leaving__has_left(&l, 2),
	   "a scrape had it: it leaves when the second ends");
	all[0].gone = false;
	leaving__free(&l);
}

static void test_without_scrapes(void)
{
	struct leaving l = { 0 };

	list.nr = 40;
	all[39].gone = true;
	leaving__look(&l, &list, second);
	ok(!leaving__settle(&l, 300 * second), "nobody scrapes: it is shown");
	ok(leaving__settle(&l, 301 * second) && leaving__has_left(&l, 40), "for five minutes");
	leaving__free(&l);
}

int main(void)
{
	test_scraped();
	test_one_scrape();
	test_without_scrapes();
	return done_testing();
}
