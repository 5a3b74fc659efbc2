/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * streams.c: does an access continue a stream? Random accesses, streams of any number that
 * alternate, and both at once are compared with a table that is searched plainly, access by access,
 * up to what it says about streams at once.
 */
#include <stdlib.h>
#include <string.h>
#include "analyse/streams.h"
#include "draw.h"
#include "tap.h"

enum { NR = 20011 };

/* The same table, without lists and hashes. */
struct plain {
	struct {
		uint64_t next_byte, used, length;
	} places[STREAMS];
	size_t nr;
	uint64_t accesses, beside[STREAMS + 1];
};

static size_t plain_oldest(const struct plain *p)
{
	size_t nr_young = 0, oldest = STREAMS;

	for (size_t i = 0; i < STREAMS; i++)
		nr_young += p->places[i].length == 1;
	for (size_t i = 0; i < STREAMS; i++)
		if ((nr_young < STREAMS_YOUNG || p->places[i].length == 1) &&
		    (oldest == STREAMS || p->places[i].used < p->places[oldest].used))
			oldest = i;
	return oldest;
}

static void plain_count_beside(struct plain *p, uint64_t used)
{
	size_t moved = 1;

	for (size_t i = 0; i < p->nr; i++)
		moved += p->places[i].length >= STREAMS_GROWN && p->places[i].used > used;
	p->beside[moved < STREAMS ? moved : STREAMS]++;
}

static bool plain_access(struct plain *p, uint64_t from_byte, uint64_t bytes)
{
	size_t at = 0;
	bool found;

	while (at < p->nr && p->places[at].next_byte != from_byte)
		at++;
	found = at < p->nr;
	p->accesses++;
	if (!found) {
		at = p->nr < STREAMS ? p->nr++ : plain_oldest(p);
		p->places[at].length = 0;
	}
	if (++p->places[at].length >= STREAMS_GROWN)
		plain_count_beside(p, p->places[at].used);
	p->places[at].used = p->accesses;
	p->places[at].next_byte = from_byte + bytes;
	return found;
}

/* So many streams, of which one is drawn each time; of 100 accesses so many are random. */
static void check(size_t nr_streams, uint64_t percent_random, uint64_t room, const char *name)
{
	uint64_t next[2 * STREAMS], nr_alike = 0, nr_continued = 0;
	struct streams *s = calloc(1, sizeof(*s));
	struct plain *p = calloc(1, sizeof(*p));

	for (size_t i = 0; i < nr_streams; i++)
		next[i] = (i + 1) << 40;
	for (size_t i = 0; s && p && i < NR; i++) {
		uint64_t *stream = &next[draw(nr_streams)], from = *stream;
		bool is, should;

		if (draw(100) < percent_random)
			from = draw(room) * 4096;
		else
			*stream += 4096;
		is = streams__access(s, from, 4096);
		should = plain_access(p, from, 4096);
		nr_alike += is == should;
		nr_continued += should;
	}
	is_u64(nr_alike, NR, name);
	ok(s && p && !memcmp(s->beside, p->beside, sizeof(p->beside)),
	   "and as many others moved: %s", name);
	ok(percent_random == 100 || nr_continued > NR / 100, "some continue: %s", name);
	free(s);
	free(p);
}

int main(void)
{
	check(1, 0, 1, "one stream");
	check(1, 50, 1 << 28, "one stream among random accesses");
	check(8, 50, 1 << 28, "eight among random accesses");
	check(STREAMS, 0, 1, "as many as there are places");
	check(2 * STREAMS, 30, 1 << 28, "more than there are places");
	check(1, 100, 1 << 28, "none");
	check(1, 100, 300, "random accesses that often continue others");
	check(3, 80, 64, "the same places over and over");
	return done_testing();
}
