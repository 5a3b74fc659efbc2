/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_budget.c: which commands are timed, so that the programs stay within --budget? Reads what they
 * count a few times a second, chooses a shift for each device (budget.h), tells the programs
 * (struct io_sampled), and estimates what all commands would have been (analyse/estimate.h). Only
 * reads and writes are sampled, not of partitions that -d names.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/estimate.h"
#include "base/clock.h"
#include "base/log.h"
#include "collect/budget.h"
#include "collect/io_inside.h"
#include "bpf/io.skel.h"

enum {
	BUDGET_LEAST = 64,	  /* commands of a key that are timed before others are not */
	BUDGET_MEASURED = 8,	  /* runs that were measured, before their mean counts */
	BUDGET_SEEN_NS = 1000000, /* until every CPU has seen a new limit */
};

/* A load that rose may rise again: fewer stay timed for this long. */
static const uint64_t budget_hold_ns = 2000000000;

/* Until the programs have measured themselves. */
static const struct budget_costs budget_guess = { .timed_ns = 400, .untimed_ns = 120 };

struct budget_key {
	struct hist now; /* as the programs have counted */
	struct estimate estimate;
	uint64_t counted; /* commands at the last plan */
	uint32_t device;
	int way; /* of its queue: 0 reads, 1 writes, -1 all are timed */
	uint8_t shift;
};

/* A queue with a cell in the programs' table. */
struct budget_queue {
	uint64_t queue;
	uint32_t home;
	struct budget_key *keys[2];
};

struct io_budget {
	struct budget_key **keys; /* by number; NULL: nothing was counted */
	uint32_t nr_keys;
	struct budget_device devices[IO_MAX_DEVICES]; /* by cell */
	uint32_t nr_devices;			      /* cells in use so far */
	struct budget_queue queues[IO_MAX_SAMPLED];
	uint32_t nr_queues;
	struct io_sampled *cells;
	const struct io_untimed *untimed;
	uint64_t planned_ns, raised_ns;
	bool is_beyond; /* the user was told that the budget cannot be kept */
};

int io_budget_open(struct io *io)
{
	struct io_budget *b = io->budget = calloc(1, sizeof(*b));

	if (!b)
		return log_no_memory();
	b->nr_keys = io->row_plan.nr_keys;
	b->keys = calloc(b->nr_keys, sizeof(*b->keys));
	b->planned_ns = clock__mono_ns();
	b->cells = io->sampled_cells.cells;
	b->untimed = (const struct io_untimed *)(b->cells + IO_SAMPLED);
	return b->keys ? 0 : log_no_memory();
}

void io_budget_free(struct io_budget *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; b->keys && i < b->nr_keys; i++)
		free(b->keys[i]);
	free(b->keys);
	free(b);
}

/* ---- what was counted ---- */

static int budget_way_of(uint64_t packed)
{
	uint32_t op = io_key_bits(packed, IO_KEY_OP, 8);

	switch (io_key_bits(packed, IO_KEY_KIND, 2)) {
	case IO_NVME: return op == 2 ? 0 : op == 1 ? 1 : -1;
	case IO_BLOCK: return op == 0 ? 0 : op == 1 ? 1 : -1;
	default: return -1;
	}
}

static struct budget_key *budget_key_new(const struct io *io, uint32_t key_nr)
{
	uint64_t packed = ((const struct io_key *)io->key_cells.cells)[key_nr].packed;
	struct budget_key *key = calloc(1, sizeof(*key));

	if (!key)
		return NULL;
	key->device = io_key_bits(packed, IO_KEY_DEVICE, 12);
	key->way = packed ? budget_way_of(packed) : -1;
	return key;
}

/* Without memory the commands are missing in the rows, and the ledger says so. */
static void budget_take(void *arg, uint32_t key_nr, const struct hist *part)
{
	const struct io *io = arg;
	struct budget_key **key = &io->budget->keys[key_nr & (io->budget->nr_keys - 1)];

	if (!*key)
		*key = budget_key_new(io, key_nr & (io->budget->nr_keys - 1));
	if (*key)
		hist__merge(&(*key)->now, part);
}

static void budget_take_untimed(const struct io *io, uint32_t nr, uint32_t way, struct hist *now)
{
	for (uint32_t cpu = 0; cpu < io->nr_cpus; cpu++) {
		const struct io_untimed *cell =
			&io->budget->untimed[(size_t)cpu * IO_MAX_SAMPLED + nr];
		uint64_t count = __atomic_load_n(&cell->count[way], __ATOMIC_RELAXED);

		now->untimed += count;
		now->count += count;
		now->bytes += __atomic_load_n(&cell->bytes[way], __ATOMIC_RELAXED);
	}
}

