/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * address.h: which object was it, without telling where it lay? Another number for an address:
 * equal ones stay equal, different ones different, and without the key, which is never written,
 * nobody finds out what it was. What is no address stays: NULL, small numbers, and errors as
 * pointers.
 */
#ifndef IOSONAR_CAPTURE_ADDRESS_H
#define IOSONAR_CAPTURE_ADDRESS_H

#include <stdbool.h>
#include "capture/siphash.h"

enum { ADDRESS_LEAST = 4096 }; /* below, and as far below 2^64, are no addresses */

struct address_key {
	struct siphash_key key;
	bool is_on; /* false: addresses stay */
};

/* With a key of chance. -errno, said. */
int address_key__init(struct address_key *key);
uint64_t address__hide(const struct address_key *key, uint64_t address);

#endif
