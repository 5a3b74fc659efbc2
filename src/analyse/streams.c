/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/streams.h"

/* ---- lists: a place is in one of them ---- */

static struct streams_list *streams_list_of(struct streams *s, uint32_t nr)
{
	return s->places[nr].length == 1 ? &s->young : &s->old;
}

static void streams_unlink(struct streams *s, uint32_t nr)
{
	struct streams_list *list = streams_list_of(s, nr);
	const struct stream *place = &s->places[nr];

	if (place->before)
		s->places[place->before - 1].after = place->after;
	else
		list->first = place->after;
	if (place->after)
		s->places[place->after - 1].before = place->before;
	else
		list->last = place->before;
}

static void streams_append(struct streams *s, uint32_t nr)
{
	struct streams_list *list = streams_list_of(s, nr);

	s->places[nr].before = list->last;
	s->places[nr].after = 0;
	if (list->last)
		s->places[list->last - 1].after = (uint8_t)(nr + 1);
	else
		list->first = (uint8_t)(nr + 1);
	list->last = (uint8_t)(nr + 1);
}

/* ---- where they continue ---- */

static uint8_t *streams_expected(struct streams *s, uint64_t byte)
{
	return &s->expected[byte * 0x9e3779b97f4a7c15ULL >> 54];
}

static void streams_expect(struct streams *s, uint32_t nr, uint64_t byte)
{
	_Static_assert(STREAMS_HASHES == 1 << 10, "the hash has 64 - 54 bits");
	s->next_byte[nr] = byte;
	++*streams_expected(s, byte);
}

/* The first place that expects this byte; STREAMS: none. */
static uint32_t streams_find(struct streams *s, uint64_t byte)
{
	uint32_t i = 0;

	if (!*streams_expected(s, byte)) /* most random accesses */
		return STREAMS;
	while (i < s->nr && s->next_byte[i] != byte)
		i++;
	return i < s->nr ? i : STREAMS;
}

/* ---- accesses ---- */

/* The longest idle stream; among young ones only, if there are enough. All places are taken. */
static uint32_t streams_oldest(const struct streams *s)
{
	const uint32_t young = s->young.first - 1u, old = s->old.first - 1u;

	if (!s->old.first || s->nr_young >= STREAMS_YOUNG)
		return young;
	return s->young.first && s->places[young].used < s->places[old].used ? young : old;
}

static uint32_t streams_free_place(struct streams *s)
{
	uint32_t nr = s->nr;

	if (s->nr < STREAMS)
		return s->nr++;
	nr = streams_oldest(s);
	streams_unlink(s, nr);
	s->nr_young -= s->places[nr].length == 1;
	--*streams_expected(s, s->next_byte[nr]);
	return nr;
}

static void streams_begin(struct streams *s, uint64_t next_byte)
{
	uint32_t nr = streams_free_place(s);

	s->places[nr] = (struct stream){ .used = s->accesses, .length = 1 };
	streams_append(s, nr);
	streams_expect(s, nr, next_byte);
	s->nr_young++;
}

/* A stream that alternates with n others finds that n moved since its last access. */
static void streams_count_beside(struct streams *s, uint32_t nr)
{
	uint32_t moved = 1;

	for (uint8_t at = s->old.last; at && s->places[at - 1].used > s->places[nr].used;
	     at = s->places[at - 1].before)
		moved += s->places[at - 1].length >= STREAMS_GROWN;
	s->beside[moved < STREAMS ? moved : STREAMS]++;
}

static void streams_continue(struct streams *s, uint32_t nr, uint64_t next_byte)
{
	struct stream *stream = &s->places[nr];

	s->nr_young -= stream->length == 1;
	streams_unlink(s, nr);
	stream->length++;
	if (stream->length >= STREAMS_GROWN)
		streams_count_beside(s, nr);
	stream->used = s->accesses;
	streams_append(s, nr);
	--*streams_expected(s, s->next_byte[nr]);
	streams_expect(s, nr, next_byte);
}

bool streams__access(struct streams *streams, uint64_t from_byte, uint64_t bytes)
{
	uint32_t nr = streams_find(streams, from_byte);

	streams->accesses++;
	if (nr == STREAMS)
		streams_begin(streams, from_byte + bytes);
	else
		streams_continue(streams, nr, from_byte + bytes);
	return nr != STREAMS;
}

uint32_t streams__at_once(const struct streams *streams)
{
	uint64_t all = 0, seen = 0;
	uint32_t nr = 0;

	for (uint32_t i = 1; i <= STREAMS; i++)
		all += streams->beside[i];
	if (100 * all < STREAMS_LEAST * streams->accesses)
		return 0;
	while (all && nr < STREAMS && (double)seen < (double)all * STREAMS_MOST_OF / 100)
		seen += streams->beside[++nr];
	return nr;
}
