/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * budget.h: of how many commands may the latency be measured, if our programs are to take no more
 * than a share of the CPUs' time? One in 2^shift of each device; the busiest device gives way
 * first. All commands are counted, so the share cannot fall below what counting takes.
 */
#ifndef IOSONAR_COLLECT_BUDGET_H
#define IOSONAR_COLLECT_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct budget_device {
	double per_s; /* commands */
	uint8_t shift;
};

/* What our programs take for one command, start and end. */
struct budget_costs {
	double timed_ns, untimed_ns;
};

/* The share of the time of nr_cpus CPUs, 0 to 1. */
double budget__share(const struct budget_device *devices, size_t nr, struct budget_costs costs,
		     uint32_t nr_cpus);
/*
 * Chooses the shifts. One that is in use stays as long as it keeps the limit and a smaller one
 * would come near it, or while !may_time_more, so that it does not change back and forth. False:
 * the limit cannot be kept.
 */
bool budget__plan(struct budget_device *devices, size_t nr, struct budget_costs costs,
		  uint32_t nr_cpus, double limit, bool may_time_more);

#endif
