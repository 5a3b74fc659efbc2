/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * near_miss.h: healthy loads with a little of one cause of slow I/O or of several: too little to
 * matter. tests/unit/why.c wants no finding.
 */
#ifndef IOSONAR_TESTS_NEAR_MISS_H
#define IOSONAR_TESTS_NEAR_MISS_H

#include "planted.h"

enum miss {
	MISS_TAGS,
	MISS_SCHEDULER,
	MISS_LIMIT,
	MISS_WBT,
	MISS_FROZEN,
	MISS_DISCARDS,
	MISS_SWAP,
	MISS_ODD,
	MISS_RETRIES,
	MISS_ERRORS,
	MISS_PATHS,
	MISS_DISKS,
	MISS_SERVERS,
	MISS_ONE_TASK,
	MISS_COMPLETION,
	MISS_AGAIN,
	MISS_OWN,
	MISS_STALL,
	NR_MISSES
};

/* Commands in flight on average, if none waits for another. */
static double miss_depth(const struct plant *p)
{
	double depth = 0;

	for (int i = 0; i < LOADS; i++) {
		const struct model_load *l = &p->loads[i].model;

		if (l->depth)
			depth += (double)l->depth * (double)l->service_ns /
				 (double)(l->service_ns + l->think_ns);
	}
	return depth;
}

/* Few commands wait a time that is short beside their own, or all wait next to nothing. */
static void miss_wait(struct run *r, struct plant *p, enum where where, enum io_wait wait)
{
	const bool few = run_draw(r, 2);

	p->brief = (struct brief){ .one_of = few ? 20 + (uint32_t)run_draw(r, 80) : 1,
				   .ns = few ? (5 + run_draw(r, 45)) * US : 500 + run_draw(r, 5000),
				   .where = where,
				   .wait = wait,
				   .writes = wait == IO_WAIT_WBT };
}

/* A task beside the others, of which it is 3 to 12 % of what is in flight. */
static void miss_task(struct run *r, struct plant *p, struct load load)
{
	double depth;

	p->loads[LOADS - 1].model.depth = 0;
	depth = miss_depth(p) * (0.03 + 0.01 * (double)run_draw(r, 10));
	load.model.think_ns = (uint64_t)((double)load.model.service_ns / depth);
	p->loads[LOADS - 1] = load;
}

static void miss_odd(struct plant *p)
{
	for (int i = 0; i < LOADS; i++)
		if (p->loads[i].op == NVME_WRITE) {
			p->loads[i].flags |= FACT_ODD;
			p->loads[i].bytes += p->loads[i].bytes == 8192 ? 512 : 0;
			return;
		}
}

/* A device that serves few at once, and has little to do. */
static void miss_servers(struct run *r, struct plant *p)
{
	p->servers = 4u << run_draw(r, 4);
	while (miss_depth(p) > 0.35 * p->servers)
		for (int i = 0; i < LOADS; i++)
			p->loads[i].model.think_ns += p->loads[i].model.service_ns;
}

/* Reads and writes of one task. */
static void miss_one_task(struct plant *p)
{
	for (int i = 0; i < LOADS - 1; i++) {
		if (!p->loads[i].model.depth)
			p->loads[i] = (struct load)LOAD(2, 90, 300, "", 8192, 0, 0);
		p->loads[i].comm = "postgres";
		p->loads[i].op = i % 2 ? NVME_WRITE : NVME_READ;
	}
}

/* Up to 10 % of what is read is read again. */
static void miss_again(struct run *r, struct plant *p)
{
	uint32_t bytes = PAGE_BYTES;

	for (int i = 0; i < LOADS; i++)
		bytes = p->loads[i].bytes > bytes ? p->loads[i].bytes : bytes;
	p->units = (5 + (uint32_t)run_draw(r, 20)) * COMMANDS * (bytes / PAGE_BYTES);
}

static void miss_troubles(struct run *r, struct plant *p, enum miss miss)
{
	p->one_of = 1500 + (uint32_t)run_draw(r, 3000);
	p->extra_ns = 0;
	p->retry_ns = miss == MISS_RETRIES ? (200 + run_draw(r, 1800)) * US : 0;
	p->fails = miss == MISS_ERRORS;
}

static void miss_add(struct run *r, struct plant *p, enum miss miss)
{
	static const struct load discards = LOAD(1, 800, 0, "fstrim", 0, NVME_DSM, 0);
	static const struct load swaps = LOAD(1, 90, 0, "kswapd0", 4096, NVME_WRITE, FACT_SWAP);

	switch (miss) {
	case MISS_TAGS: return miss_wait(r, p, FOR_TAG, IO_WAIT_TAG);
	case MISS_SCHEDULER: return miss_wait(r, p, IN_SCHEDULER, IO_WAIT_NONE);
	case MISS_LIMIT: return miss_wait(r, p, FOR_TAG, IO_WAIT_HELD);
	case MISS_WBT: return miss_wait(r, p, FOR_TAG, IO_WAIT_WBT);
	case MISS_FROZEN: return miss_wait(r, p, FOR_TAG, IO_WAIT_FROZEN);
	case MISS_DISCARDS: return miss_task(r, p, discards);
	case MISS_SWAP: return miss_task(r, p, swaps);
	case MISS_ODD: return miss_odd(p);
	case MISS_RETRIES:
	case MISS_ERRORS: return miss_troubles(r, p, miss);
	case MISS_PATHS: p->two_paths = !p->two_disks; return;
	case MISS_DISKS: p->two_disks = !p->two_paths; return;
	case MISS_SERVERS: return miss_servers(r, p);
	case MISS_ONE_TASK: return miss_one_task(p);
	case MISS_COMPLETION: p->late_ns = 1000 + run_draw(r, 6000); return;
	case MISS_AGAIN: return miss_again(r, p);
	case MISS_OWN: p->own = (uint32_t)run_draw(r, 9); return;
	default: p->stall_ns = (1 + run_draw(r, 3)) * MS; p->stalls = 1;
	}
}

/* One kind for certain, each of the others in one of four runs. */
static struct plant near_miss(uint64_t seed)
{
	struct plant p = healthy(seed + 10000);
	struct run r = { .seed = seed * 7907 + 3 };

	for (int i = 0; i < NR_MISSES; i++)
		if ((int)(seed % NR_MISSES) == i || !run_draw(&r, 4))
			miss_add(&r, &p, (enum miss)i);
	p.name = "near-misses";
	return p;
}

#endif
