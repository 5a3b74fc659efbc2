/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * top_browse.c: does `top -r` stay inside of its capture, whatever keys come and whatever times the
 * capture has, and does it read no more than it needs?
 */
#include "screen/top_browse.h"
#include "tap.h"

enum { SECOND = 1000000000 };

static struct top_browse browse;
static char text[TOP_BROWSE_TEXT];

/* A capture of 10.5 s that begins at 100 s. */
static void begin(void)
{
	browse = (struct top_browse){ .start_ns = 100ULL * SECOND };
	top_browse__begin(&browse, 100ULL * SECOND, 110ULL * SECOND + SECOND / 2, SECOND);
}

static const char *shown(void)
{
	return top_browse__text(&browse, text);
}

static void test_steps(void)
{
	begin();
	is_str(shown(), "0.000 s to 1.000 s of 10.500 s", "the first window");
	ok(!top_browse__step(&browse, -1), "nothing is before it");
	ok(top_browse__step(&browse, 1), "a step");
	is_str(shown(), "1.000 s to 2.000 s of 10.500 s", "the next window");
	top_browse__to_last(&browse);
	is_str(shown(), "10.000 s to 10.500 s of 10.500 s", "the last window ends with the data");
	ok(!top_browse__step(&browse, 1), "nothing is after it");
	browse.last_ns = 110ULL * SECOND;
	top_browse__to_last(&browse);
	is_str(shown(), "9.000 s to 10.000 s of 10.000 s", "no window is empty at the end");
	ok(!top_browse__step(&browse, 1), "nor does a step reach one");
	browse.at_ns = 100ULL * SECOND + 300;
	top_browse__step(&browse, -1);
	is_u64(browse.at_ns, 100ULL * SECOND, "a step back stops at the start");
}

static void test_lengths(void)
{
	begin();
	ok(top_browse__lengthen(&browse), "longer");
	is_str(shown(), "0.000 s to 2.000 s of 10.500 s", "twice as long");
	while (top_browse__lengthen(&browse))
		;
	is_u64(browse.window_ns / SECOND, 16, "at most the whole capture");
	while (top_browse__shorten(&browse))
		;
	ok(browse.window_ns >= 1000, "at least a microsecond");
	ok(top_browse__step(&browse, 1), "it moves");
	is_u64((uint64_t)(shown()[10] == ' '), 0, "nanoseconds are shown where they differ");
}

static void test_reads(void)
{
	begin();
	ok(top_browse__has_moved(&browse), "the first window is not on the screen yet");
	is_u64(top_browse__from(&browse, 128), browse.at_ns, "it is read alone");
	top_browse__visited(&browse, browse.at_ns, 0);
	ok(!top_browse__has_moved(&browse), "then it is");
	top_browse__step(&browse, 1);
	ok(top_browse__has_moved(&browse) && top_browse__follows(&browse), "a step follows");
	top_browse__visited(&browse, browse.at_ns, 0);
	top_browse__to_last(&browse);
	ok(!top_browse__follows(&browse), "a jump does not");
	is_u64(top_browse__from(&browse, 128), browse.first_ns, "what is before it is read");
	is_u64(top_browse__from(&browse, 4), browse.at_ns - 3ULL * SECOND, "as far as it is shown");
	browse.cost = 0.1;
	is_u64(top_browse__from(&browse, 128), browse.at_ns - 2ULL * SECOND, "and as time allows");
	browse.cost = 10;
	is_u64(top_browse__from(&browse, 128), browse.at_ns, "or not at all");
}

/* A file may say anything. */
static void test_hostile(void)
{
	begin();
	browse.first_ns = browse.at_ns = browse.start_ns = 0;
	browse.last_ns = UINT64_MAX;
	top_browse__to_last(&browse);
	ok(UINT64_MAX - browse.at_ns <= SECOND, "the end of time is a window");
	ok(!top_browse__step(&browse, 1), "which nothing follows");
	ok(strlen(shown()) < TOP_BROWSE_TEXT, "its time fits");
	browse.first_ns = browse.at_ns = browse.last_ns = 7;
	top_browse__to_last(&browse);
	is_u64(browse.at_ns, 7, "an empty capture has one window");
	ok(!top_browse__step(&browse, 1) && !top_browse__step(&browse, -1), "and no other");
}

int main(void)
{
	test_steps();
	test_lengths();
	test_reads();
	test_hostile();
	return done_testing();
}
