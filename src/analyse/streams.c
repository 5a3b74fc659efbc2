/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/streams.h"

#include <stddef.h>

/* The longest idle stream; among young ones only, if there are enough. */
static struct stream *streams_oldest(struct streams *s, bool young)
{
	struct stream *oldest = NULL;

	for (uint32_t i = 0; i < s->nr; i++) {
		struct stream *place = &s->places[i];

		if ((!young || place->length == 1) && (!oldest || place->used < oldest->used))
			oldest = place;
	}
	return oldest;
}

static void streams_begin(struct streams *s, uint64_t next_byte)
{
	struct stream *place;

	if (s->nr < STREAMS) {
		place = &s->places[s->nr++];
	} else {
		place = streams_oldest(s, s->nr_young >= STREAMS_YOUNG);
		s->nr_young -= place->length == 1;
	}
	*place = (struct stream){ .next_byte = next_byte, .used = s->accesses, .length = 1 };
	s->nr_young++;
}

/* A stream that alternates with n others finds that n moved since its last access. */
static void streams_count_beside(struct streams *s, const struct stream *stream)
{
	uint32_t moved = 1;

	for (uint32_t i = 0; i < s->nr; i++)
		moved += s->places[i].length >= STREAMS_GROWN && s->places[i].used > stream->used;
	s->beside[moved < STREAMS ? moved : STREAMS]++;
}

bool streams__access(struct streams *streams, uint64_t from_byte, uint64_t bytes)
{
	struct stream *stream = NULL;

	for (uint32_t i = 0; i < streams->nr && !stream; i++)
		if (streams->places[i].next_byte == from_byte)
			stream = &streams->places[i];
	streams->accesses++;
	if (!stream) {
		streams_begin(streams, from_byte + bytes);
		return false;
	}
	streams->nr_young -= stream->length == 1;
	stream->length++;
	if (stream->length >= STREAMS_GROWN)
		streams_count_beside(streams, stream);
	stream->next_byte = from_byte + bytes;
	stream->used = streams->accesses;
	return true;
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
