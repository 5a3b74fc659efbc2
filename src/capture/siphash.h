/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * siphash.h: SipHash-2-4 (Aumasson and Bernstein, 2012): 64 bits of a text that nobody can tell
 * from chance, nor look up in a list of likely texts, without the key.
 */
#ifndef IOSONAR_CAPTURE_SIPHASH_H
#define IOSONAR_CAPTURE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t words[2];
};

uint64_t siphash(struct siphash_key key, const void *bytes, size_t nr);

#endif
