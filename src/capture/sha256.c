/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/sha256.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

enum { SHA256_ROUNDS = 64, SHA256_LENGTH = 8 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t sha256_keys[SHA256_ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t sha256_turn(uint32_t x, unsigned int by)
{
	return x >> by | x << (32 - by);
}

static void sha256_spread(uint32_t w[SHA256_ROUNDS], const uint8_t *block)
{
	for (int i = 0; i < 16; i++) {
		memcpy(&w[i], block + i * 4, sizeof(w[i]));
		w[i] = be32toh(w[i]);
	}
	for (int i = 16; i < SHA256_ROUNDS; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] + (sha256_turn(a, 7) ^ sha256_turn(a, 18) ^ a >> 3) +
		       (sha256_turn(b, 17) ^ sha256_turn(b, 19) ^ b >> 10);
	}
}

/* v[0] to v[7] are a to h of the standard. */
static void sha256_block(struct sha256 *sum, const uint8_t *block)
{
	uint32_t w[SHA256_ROUNDS], v[SHA256_WORDS];

	sha256_spread(w, block);
	memcpy(v, sum->words, sizeof(v));
	for (int i = 0; i < SHA256_ROUNDS; i++) {
		uint32_t one =
			v[7] + sha256_keys[i] + w[i] +
			(sha256_turn(v[4], 6) ^ sha256_turn(v[4], 11) ^ sha256_turn(v[4], 25)) +
			((v[4] & v[5]) ^ (~v[4] & v[6]));
		uint32_t two =
			(sha256_turn(v[0], 2) ^ sha256_turn(v[0], 13) ^ sha256_turn(v[0], 22)) +
			((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, sizeof(v) - sizeof(v[0]));
		v[4] += one;
		v[0] = one + two;
	}
	for (int i = 0; i < SHA256_WORDS; i++)
		sum->words[i] += v[i];
}

void sha256__begin(struct sha256 *sum)
{
	*sum = (struct sha256){
		.words = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
			   0x1f83d9ab, 0x5be0cd19 },
	};
}

void sha256__add(struct sha256 *sum, const void *bytes, size_t nr)
{
	const uint8_t *at = bytes;

	while (nr) {
		size_t used = sum->nr % SHA256_BLOCK, room = SHA256_BLOCK - used;
		size_t some = nr < room ? nr : room;

		memcpy(sum->block + used, at, some);
		sum->nr += some;
		at += some;
		nr -= some;
		if (some == room)
			sha256_block(sum, sum->block);
	}
}

char *sha256__end(struct sha256 *sum, char text[SHA256_TEXT])
{
	static const uint8_t first = 0x80, zeros[SHA256_BLOCK];
	uint64_t bits = htobe64(sum->nr * 8);

	sha256__add(sum, &first, 1);
	sha256__add(sum, zeros,
		    (2 * SHA256_BLOCK - SHA256_LENGTH - sum->nr % SHA256_BLOCK) % SHA256_BLOCK);
	sha256__add(sum, &bits, sizeof(bits));
	for (int i = 0; i < SHA256_WORDS; i++)
		snprintf(text + i * 8, 9, "%08x", sum->words[i]);
	return text;
}
