/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/siphash.h"

#include <endian.h>
#include <string.h>

static uint64_t siphash_rotate(uint64_t word, int by)
{
	return word << by | word >> (64 - by);
}

static void siphash_rounds(uint64_t v[4], int nr)
{
	while (nr--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = siphash_rotate(v[1], 13) ^ v[0];
		v[3] = siphash_rotate(v[3], 16) ^ v[2];
		v[0] = siphash_rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = siphash_rotate(v[1], 17) ^ v[2];
		v[3] = siphash_rotate(v[3], 21) ^ v[0];
		v[2] = siphash_rotate(v[2], 32);
	}
}

static void siphash_take(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	siphash_rounds(v, 2);
	v[0] ^= word;
}

uint64_t siphash(struct siphash_key key, const void *bytes, size_t nr)
{
	uint64_t v[4] = { key.words[0] ^ 0x736f6d6570736575, key.words[1] ^ 0x646f72616e646f6d,
			  key.words[0] ^ 0x6c7967656e657261, key.words[1] ^ 0x7465646279746573 };
	const unsigned char *at = bytes;
	uint64_t word, last = (uint64_t)nr << 56;

	for (; nr >= 8; nr -= 8, at += 8) {
		memcpy(&word, at, 8);
		siphash_take(v, le64toh(word));
	}
	for (size_t i = 0; i < nr; i++)
		last |= (uint64_t)at[i] << 8 * i;
	siphash_take(v, last);
	v[2] ^= 0xff;
	siphash_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
