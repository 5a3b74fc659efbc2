/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * siphash.h: SipHash-2-4 (Aumasson and Bernstein, 2012): a 64-bit hash of a text that without the
 * key looks random, and cannot be found by hashing likely texts.
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
