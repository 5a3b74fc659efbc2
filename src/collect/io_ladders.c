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

static const uint64_t look_ns = 1000000;	      /* by then what a CPU wrote is everywhere */
static const uint64_t ladder_default_bytes = 2 << 20; /* 16,384 commands */
static const uint64_t ladders_default_bytes = 64 << 20,
		      ladders_most_bytes = 1 << 30; /* of all CPUs */
static const uint32_t ladders_least_cells = 64;

/* ---- which, and how large ---- */

static bool asks_for_more(const struct io_wants *w)
{
	const struct filter_options *f = w->filter;

	return w->details || w->owners || w->bios || w->depths || w->slowest || w->rows ||
	       w->split || w->troubles || w->by_size || w->by_queue || w->by_cpu || w->by_pid ||
	       w->by_comm || w->by_cgroup || w->by_file || f->pid.given || f->comm || f->cgroup ||
	       f->nsid.given || f->qid.given || f->min_ns.given || f->failed;
}

bool io_has_ladders(const struct io *io)
{
	for (size_t i = 0; i < io->nr_choices; i++)
		if (io->choices[i].nr_sectors)
			return false;
	return io->wants.stages && !asks_for_more(&io->wants) && io_wants_nvme(io) &&
	       io_may_cast(io) && kernel__may_type_block(&io->kernel);
}

/* Half of what --buffer says: the other half is a kernel's ring, for what is unusual. */
static uint32_t ladder_cells(const struct io *io)
{
	uint64_t most = io->wants.buffer_bytes ? ladders_most_bytes : ladders_default_bytes;
	uint64_t wanted =
		io->wants.buffer_bytes ? io->wants.buffer_bytes / 2 : ladder_default_bytes;
	uint32_t nr = ladders_least_cells;

	while (2 * nr * sizeof(struct io_ladder) <= wanted &&
	       2 * nr * sizeof(struct io_ladder) * io->nr_cpus <= most)
		nr *= 2;
	return nr;
}

uint32_t io_ladder_mask(const struct io *io)
{
	return (ladder_cells(io) - 1) * (uint32_t)sizeof(struct io_ladder);
}

uint32_t io_ladder_bytes(const struct io *io)
{
	return io_has_ladders(io) ? io_ladder_mask(io) + 2 * (uint32_t)sizeof(struct io_ladder) : 0;
}

/* ---- reading ---- */

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
	uint32_t nr = ladder_cells(io);
	struct {
		struct io_record record;
		struct io_stages stages;
	} copy;

	for (; looked->tail != looked->settled; looked->tail++) {
		ladder_expand(&cells[looked->tail & (nr - 1)], cpu, &copy.record, &copy.stages);
		io_hand_on_record(io, &copy.record);
	}
	__atomic_store_n(&ring->tail, looked->tail, __ATOMIC_RELEASE);
}

static uint64_t ladders_head(const struct io *io, uint32_t cpu)
{
	return __atomic_load_n(&ladders_of(io, cpu)->head, __ATOMIC_ACQUIRE);
}

/* detached: all programs have ended, and what they wrote is there. */
static void ladders_look(struct io *io, uint32_t cpu, struct io_looked *looked, bool detached)
{
	looked->settled = detached ? ladders_head(io, cpu) : looked->head;
	looked->head = ladders_head(io, cpu);
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
		ladders_look(io, cpu, &io->looked[cpu], detached);
		ladders_read(io, cpu, &io->looked[cpu]);
	}
}

uint64_t io_ladders_sent(const struct io *io)
{
	uint64_t sent = 0;

	for (uint32_t cpu = 0; io->looked && cpu < io->nr_cpus; cpu++)
		sent += ladders_head(io, cpu);
	return sent;
}
