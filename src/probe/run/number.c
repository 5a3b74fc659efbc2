/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * number.c: which probe of the plan was hit? A key or a record has its number or, if one program
 * serves many functions, the function's address, which is looked up here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "probe/run/inside.h"

static int number_compare(const void *a, const void *b, void *arg)
{
	const struct plan_probe *probes = arg;
	const uint64_t x = probes[*(const size_t *)a].probe->address;
	const uint64_t y = probes[*(const size_t *)b].probe->address;

	return (x > y) - (x < y);
}

int run_note_addresses(struct run *run)
{
	run->by_address = calloc(run->plan->nr_probes, sizeof(*run->by_address));
	if (!run->by_address)
		return log_no_memory();
	for (size_t i = 0; i < run->nr_groups; i++)
		for (size_t j = 0; run->groups[i].nr > 1 && j < run->groups[i].nr; j++)
			run->by_address[run->nr_by_address++] = run->groups[i].probes[j];
	qsort_r(run->by_address, run->nr_by_address, sizeof(*run->by_address), number_compare,
		run->plan->probes);
	return 0;
}

/*
 * A program that serves many functions gives the function's address. On some machines that is the
 * patched instruction, a few bytes later.
 */
static size_t number_search(const struct run *run, uint64_t number)
{
	size_t low = 0, high = run->nr_by_address;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (run->plan->probes[run->by_address[middle]].probe->address <= number)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint64_t run_probe_number(const struct run *run, uint64_t number)
{
	size_t behind;

	if (number < run->plan->nr_probes)
		return number;
	behind = number_search(run, number);
	return behind ? run->by_address[behind - 1] : number;
}

uint64_t run_probe_like(const struct run *run, uint64_t like, uint64_t address)
{
	const struct plan_probe *probes = run->plan->probes;

	for (size_t i = number_search(run, address); i--;)
		if (probes[run->by_address[i]].probe->kind == probes[like].probe->kind)
			return run->by_address[i];
	return like;
}

const struct probe *run__probe(const struct run *run, uint64_t number)
{
	number = run_probe_number(run, number);
	return number < run->plan->nr_probes ? run->plan->probes[number].probe : NULL;
}

void run_settle(const struct run *run, const struct plan_part *part, void *bytes)
{
	uint64_t number;

	if (!run->nr_by_address || !run_part_is_probe(part))
		return;
	memcpy(&number, (char *)bytes + part->at, sizeof(number));
	number = run_probe_number(run, number);
	memcpy((char *)bytes + part->at, &number, sizeof(number));
}
