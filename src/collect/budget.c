/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/budget.h"

#include "wire/io_tables.h"

static const double budget_near = 0.6; /* of the limit: no shift becomes smaller above this */

static double budget_timed_per_s(const struct budget_device *device)
{
	return device->per_s / (double)(1u << device->shift);
}

double budget__share(const struct budget_device *devices, size_t nr, struct budget_costs costs,
		     uint32_t nr_cpus)
{
	double ns = 0;

	for (size_t i = 0; i < nr; i++) {
		double timed = budget_timed_per_s(&devices[i]);

		ns += timed * costs.timed_ns + (devices[i].per_s - timed) * costs.untimed_ns;
	}
	return ns / 1e9 / nr_cpus;
}

/* The device that times most; NULL: no shift can grow. */
static struct budget_device *budget_busiest(struct budget_device *devices, size_t nr)
{
	struct budget_device *busiest = NULL;

	for (size_t i = 0; i < nr; i++)
		if (devices[i].shift < IO_MAX_SAMPLE_SHIFT && devices[i].per_s > 0 &&
		    (!busiest || budget_timed_per_s(&devices[i]) > budget_timed_per_s(busiest)))
			busiest = &devices[i];
	return busiest;
}

/* Raises shifts until the limit is kept. */
static bool budget_raise(struct budget_device *devices, size_t nr, struct budget_costs costs,
			 uint32_t nr_cpus, double limit)
{
	while (budget__share(devices, nr, costs, nr_cpus) > limit) {
		struct budget_device *busiest = budget_busiest(devices, nr);

		if (!busiest)
			return false;
		busiest->shift++;
	}
	return true;
}

bool budget__plan(struct budget_device *devices, size_t nr, struct budget_costs costs,
		  uint32_t nr_cpus, double limit, bool may_time_more)
{
	for (size_t i = 0; i < nr && may_time_more; i++)
		while (devices[i].shift) {
			devices[i].shift--;
			if (budget__share(devices, nr, costs, nr_cpus) <= budget_near * limit)
				continue;
			devices[i].shift++;
			break;
		}
	return budget_raise(devices, nr, costs, nr_cpus, limit);
}
