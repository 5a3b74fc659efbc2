/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * address.h: which object was it, without revealing its address? Replaces an address by a number:
 * equal addresses stay equal, different ones different, and without the key, which is never
 * written, the address cannot be recovered. Values that are not addresses stay: NULL, small
 * numbers, error pointers.
 */
#ifndef IOSONAR_CAPTURE_ADDRESS_H
#define IOSONAR_CAPTURE_ADDRESS_H

#include <stdbool.h>
#include "capture/siphash.h"

enum { ADDRESS_LEAST = 4096 }; /* below it, and that close to 2^64: no addresses */

struct address_key {
	struct siphash_key key;
	bool is_on; /* false: addresses stay */
};

/* With a random key. -errno, after a message. */
int address_key__init(struct address_key *key);
uint64_t address__hide(const struct address_key *key, uint64_t address);

#endif
