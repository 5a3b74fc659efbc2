/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_ladders.c: the stages of commands as times alone, or their records, from a mapped ring of
 * cells per CPU. The program moves the head by an atomic that is a full barrier: the cells below a
 * visible head are complete.
 */
#include "collect/io_inside.h"

#include "wire/io_stages.h"

static struct io_ladders *ladders_of(const struct io *io, uint32_t cpu)
{
	return (struct io_ladders *)((char *)io->ladder_cells.cells +
				     cell_rings__at(&io->cell_rings, cpu));
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

static uint64_t ladders_head(const struct io_ladders *ring)
{
	return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
}

static void ladder_hand_on(struct io *io, uint32_t cpu, const struct io_ladder *cell,
			   io_ring_fn on_record)
{
	struct record_with_stages copy;

	if (!io->wants.stages) {
		on_record(io, (void *)(uintptr_t)cell, sizeof(copy.record));
		return;
	}
	ladder_expand(cell, cpu, &copy.record, &copy.stages);
	io_hand_on_record(io, &copy.record, IO_FROM_RING);
}

static void ladders_read(struct io *io, uint32_t cpu, io_ring_fn on_record)
{
	struct io_ladders *ring = ladders_of(io, cpu);
	const struct io_ladder *cells = (const struct io_ladder *)(ring + 1);
	uint32_t last = cell_rings__cells(&io->cell_rings, cpu) - 1;
	uint64_t tail = ring->tail, head = ladders_head(ring);

	for (; tail != head; tail++)
		ladder_hand_on(io, cpu, &cells[tail & last], on_record);
	__atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
}

/* Rings exist if they were made at the start: cells of a disk that is gone by now are still
 * read. */
void io_read_ladders(struct io *io, io_ring_fn on_record)
{
	for (uint32_t cpu = 0; io->ladder_cells.cells && cpu < io->nr_cpus; cpu++)
		ladders_read(io, cpu, on_record);
}

uint64_t io_ladders_sent(const struct io *io)
{
	uint64_t sent = 0;

	for (uint32_t cpu = 0; io->ladder_cells.cells && cpu < io->nr_cpus; cpu++)
		sent += ladders_head(ladders_of(io, cpu));
	return sent;
}
