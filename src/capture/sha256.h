/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sha256.h: the checksum that sha256sum prints (FIPS 180-4), of bytes that come in pieces. For
 * whole files; the chunks of a capture have CRCs. About 200 MB/s.
 */
#ifndef IOSONAR_CAPTURE_SHA256_H
#define IOSONAR_CAPTURE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BLOCK = 64, SHA256_WORDS = 8, SHA256_TEXT = 65 };

struct sha256 {
	uint32_t words[SHA256_WORDS];
	uint64_t nr; /* bytes so far */
	uint8_t block[SHA256_BLOCK];
};

void sha256__begin(struct sha256 *sum);
void sha256__add(struct sha256 *sum, const void *bytes, size_t nr);
/* As 64 hexadecimal digits. Returns text. */
char *sha256__end(struct sha256 *sum, char text[SHA256_TEXT]);

#endif
