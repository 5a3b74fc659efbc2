/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "capture/chunk.h"

#include <string.h>
#include "capture/bytes.h"
#include "capture/crc32c.h"

static const uint8_t chunk_magic[4] = "IOC1";
static const uint8_t file_magic[8] = "\x89IOSONAR";

/* Offsets of the fields; all other bytes are zero. */
enum {
	CHUNK_TYPE = 4,
	CHUNK_FLAGS = 5,
	CHUNK_ORIGIN = 6,
	CHUNK_LENGTH = 8,
	CHUNK_COUNT = 12,
	CHUNK_FIRST = 16,
	CHUNK_LOST = 24,
	CHUNK_MIN = 32,
	CHUNK_MAX = 40,
	CHUNK_CRC = 48,
	CHUNK_HEADER_CRC = 60,
	FILE_VERSION = 8,
	FILE_CRC = 12,
};

void capture_chunk__put(const struct capture_chunk *chunk, uint8_t bytes[CAPTURE_CHUNK_BYTES])
{
	memset(bytes, 0, CAPTURE_CHUNK_BYTES);
	memcpy(bytes, chunk_magic, sizeof(chunk_magic));
	bytes[CHUNK_TYPE] = chunk->type;
	bytes[CHUNK_FLAGS] = chunk->flags;
	le__put16(bytes + CHUNK_ORIGIN, chunk->origin);
	le__put32(bytes + CHUNK_LENGTH, chunk->length);
	le__put32(bytes + CHUNK_COUNT, chunk->count);
	le__put64(bytes + CHUNK_FIRST, chunk->first);
	le__put64(bytes + CHUNK_LOST, chunk->lost);
	le__put64(bytes + CHUNK_MIN, chunk->min_ns);
	le__put64(bytes + CHUNK_MAX, chunk->max_ns);
	le__put32(bytes + CHUNK_CRC, chunk->crc);
	le__put32(bytes + CHUNK_HEADER_CRC, crc32c(bytes, CHUNK_HEADER_CRC));
}

bool capture_chunk__get(struct capture_chunk *chunk, const uint8_t bytes[CAPTURE_CHUNK_BYTES])
{
	if (memcmp(bytes, chunk_magic, sizeof(chunk_magic)) ||
	    le__get32(bytes + CHUNK_HEADER_CRC) != crc32c(bytes, CHUNK_HEADER_CRC))
		return false;
	*chunk = (struct capture_chunk){
		.type = bytes[CHUNK_TYPE],
		.flags = bytes[CHUNK_FLAGS],
		.origin = le__get16(bytes + CHUNK_ORIGIN),
		.length = le__get32(bytes + CHUNK_LENGTH),
		.count = le__get32(bytes + CHUNK_COUNT),
		.first = le__get64(bytes + CHUNK_FIRST),
		.lost = le__get64(bytes + CHUNK_LOST),
		.min_ns = le__get64(bytes + CHUNK_MIN),
		.max_ns = le__get64(bytes + CHUNK_MAX),
		.crc = le__get32(bytes + CHUNK_CRC),
	};
	return chunk->length <= CAPTURE_CHUNK_MOST;
}

size_t capture_chunk__search(const uint8_t *bytes, size_t nr, size_t from)
{
	const uint8_t *at;

	if (from >= nr)
		return nr;
	at = memmem(bytes + from, nr - from, chunk_magic, sizeof(chunk_magic));
	return at ? (size_t)(at - bytes) : nr;
}

void capture_file__put_header(uint8_t bytes[CAPTURE_FILE_BYTES], uint16_t version)
{
	memset(bytes, 0, CAPTURE_FILE_BYTES);
	memcpy(bytes, file_magic, sizeof(file_magic));
	le__put16(bytes + FILE_VERSION, version);
	le__put32(bytes + FILE_CRC, crc32c(bytes, FILE_CRC));
}

/* Are these the first bytes of a good header? */
static bool file_begins(const uint8_t *bytes, size_t nr)
{
	uint8_t ours[CAPTURE_FILE_BYTES];

	for (int version = CAPTURE_VERSION; version <= CAPTURE_VERSION_MERGED; version++) {
		capture_file__put_header(ours, (uint16_t)version);
		if (!memcmp(bytes, ours, nr))
			return true;
	}
	return false;
}

enum capture_file_state capture_file__check_header(const uint8_t *bytes, size_t nr,
						   uint16_t *version)
{
	*version = 0;
	if (nr < CAPTURE_FILE_BYTES)
		return file_begins(bytes, nr) ? CAPTURE_FILE_CUT : CAPTURE_FILE_DAMAGED;
	*version = le__get16(bytes + FILE_VERSION);
	if (memcmp(bytes, file_magic, sizeof(file_magic)) ||
	    le__get32(bytes + FILE_CRC) != crc32c(bytes, FILE_CRC))
		return CAPTURE_FILE_DAMAGED;
	return *version >= CAPTURE_VERSION && *version <= CAPTURE_VERSION_MERGED
		       ? CAPTURE_FILE_GOOD
		       : CAPTURE_FILE_NEWER;
}
