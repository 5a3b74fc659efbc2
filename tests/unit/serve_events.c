/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve_events.c: does every reader get each event once and whole, however few bytes it takes at a
 * time? Does what is kept stay bounded, and does a reader that fell behind learn it?
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "serve/events.h"
#include "tap.h"

static char got[1 << 16];

/* All there is, this many bytes at a time; -1 if it is gone. */
static const char *read_all(const struct events *e, struct events_reader *r, size_t size)
{
	size_t len = 0;
	ssize_t more;

	while ((more = events__read(e, r, got + len, size)) > 0)
		len += (size_t)more;
	got[len] = 0;
	return more < 0 ? "gone" : got;
}

static void test_reading(void)
{
	static const char first[] = "id: r-0\nretry: 1000\ndata: one\ndata: two\n\n";
	static const char second[] = "id: r-1\nretry: 1000\ndata: three\n\n";
	struct events e = { .first = 0 };
	struct events_reader r = events__begin(&e, "r", NULL);
	char both[256];

	snprintf(both, sizeof(both), "%s%s", first, second);
	is_str(read_all(&e, &r, 100), "", "nothing yet");
	events__add(&e, "r", "one\ntwo\n");
	is_str(read_all(&e, &r, 100), first, "lines of an event");
	is_str(read_all(&e, &r, 100), "", "once");
	events__add(&e, "r", "three\n");
	is_str(read_all(&e, &r, 1), second, "byte by byte");
	r = events__begin(&e, "r", NULL);
	is_str(read_all(&e, &r, 7), both, "a new reader gets what is kept");
	r = events__begin(&e, "r", "r-0");
	is_str(read_all(&e, &r, 7), second, "one that comes back, what it lacks");
	r = events__begin(&e, "r", "r-1");
	is_str(read_all(&e, &r, 7), "", "which may be nothing");
	events__free(&e);
}

/* Names are hostile: what is no event of this run begins at the oldest. */
static void test_names(void)
{
	static const char *const odd[] = {
		"",
		"r",
		"r-",
		"r--1",
		"r-2",
		"r- 0",
		"r-0 ",
		"r-0x",
		"q-0",
		"rr-0",
		"r-+0",
		"-0",
		"r-18446744073709551616",
		"r-\xff",
		"r-1-0",
	};
	struct events e = { .first = 0 };
	struct events_reader r;

	events__add(&e, "r", "a\n");
	events__add(&e, "r", "b\n");
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		r = events__begin(&e, "r", odd[i]);
		ok(r.number == 0 && r.at == 0, "'%s' is no event of ours", odd[i]);
	}
	events__free(&e);
}

static void test_bounds(void)
{
	struct events e = { .first = 0 };
	struct events_reader slow = events__begin(&e, "r", NULL), reader;
	char byte, *large = malloc(1 << 20);

	events__add(&e, "r", "a\n");
	events__read(&e, &slow, &byte, 1);
	for (int i = 1; i <= EVENTS_MOST; i++)
		events__add(&e, "r", "b\n");
	is_u64(e.end - e.first, EVENTS_MOST, "no more than five minutes are kept");
	is_str(read_all(&e, &slow, 100), "gone", "what a slow reader was at is gone");
	reader = events__begin(&e, "r", NULL);
	is_u64(reader.number, 1, "a new one begins at the oldest");
	memset(large, 'x', (1 << 20) - 1);
	large[(1 << 20) - 1] = 0;
	for (int i = 0; i < 20; i++)
		events__add(&e, "r", large);
	ok(e.bytes <= EVENTS_MOST_BYTES && e.end - e.first == 7, "nor more than 8 MiB");
	free(large);
	events__free(&e);
	is_u64(e.bytes, 0, "all is given back");
}

int main(void)
{
	test_reading();
	test_names();
	test_bounds();
	return done_testing();
}
