/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_ladders.c: commands' ways in times alone, from a ring of cells per CPU that we map. Programs
 * have no barrier that every kernel knows: another CPU may see a ring's head before the cells below
 * it. So a cell is read when its head was there a look ago, or when the programs have gone.
 */
#include "collect/io_inside.h"

#include <errno.h>
#include <stdlib.h>
#include "base/clock.h"
#include "wire/io_stages.h"

static const uint64_t look_ns = 1000000; /* by then what a CPU wrote is everywhere */

/* What was read and what may be read, of each CPU. */
struct io_looked {
	uint64_t tail, settled, head;
};

static struct io_ladders *ladders_of(const struct io *io, uint32_t cpu)
{
	return (struct io_ladders *)((char *)io->ladder_cells.cells +
				     (size_t)cpu * io_ladder_bytes(io));
}

static void ladder_expand(const struct io_ladder *from, uint32_t cpu, struct io_record *record,
			  struct io_stages *stages)
{
	*record = (struct io_record){
		.first_ns = from->first_ns,
		.last_ns = from->first_ns,
		.end_ns = from->end_ns,
		.bytes = from->bytes,
		.device = (uint16_t)from->device,
		.cpu = (uint16_t)cpu,
		.kind = from->kind,
		.op = from->op,
		.flags = from->flags | RECORD_STAGES,
		.attempts = from->attempts,
	};
	*stages = (struct io_stages){
		.queued_ns = from->queued_ns,
		.got_ns = from->got_ns,
		.inserted_ns = from->inserted_ns,
		.issued_ns = from->issued_ns,
		.reaped_ns = from->reaped_ns,
		.done_ns = from->done_ns,
		.nr_bios = 1,
	};
}

static void ladders_read(struct io *io, uint32_t cpu, struct io_looked *looked)
{
	struct io_ladders *ring = ladders_of(io, cpu);
	const struct io_ladder *cells = (const struct io_ladder *)(ring + 1);
	uint32_t last = io_ladder_mask(io) / (uint32_t)sizeof(*cells);
	struct {
		struct io_record record;
		struct io_stages stages;
	} copy;

	for (; looked->tail != looked->settled; looked->tail++) {
		ladder_expand(&cells[looked->tail & last], cpu, &copy.record, &copy.stages);
		io_hand_on_record(io, &copy.record, IO_FROM_RING);
	}
	__atomic_store_n(&ring->tail, looked->tail, __ATOMIC_RELEASE);
}

static uint64_t ladders_head(const struct io *io, uint32_t cpu)
{
	return __atomic_load_n(&ladders_of(io, cpu)->head, __ATOMIC_ACQUIRE);
}

int io_make_ladders(struct io *io)
{
	if (!io_has_ladders(io))
		return 0;
	io->looked = calloc(io->nr_cpus, sizeof(*io->looked));
	return io->looked ? 0 : -ENOMEM;
}

void io_read_ladders(struct io *io)
{
	bool detached = io_is_detached(io);
	uint64_t now = clock__mono_ns();

	if (!io->looked || (!detached && now - io->looked_ns < look_ns))
		return;
	io->looked_ns = now;
	for (uint32_t cpu = 0; cpu < io->nr_cpus; cpu++) {
		struct io_looked *looked = &io->looked[cpu];

		/* If all programs have ended, what they wrote is there. */
		looked->settled = detached ? ladders_head(io, cpu) : looked->head;
		looked->head = ladders_head(io, cpu);
		ladders_read(io, cpu, looked);
	}
}

uint64_t io_ladders_sent(const struct io *io)
{
	uint64_t sent = 0;

	for (uint32_t cpu = 0; io->looked && cpu < io->nr_cpus; cpu++)
		sent += ladders_head(io, cpu);
	return sent;
}
