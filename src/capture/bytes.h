/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bytes.h: how does a number become bytes, the same on every machine? Little-endian, varint, zig-
 * zag; a growing buffer, and a cursor that never passes its end. Errors stick: check once, at the
 * end, for a full buffer or a short input. docs/capture-format.md describes the encoding.
 */
#ifndef IOSONAR_CAPTURE_BYTES_H
#define IOSONAR_CAPTURE_BYTES_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

static inline uint64_t zigzag__put(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t zigzag__get(uint64_t bits)
{
	return (int64_t)((bits >> 1) ^ (0 - (bits & 1)));
}

/* Bits that the value needs: 0 for 0. */
static inline unsigned int bits__width(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

static inline void le__put16(uint8_t *at, uint16_t value)
{
	value = htole16(value);
	memcpy(at, &value, sizeof(value));
}

static inline void le__put32(uint8_t *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static inline void le__put64(uint8_t *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
}

static inline uint16_t le__get16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return le16toh(value);
}

static inline uint32_t le__get32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return le32toh(value);
}

static inline uint64_t le__get64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return le64toh(value);
}

struct byte_out {
	uint8_t *bytes;
	size_t len, size;
	bool failed; /* out of memory: the contents are incomplete */
};

static inline void byte_out__free(struct byte_out *out)
{
	free(out->bytes);
	memset(out, 0, sizeof(*out));
}

/* Where the next `nr` bytes may be written; NULL: out of memory. The length does not change. */
static inline uint8_t *byte_out__room(struct byte_out *out, size_t nr)
{
	if (GROW(out->bytes, out->size, out->len + nr)) {
		out->failed = true;
		return NULL;
	}
	return out->bytes + out->len;
}

static inline void byte_out__put(struct byte_out *out, const void *bytes, size_t nr)
{
	uint8_t *at = nr ? byte_out__room(out, nr) : NULL;

	if (!at)
		return;
	memcpy(at, bytes, nr);
	out->len += nr;
}

static inline void byte_out__zeros(struct byte_out *out, size_t nr)
{
	uint8_t *at = nr ? byte_out__room(out, nr) : NULL;

	if (!at)
		return;
	memset(at, 0, nr);
	out->len += nr;
}

static inline void byte_out__u8(struct byte_out *out, uint8_t value)
{
	byte_out__put(out, &value, 1);
}

static inline void byte_out__u64(struct byte_out *out, uint64_t value)
{
	uint8_t bytes[8];

	le__put64(bytes, value);
	byte_out__put(out, bytes, sizeof(bytes));
}

static inline void byte_out__varint(struct byte_out *out, uint64_t value)
{
	uint8_t bytes[10];
	size_t nr = 0;

	while (value >= 0x80) {
		bytes[nr++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes[nr++] = (uint8_t)value;
	byte_out__put(out, bytes, nr);
}

static inline void byte_out__text(struct byte_out *out, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	byte_out__varint(out, len);
	byte_out__put(out, text, len);
}

struct byte_in {
	const uint8_t *at, *end;
	bool bad; /* a read went past the end */
};

static inline size_t byte_in__left(const struct byte_in *in)
{
	return (size_t)(in->end - in->at);
}

/* The next `nr` bytes, or NULL. */
static inline const uint8_t *byte_in__take(struct byte_in *in, uint64_t nr)
{
	const uint8_t *at = in->at;

	if (nr > byte_in__left(in)) {
		in->bad = true;
		in->at = in->end;
		return NULL;
	}
	in->at += nr;
	return at;
}

static inline uint8_t byte_in__u8(struct byte_in *in)
{
	const uint8_t *at = byte_in__take(in, 1);

	return at ? *at : 0;
}

static inline uint64_t byte_in__u64(struct byte_in *in)
{
	const uint8_t *at = byte_in__take(in, 8);

	return at ? le__get64(at) : 0;
}

static inline uint64_t byte_in__varint(struct byte_in *in)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte = byte_in__u8(in);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	in->bad = true;
	return 0;
}

/* The part of the input that the next length counts, and past it. */
static inline struct byte_in byte_in__part(struct byte_in *in)
{
	uint64_t len = byte_in__varint(in);
	const uint8_t *at = byte_in__take(in, len);
	struct byte_in part = { at, at ? at + len : NULL, !at };

	return part;
}

/* A text of at most size - 1 bytes; longer texts are cut. */
static inline void byte_in__text(struct byte_in *in, char *text, size_t size)
{
	struct byte_in part = byte_in__part(in);
	size_t len = part.bad ? 0 : byte_in__left(&part);

	if (len > size - 1)
		len = size - 1;
	if (len)
		memcpy(text, part.at, len);
	text[len] = '\0';
}

/* The next text, malloced; NULL: missing, or out of memory. */
static inline char *byte_in__text_new(struct byte_in *in)
{
	struct byte_in part = byte_in__part(in);

	if (part.bad)
		return NULL;
	return strndup((const char *)part.at, byte_in__left(&part));
}

#endif
