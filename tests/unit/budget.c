/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * budget.c: does the plan keep its limit at every load, and time as much as it allows? The second
 * instrument is a sum over single commands.
 */
#include "collect/budget.h"
#include "tap.h"
#include "wire/io_tables.h"

enum { CPUS = 8 };
static const struct budget_costs costs = { .timed_ns = 420, .untimed_ns = 170 };

static void test_share(void)
{
	const struct budget_device devices[] = { { 100000, 0 }, { 64000, 3 } };
	double ns = 100000 * 420.0 + 8000 * 420.0 + 56000 * 170.0;

	ok(budget__share(devices, 2, costs, CPUS) * 1e9 * CPUS - ns < 1,
	   "the share: all of one device, 1 of 8 of another");
}

static void test_loads(void)
{
	static const double limits[] = { 0.001, 0.005, 0.02 };

	for (int i = 0; i < 3; i++)
		for (double per_s = 1000; per_s <= 1e6; per_s *= 10) {
			struct budget_device device = { per_s, 0 };
			double least = per_s * costs.untimed_ns / 1e9 / CPUS;
			bool is_kept = budget__plan(&device, 1, costs, CPUS, limits[i], true);
			double share = budget__share(&device, 1, costs, CPUS);

			ok(is_kept ? share <= limits[i] : least * 1.002 > limits[i],
			   "%g commands/s, %g %%: %s, %.4f %%, 1 of %u", per_s, 100 * limits[i],
			   is_kept ? "kept" : "cannot be kept", 100 * share, 1u << device.shift);
			if (!is_kept || !device.shift)
				continue;
			device.shift--;
			ok(budget__share(&device, 1, costs, CPUS) > limits[i],
			   "and no more could be timed");
		}
}

static void test_busiest(void)
{
	struct budget_device devices[] = { { 200000, 0 }, { 100, 0 }, { 0, 0 } };

	ok(budget__plan(devices, 3, costs, CPUS, 0.006, true) && devices[0].shift &&
		   !devices[1].shift && !devices[2].shift,
	   "the busiest device gives way, the others are timed");
}

/* A load that goes up and down by a tenth around the limit. */
static void test_calm(void)
{
	struct budget_device device = { 100000, 0 };
	double limit = budget__share(&device, 1, costs, CPUS);
	int changes = 0;

	for (int i = 0; i < 100; i++) {
		uint8_t before = device.shift;

		device.per_s = i % 2 ? 110000 : 90000;
		budget__plan(&device, 1, costs, CPUS, limit, true);
		changes += device.shift != before;
	}
	is_u64((uint64_t)changes, 1, "a load around the limit changes the shift once");
	device.per_s = 10000;
	budget__plan(&device, 1, costs, CPUS, limit, false);
	ok(device.shift, "a load far below: the shift stays while it has to");
	budget__plan(&device, 1, costs, CPUS, limit, true);
	is_u64((uint64_t)device.shift, 0, "then all are timed again");
	device.per_s = 1e9;
	ok(!budget__plan(&device, 1, costs, CPUS, limit, true) &&
		   device.shift == IO_MAX_SAMPLE_SHIFT,
	   "too much to count: as few as possible are timed, and it says so");
}

int main(void)
{
	test_share();
	test_loads();
	test_busiest();
	test_calm();
	return done_testing();
}
