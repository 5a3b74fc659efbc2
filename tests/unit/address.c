/* SPDX-License-Identifier: BSD-2-Clause */
/* address.c: are hidden addresses equal where they were, and different where they were, and gone?
 */
#include <stdlib.h>
#include "capture/address.h"
#include "tap.h"

static int compare(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

static void test_different(void)
{
	enum { NR = 100000 };
	static uint64_t hidden[NR];
	struct address_key key = { 0 };
	size_t same = 0, kept = 0, near = 0;

	ok(!address_key__init(&key) && key.is_on, "a key of chance");
	for (uint64_t i = 0; i < NR; i++) {
		hidden[i] = address__hide(&key, 0xffff888000000000 + 64 * i);
		kept += hidden[i] == 0xffff888000000000 + 64 * i;
		near += i && hidden[i] - hidden[i - 1] == 64;
	}
	is_u64(hidden[7], address__hide(&key, 0xffff888000000000 + 64 * 7), "equal stays equal");
	qsort(hidden, NR, sizeof(*hidden), compare);
	for (size_t i = 1; i < NR; i++)
		same += hidden[i] == hidden[i - 1];
	is_u64(same, 0, "different stays different");
	is_u64(kept + near, 0, "neither itself nor its distance to another is left");
}

static void test_keys(void)
{
	struct address_key a = { 0 }, b = { 0 }, off = { 0 };

	address_key__init(&a);
	address_key__init(&b);
	ok(address__hide(&a, 0xffff888012345678) != address__hide(&b, 0xffff888012345678),
	   "another capture has other numbers");
	is_u64(address__hide(&off, 0xffff888012345678), 0xffff888012345678,
	       "without a key it stays");
}

static void test_none(void)
{
	struct address_key key = { 0 };

	address_key__init(&key);
	is_u64(address__hide(&key, 0), 0, "NULL stays");
	is_u64(address__hide(&key, 16), 16, "a small number");
	is_u64(address__hide(&key, (uint64_t)-5), (uint64_t)-5, "an error as a pointer");
}

int main(void)
{
	test_different();
	test_keys();
	test_none();
	return done_testing();
}
