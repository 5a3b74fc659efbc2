/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group.c: which probes share a program? Each kind is asked once how it can be attached here;
 * probes that one program can serve, with the same instructions, become one group. Ends of pairs
 * come before starts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include "base/grow.h"
#include "base/log.h"
#include "probe/run/inside.h"

static bool group_is_counter(const struct probe *probe)
{
	return (probe->kind == PROBE_SOFT || probe->kind == PROBE_HW) && !probe->period;
}

static struct run_group *group_that_takes(struct run *run, enum attach_way way, size_t number)
{
	const struct plan_probe *probes = run->plan->probes;

	for (size_t i = 0; attach__serves_many(way) && i < run->nr_groups; i++)
		if (run->groups[i].way == way && !run->groups[i].is_alone &&
		    plan__is_alike(&probes[run->groups[i].probes[0]], &probes[number]))
			return &run->groups[i];
	return NULL;
}

/* There is room for as many groups as probes. */
static int group_put(struct run *run, enum attach_way way, size_t number, bool is_alone)
{
	struct run_group *group = is_alone ? NULL : group_that_takes(run, way, number);

	if (!group) {
		group = &run->groups[run->nr_groups++];
		*group = (struct run_group){
			.way = way,
			.is_end = run->plan->probes[number].is_end,
			.is_alone = is_alone,
			.attachment.prog_fd = -1,
			.ended.prog_fd = -1,
			.execed.prog_fd = -1,
		};
	}
	if (GROW_BY_ONE(group->probes, group->nr))
		return -ENOMEM;
	group->probes[group->nr++] = number;
	return 0;
}

/* All probes of one kind, with the way of each. */
struct group_kind {
	const struct probe **probes;
	size_t *numbers;
	enum attach_way *ways;
	bool *is_alone; /* another probe has the same address: a program cannot tell them apart */
	size_t *order;	/* by address */
	size_t nr;
};

static int group_compare_address(const void *a, const void *b, void *arg)
{
	const struct probe *const *probes = arg;
	const size_t i = *(const size_t *)a, j = *(const size_t *)b;

	if (probes[i]->address != probes[j]->address)
		return probes[i]->address < probes[j]->address ? -1 : 1;
	return (i > j) - (i < j);
}

/* The first one of an address is not alone: `fn:vfs_read 'fn:vfs_*'` has one more program. */
static void group_find_doubles(struct group_kind *k)
{
	for (size_t i = 0; i < k->nr; i++)
		k->order[i] = i;
	qsort_r(k->order, k->nr, sizeof(*k->order), group_compare_address, k->probes);
	for (size_t i = 0; i < k->nr; i++) {
		const struct probe *probe = k->probes[k->order[i]];

		k->is_alone[k->order[i]] =
			!probe->address ||
			(i && k->probes[k->order[i - 1]]->address == probe->address);
	}
}

static void group_gather(struct run *run, enum probe_kind kind, struct group_kind *k)
{
	k->nr = 0;
	for (size_t i = 0; i < run->plan->nr_probes; i++) {
		const struct probe *probe = run->plan->probes[i].probe;

		if (probe->kind != kind || group_is_counter(probe))
			continue;
		k->probes[k->nr] = probe;
		k->numbers[k->nr++] = i;
	}
}

static int group_choose_kind(struct run *run, struct group_kind *k)
{
	int err = attach__choose(run->attacher, k->probes, k->nr, k->ways);

	group_find_doubles(k);
	for (size_t i = 0; !err && i < k->nr; i++) {
		const bool is_return = run->plan->is_calls && k->probes[i]->kind == PROBE_RET;

		/* -ECANCELED: the return of a function, which is only available in an unwanted
		 * way: see attach.h. */
		if (k->ways[i] == ATTACH_NONE)
			run->errs[k->numbers[i]] = is_return ? -ECANCELED : -ENOENT;
		else if (group_put(run, k->ways[i], k->numbers[i], k->is_alone[i]))
			err = log_no_memory();
	}
	return err;
}

static int group_compare(const void *a, const void *b)
{
	const struct run_group *x = a, *y = b;

	if (x->is_end != y->is_end)
		return x->is_end ? -1 : 1;
	return (x->probes[0] > y->probes[0]) - (x->probes[0] < y->probes[0]);
}

static int group_choose_all(struct run *run, struct group_kind *k)
{
	int err = 0;

	for (int kind = 0; !err && kind < NR_PROBE_KINDS; kind++) {
		group_gather(run, (enum probe_kind)kind, k);
		if (k->nr)
			err = group_choose_kind(run, k);
	}
	for (size_t i = 0; !err && i < run->plan->nr_probes; i++)
		if (group_is_counter(run->plan->probes[i].probe))
			run->counters[run->nr_counters++] = (struct run_counter){ .probe = i };
	if (run->nr_groups)
		qsort(run->groups, run->nr_groups, sizeof(*run->groups), group_compare);
	return err;
}

int run_make_groups(struct run *run)
{
	const size_t nr = run->plan->nr_probes;
	struct group_kind k = {
		.probes = calloc(nr, sizeof(*k.probes)),
		.numbers = calloc(nr, sizeof(*k.numbers)),
		.ways = calloc(nr, sizeof(*k.ways)),
		.is_alone = calloc(nr, sizeof(*k.is_alone)),
		.order = calloc(nr, sizeof(*k.order)),
	};
	int err;

	run->groups = calloc(nr, sizeof(*run->groups));
	run->counters = calloc(nr, sizeof(*run->counters));
	run->errs = calloc(nr, sizeof(*run->errs));
	if (k.probes && k.numbers && k.ways && k.is_alone && k.order && run->groups &&
	    run->counters && run->errs)
		err = group_choose_all(run, &k);
	else
		err = log_no_memory();
	free(k.probes);
	free(k.numbers);
	free(k.ways);
	free(k.is_alone);
	free(k.order);
	return err;
}

void run_free_groups(struct run *run)
{
	for (size_t i = 0; i < run->nr_groups; i++) {
		attachment__close(&run->groups[i].attachment);
		attachment__close(&run->groups[i].ended);
		attachment__close(&run->groups[i].execed);
		free(run->groups[i].probes);
	}
	free(run->groups);
	free(run->counters);
	free(run->errs);
}

struct program_wants run_program_wants(const struct run *run, const struct run_group *group)
{
	const size_t first = group->probes[0];
	const bool may_nest =
		attach__may_nest(run->attacher, group->way, run->plan->probes[first].probe);

	return (struct program_wants){
		.plan = run->plan,
		.probe = first,
		.cell = (uint32_t)(group - run->groups),
		.ctx = attach__ctx(group->way),
		.asks_address = group->nr > 1,
		.maps = &run->maps,
		.unwinds = run->unwind,
		.no_ustack = run->wants.unwind == UNWIND_HOW_NONE,
		.is_atomic = may_nest,
		.has_front = run->maps.fronts >= 0 && !may_nest,
		.task = attach__reads_task(run->attacher, &run->plan->task) ? &run->plan->task
									    : NULL,
		.is_direct = group->way == ATTACH_FENTRY,
		.is_nested = run->maps.nests >= 0 &&
			     run->plan->probes[first].probe->kind == PROBE_USERRET,
		.holds = group->holds,
	};
}
