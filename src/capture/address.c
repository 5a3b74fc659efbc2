/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/address.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include "base/log.h"

int address_key__init(struct address_key *key)
{
	if (getrandom(&key->key, sizeof(key->key), 0) != sizeof(key->key))
		return log_err(-errno, "cannot make a key: %s", strerror(errno));
	key->is_on = true;
	return 0;
}

static bool address_is_none(uint64_t address)
{
	return address < ADDRESS_LEAST || address > UINT64_MAX - ADDRESS_LEAST;
}

/* A Feistel network of four rounds (Luby and Rackoff, 1988): a plain hash might map two
 * addresses to one number, and merge two objects. */
static uint64_t address_permute(const struct address_key *key, uint64_t address)
{
	uint32_t left = (uint32_t)(address >> 32), right = (uint32_t)address;

	for (uint32_t round = 0; round < 4; round++) {
		const uint32_t half[] = { round, right };
		uint32_t mixed = left ^ (uint32_t)siphash(key->key, half, sizeof(half));

		left = right;
		right = mixed;
	}
	return (uint64_t)left << 32 | right;
}

uint64_t address__hide(const struct address_key *key, uint64_t address)
{
	if (!key->is_on || address_is_none(address))
		return address;
	do
		address = address_permute(key, address);
	while (address_is_none(address)); /* reserved values; numbers stay unique */
	return address;
}
