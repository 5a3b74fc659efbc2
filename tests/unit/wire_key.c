/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wire_key.c: do the keys of a run find cells? Programs look at eight from a key's home on; keys of
 * one device that differ only in operation, size or queue must not all begin at the same one.
 */
#include "wire/io_tables.h"
#include "tap.h"

enum { NR_CELLS = 256 };

static __u8 taken[NR_CELLS];
static uint64_t nr_lost;

/* key_number of the programs; cell 0 is nobody's. */
static void place(uint64_t packed)
{
	uint64_t key = packed | 1ULL << IO_KEY_USED;
	uint32_t home = io_key_home((uint32_t)(key ^ key >> 32));

	for (uint32_t i = 0; i < IO_PROBES; i++) {
		uint32_t nr = (home + i) % NR_CELLS;

		if (!nr || taken[nr])
			continue;
		taken[nr] = 1;
		return;
	}
	nr_lost++;
}

static void begin(void)
{
	memset(taken, 0, sizeof(taken));
	nr_lost = 0;
}

static void check_device(uint64_t device)
{
	begin();
	for (uint64_t op = 1; op < 3; op++)
		for (uint64_t size = 10; size < 25; size++)
			place(device | op << IO_KEY_OP | size << IO_KEY_SIZE);
	ok(!nr_lost, "device %u: 15 sizes of two operations", (unsigned int)device);
	begin();
	for (uint64_t op = 1; op < 3; op++)
		for (uint64_t queue = 1; queue <= 32; queue++)
			place(device | op << IO_KEY_OP | queue << IO_KEY_QUEUE);
	ok(!nr_lost, "device %u: 32 queues of two operations", (unsigned int)device);
	begin();
	for (uint64_t op = 0; op < 48; op++)
		place(device | (op * 5 & 0xff) << IO_KEY_OP | 1 << IO_KEY_KIND);
	ok(!nr_lost, "device %u: 48 operations", (unsigned int)device);
}

int main(void)
{
	for (uint64_t device = 0; device < 4096; device += 273)
		check_device(device);
	return done_testing();
}