/* now.max_ns stays until it is passed on. */
static void budget_collect(struct io *io)
{
	struct io_budget *b = io->budget;

	for (uint32_t i = 0; i < b->nr_keys; i++)
		if (b->keys[i])
			b->keys[i]->now = (struct hist){ .max_ns = b->keys[i]->now.max_ns };
	row_table__read(&io->rows, budget_take, io);
	for (uint32_t nr = 0; nr < b->nr_queues; nr++)
		for (uint32_t way = 0; way < 2; way++)
			if (b->queues[nr].keys[way])
				budget_take_untimed(io, nr, way, &b->queues[nr].keys[way]->now);
}

void io_budget_read(struct io *io, row_table_fn fn, void *arg)
{
	struct io_budget *b = io->budget;

	budget_collect(io);
	for (uint32_t i = 0; i < b->nr_keys; i++) {
		struct budget_key *key = b->keys[i];

		if (!key || !key->now.count)
			continue;
		estimate__fold(&key->estimate, &key->now);
		key->estimate.all.max_ns = key->now.max_ns;
		key->estimate.all.one_of = 1u << key->shift;
		key->now.max_ns = 0;
		fn(arg, i, &key->estimate.all);
	}
}

uint64_t io_budget_untimed(const struct io *io)
{
	const struct io_budget *b = io->budget;
	uint64_t nr = 0;

	for (uint32_t i = 0; i < b->nr_keys; i++)
		nr += b->keys[i] ? b->keys[i]->estimate.all.untimed : 0;
	return nr;
}

/* ---- which are timed ---- */

/* The mean time of one kind of run; `guess` until enough of them were measured. */
static double budget_mean(const struct io_cost *c, enum io_cost_of which, double guess)
{
	if (c->runs[which] < BUDGET_MEASURED)
		return guess;
	return c->ns[which] > c->clock_ns[which]
		       ? (double)(c->ns[which] - c->clock_ns[which]) / (double)c->runs[which]
		       : 0;
}

static struct budget_costs budget_costs(const struct io *io)
{
	const struct io_cost *c = &io->skel->bss->cost;
	const struct budget_costs guess = budget_guess;

	return (struct budget_costs){
		.timed_ns = budget_mean(c, COST_OF_START, guess.timed_ns / 2) +
			    budget_mean(c, COST_OF_END, guess.timed_ns / 2),
		.untimed_ns = budget_mean(c, COST_OF_UNTIMED_START, guess.untimed_ns / 2) +
			      budget_mean(c, COST_OF_UNTIMED_END, guess.untimed_ns / 2),
	};
}

/* A rise counts at once, a fall by half each time: a short pause changes nothing. */
static void budget_measure(struct io_budget *b, double seconds)
{
	double now[IO_MAX_DEVICES] = { 0 };

	for (uint32_t i = 0; i < b->nr_keys; i++) {
		struct budget_key *key = b->keys[i];

		if (!key)
			continue;
		now[key->device] += (double)(key->now.count - key->counted) / seconds;
		key->counted = key->now.count;
		if (key->device >= b->nr_devices)
			b->nr_devices = key->device + 1;
	}
	for (uint32_t i = 0; i < b->nr_devices; i++) {
		double *per_s = &b->devices[i].per_s;

		*per_s = now[i] > *per_s ? now[i] : (now[i] + *per_s) / 2;
	}
}

/* The cell of its device's queue, or NULL: it has none, or it is another queue's. */
static struct budget_queue *budget_queue_of(struct io *io, const struct budget_key *key)
{
	const struct io_device *device =
		&((const struct io_device *)io->device_cells.cells)[key->device];
	struct io_budget *b = io->budget;
	struct io_sampled *cell;
	uint64_t queue = device->key;

	if (!queue || queue & 1 || device->ranges[0].nr_sectors)
		return NULL;
	cell = &b->cells[io_sampled_home((uint32_t)queue)];
	if (cell->queue == queue)
		return &b->queues[cell->nr];
	if (cell->queue || b->nr_queues == IO_MAX_SAMPLED)
		return NULL;
	*cell = (struct io_sampled){
		.ways = { { .start_limit = io_sample_limit(0), .end_limit = io_sample_limit(0) },
			  { .start_limit = io_sample_limit(0), .end_limit = io_sample_limit(0) } },
		.nr = b->nr_queues
	};
	b->queues[b->nr_queues] =
		(struct budget_queue){ .queue = queue, .home = io_sampled_home((uint32_t)queue) };
	__atomic_store_n(&cell->queue, queue, __ATOMIC_RELEASE);
	return &b->queues[b->nr_queues++];
}

static struct io_sampled_way *budget_cell(const struct io_budget *b,
					  const struct budget_queue *queue, int way)
{
	return &b->cells[queue->home].ways[way];
}

/* Fewer are timed: ends follow as soon as no command is in flight that only the old shift times.
 * More are timed: commands in flight may have started without. */
