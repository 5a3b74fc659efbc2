/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpus.c: is the kernel's list read right, and do the rings of all CPUs stay below their bound?
 */
#include "base/cpus.h"
#include "tap.h"

enum { NR = 128 };

static bool online[NR];

static void check_list(const char *list, uint32_t nr, uint32_t first, uint32_t last)
{
	uint32_t got = cpus__parse(list, online, NR);

	ok(got == nr && (!nr || (online[first] && online[last])), "'%.*s': %u CPUs",
	   (int)strcspn(list, "\n"), list, nr);
}

static void check_lists(void)
{
	check_list("0\n", 1, 0, 0);
	check_list("0-127\n", 128, 0, 127);
	check_list("0,2-3,64", 4, 2, 64);
	ok(!online[1] && !online[4] && !online[127], "and no others");
	check_list("0-3,2-5", 6, 0, 5);
	check_list("0-200", 128, 0, 127);
	check_list("500", 0, 0, 0);
	check_list("", 0, 0, 0);
	check_list("-3", 0, 0, 0);
	check_list("0-", 0, 0, 0);
	check_list("0--3", 0, 0, 0);
	check_list("0,", 0, 0, 0);
	check_list("none", 0, 0, 0);
	check_list("1 2", 0, 0, 0);
}

static void check_machine(void)
{
	uint32_t nr = cpus__online(online, NR), counted = 0;

	for (uint32_t i = 0; i < NR; i++)
		counted += online[i];
	ok(nr >= 1 && nr == counted, "this machine has a CPU");
}

static void check_rings(void)
{
	const uint64_t most = 128 << 20;
	uint64_t above = 0, odd = 0;

	for (uint32_t cpus = 1; cpus <= 1024; cpus++) {
		uint32_t size = cpus__ring_bytes(4 << 20, most, cpus);

		above += (uint64_t)size * cpus > most;
		odd += size < CPUS_RING_LEAST || (size & (size - 1)) != 0;
	}
	is_u64(above, 0, "1 to 1,024 CPUs: the rings are within their bound");
	is_u64(odd, 0, "each is a power of two, and not too small");
	is_u64(cpus__ring_bytes(4 << 20, most, 2), 4 << 20, "few CPUs have what is wanted");
	is_u64(cpus__ring_bytes(4 << 20, most, 32), 4 << 20, "32 just so");
	is_u64(cpus__ring_bytes(4 << 20, most, 128), 1 << 20, "128 have a quarter");
	is_u64(cpus__ring_bytes(4 << 20, most, 8192), 64 << 10, "none has less than 64 KiB");
	is_u64(cpus__ring_bytes(5 << 20, UINT64_MAX, 128), 8 << 20, "without a bound: rounded up");
}

int main(void)
{
	check_lists();
	check_machine();
	check_rings();
	return done_testing();
}