static void budget_set(struct io *io, uint32_t key_nr, uint8_t shift)
{
	struct budget_key *key = io->budget->keys[key_nr];
	struct budget_queue *queue = budget_queue_of(io, key);
	uint32_t limit = io_sample_limit(shift);
	struct io_sampled_way *way;

	/* A race may have given its operation a second key: the first one has the untimed. */
	if (!queue || (queue->keys[key->way] && queue->keys[key->way] != key))
		return;
	way = budget_cell(io->budget, queue, key->way);
	queue->keys[key->way] = key;
	io->budget->cells[queue->home].key_nr[key->way] = (uint16_t)key_nr;
	estimate__fold(&key->estimate, &key->now);
	if (limit > way->start_limit)
		__atomic_store_n(&way->since_ns, clock__mono_ns() + BUDGET_SEEN_NS,
				 __ATOMIC_SEQ_CST);
	if (limit > way->end_limit)
		__atomic_store_n(&way->end_limit, limit, __ATOMIC_SEQ_CST);
	__atomic_store_n(&way->start_limit, limit, __ATOMIC_SEQ_CST);
	key->shift = shift;
}

/* Is a command in flight that the new limit would not time? */
static bool budget_is_awaited(const struct io *io, uint64_t queue, uint32_t limit)
{
	for (uint32_t i = 0; i < io->slots.nr; i++) {
		const struct io_slot *slot = &io->slots.slots[i];

		if (slot->key > IO_TOMB && slot->state > IO_IGNORED &&
		    (!slot->queue || slot->queue == queue) &&
		    !io_sample_takes(slot->alloc_ns, (uint32_t)slot->key, limit))
			return true;
	}
	return false;
}

static void budget_follow(const struct io *io)
{
	const struct io_budget *b = io->budget;

	for (uint32_t i = 0; i < b->nr_queues; i++)
		for (int nr = 0; nr < 2; nr++) {
			struct io_sampled_way *way = budget_cell(b, &b->queues[i], nr);

			if (way->end_limit != way->start_limit &&
			    !budget_is_awaited(io, b->queues[i].queue, way->start_limit))
				__atomic_store_n(&way->end_limit, way->start_limit,
						 __ATOMIC_SEQ_CST);
		}
}

void io_budget_forget_queue(struct io *io, uint64_t queue)
{
	struct io_sampled *cell;

	if (!io->budget)
		return;
	cell = &io->budget->cells[io_sampled_home((uint32_t)queue)];
	if (cell->queue == queue)
		__atomic_store_n(&cell->queue, 0, __ATOMIC_SEQ_CST);
}

static void budget_tell(struct io *io, uint32_t device, uint8_t shift)
{
	int index = io_device_index(io, device);
	const char *name = index < 0 ? "a device" : io->devices.devices[index].name;

	if (shift)
		log_note("%s: 1 of %u commands is timed, to stay within --budget", name,
			 1u << shift);
	else
		log_note("%s: all commands are timed again", name);
}

static void budget_apply(struct io *io)
{
	struct io_budget *b = io->budget;

	budget_follow(io);
	for (uint32_t i = 0; i < b->nr_keys; i++) {
		const struct budget_key *key = b->keys[i];

		if (!key || key->way < 0 || key->now.count - key->now.untimed < BUDGET_LEAST)
			continue;
		if (key->shift != b->devices[key->device].shift)
			budget_set(io, i, b->devices[key->device].shift);
	}
}

void io__keep_budget(struct io *io)
{
	struct io_budget *b = io->budget;
	const struct budget_costs costs = budget_costs(io);
	uint64_t now_ns = clock__mono_ns();
	uint8_t before[IO_MAX_DEVICES];
	bool is_kept;

	if (now_ns <= b->planned_ns)
		return;
	budget_collect(io);
	budget_measure(b, (double)(now_ns - b->planned_ns) / 1e9);
	b->planned_ns = now_ns;
	for (uint32_t i = 0; i < b->nr_devices; i++)
		before[i] = b->devices[i].shift;
	is_kept = budget__plan(b->devices, b->nr_devices, costs, io->nr_online, io->wants.budget,
			       now_ns - b->raised_ns > budget_hold_ns);
	for (uint32_t i = 0; i < b->nr_devices; i++) {
		if (b->devices[i].shift > before[i])
			b->raised_ns = now_ns;
		if (b->devices[i].shift != before[i])
			budget_tell(io, i, b->devices[i].shift);
	}
	budget_apply(io);
	if (!is_kept && !b->is_beyond)
		log_warn("--budget cannot be kept: to count the commands takes %.2f%% of the CPUs' "
			 "time",
			 100 * budget__share(b->devices, b->nr_devices, costs, io->nr_online));
	b->is_beyond |= !is_kept;
}
