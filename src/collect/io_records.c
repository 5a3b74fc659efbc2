/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_records.c: every command's record, from one ring per CPU. The programs never wake us: a view
 * that wants records reads them often enough, and a full ring is counted, never waited for.
 */
#include "collect/io_inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/cpus.h"
#include "base/grow.h"
#include "base/log.h"
#include "bpf/io.skel.h"
#include "collect/known.h"
#include "wire/io_stages.h"

static const uint64_t ring_default_bytes = 4 << 20; /* 36,000 records */
static const uint64_t rings_most_bytes = 128 << 20; /* of all CPUs online, without --buffer */
static const uint64_t parked_look_ns = 300000000;   /* a parked command is settled within */

/* ---- commands that failed and wait for nothing: no program reports them soon ---- */

struct io_told {
	uint64_t first_ns, end_ns;
};

static bool told_find(const struct io *io, const struct io_record *record, size_t *at)
{
	for (*at = 0; *at < io->nr_told; ++*at)
		if (io->told[*at].first_ns == record->first_ns &&
		    io->told[*at].end_ns == record->end_ns)
			return true;
	return false;
}

static void told_on_parked(void *arg, uint32_t nr, const struct io_slot *slot)
{
	struct io *io = arg;
	struct io_record record;
	size_t at;

	io_record_of_slot(io, nr, slot, &record);
	if (record.end_ns - record.first_ns < io_settings(io)->min_ns ||
	    told_find(io, &record, &at) || GROW(io->told, io->room_told, io->nr_told + 1))
		return;
	io->told[io->nr_told++] = (struct io_told){ record.first_ns, record.end_ns };
	io_hand_on_record(io, &record, IO_FROM_SLOT);
}

/* A scan of all slots is expensive: only for a while after an error. */
static void io_look_for_parked(struct io *io)
{
	uint64_t parked = __atomic_load_n(&io->skel->bss->counters.parked, __ATOMIC_RELAXED);
	uint64_t now = clock__mono_ns();
	const struct slot_tells tells = { .parked = told_on_parked, .arg = io };
	struct slot_counts counts;

	if (parked != io->parked_seen)
		io->parked_until_ns = now + parked_look_ns;
	io->parked_seen = parked;
	if (!io->parked_until_ns)
		return;
	slot_table__scan(&io->slots, now, &counts, &tells);
	if (now >= io->parked_until_ns) /* only now: we may not have run for all that time */
		io->parked_until_ns = 0;
}

/* ---- rings ---- */

/* A stack is walked each time if there is no memory to know it. */
static void ring_learn(struct io *io, const struct io_stack *stack)
{
	if (!io->known)
		io->known = known__new(io->skel->bss->known_stacks, IO_MAX_STACKS);
	if (io->known && !stack->user)
		known__stack(io->known, stack);
}

static void ring_on_doubt(struct io *io, const struct known_doubt *doubt)
{
	const bool was_right = !known__nr_wrong(io->known);

	known__doubt(io->known, doubt);
	if (!was_right || !known__nr_wrong(io->known))
		return;
	known__stop(io->known);
	log_note("a kernel stack was taken for another one; from now on each stack is walked");
}

/* Kernel and user stacks never have the same number: one table holds both. */
static int ring_on_stack(struct io *io, const struct io_stack *stack)
{
	struct io_stack **place;

	if (!io->stacks)
		io->stacks = calloc(IO_STACK_NUMBERS, sizeof(*io->stacks));
	if (!io->stacks || stack->number >= IO_STACK_NUMBERS || stack->nr > STACK_FRAMES)
		return 0;
	place = &io->stacks[stack->number];
	if (!*place)
		*place = malloc(sizeof(*stack));
	if (*place)
		memcpy(*place, stack, sizeof(*stack));
	ring_learn(io, stack);
	return 0;
}

/* Of a ring: a record, or a stack. */
static int io_on_record(void *arg, void *data, size_t size)
{
	struct io *io = arg;
	struct record_with_stages copy;
	size_t at;

	if (size == sizeof(struct io_stack))
		return ring_on_stack(io, data);
	if (size == sizeof(struct known_copy) && io->known)
		known__copy(io->known, data);
	if (size == sizeof(struct known_doubt) && io->known)
		ring_on_doubt(io, data);
	if (size < sizeof(copy.record) || size > sizeof(copy))
		return 0;
	memcpy(&copy, data, size);
	if (copy.record.what == RECORD_EVENT && !io_finish_event(io, &copy.record))
		return 0;
	if (copy.record.what == RECORD_END && copy.record.status && io->nr_told &&
	    told_find(io, &copy.record, &at)) {
		io->told[at] = io->told[--io->nr_told];
		io_hand_on_record(io, &copy.record, IO_FROM_RING_AGAIN);
		return 0;
	}
	io_hand_on_record(io, &copy.record, IO_FROM_RING);
	return 0;
}

/* --buffer is kept to, however many CPUs there are. */
static uint32_t ring_size(const struct io *io)
{
	uint64_t given = io->wants.buffer_bytes, wanted = given ? given : ring_default_bytes;

	if (io_has_cells(io))
		wanted /= 2;
	return cpus__ring_bytes(wanted, given ? UINT64_MAX : rings_most_bytes, io->nr_online);
}

uint32_t io_idle_ring_bytes(const struct io *io)
{
	uint32_t least = cpus__ring_bytes(CPUS_RING_LEAST, UINT64_MAX, 1);

	return io->ring_bytes < least ? io->ring_bytes : least;
}

uint64_t io_rings_bytes(const struct io *io)
{
	return (uint64_t)io->nr_online * io->ring_bytes +
	       (uint64_t)(io->nr_cpus - io->nr_online) * io_idle_ring_bytes(io);
}

static int ring_make(struct io *io, uint32_t cpu)
{
	uint32_t bytes = io->is_online[cpu] ? io->ring_bytes : io_idle_ring_bytes(io);
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "io_ring", 0, 0, bytes, NULL), err;

	if (fd < 0)
		return fd;
	err = bpf_map_update_elem(bpf_map__fd(io->skel->maps.io_rings), &cpu, &fd, BPF_ANY);
	if (!err && !io->rings) {
		io->rings = ring_buffer__new(fd, io_on_record, io, NULL);
		err = io->rings ? 0 : -errno;
	} else if (!err) {
		err = ring_buffer__add(io->rings, fd, io_on_record, io);
	}
	close(fd); /* map and mapping keep it */
	return err;
}

int io_make_rings(struct io *io)
{
	int err = 0;

	if (!io->wants.records)
		return 0;
	io->ring_bytes = ring_size(io);
	for (uint32_t cpu = 0; !err && cpu < io->nr_cpus; cpu++)
		err = ring_make(io, cpu);
	return err ? log_err(err, "cannot make a ring of %u bytes for each of %u CPUs: %s",
			     io->ring_bytes, io->nr_online, strerror(-err))
		   : 0;
}

void io_free_rings(struct io *io)
{
	ring_buffer__free(io->rings);
	free(io->told);
	free(io->events);
	for (size_t i = 0; io->stacks && i < IO_STACK_NUMBERS; i++)
		free(io->stacks[i]);
	free(io->stacks);
	known__free(io->known);
}

int io__records(struct io *io, io_record_fn fn, void *arg)
{
	int got;

	if (!io->rings)
		return 0;
	io->on_record = fn;
	io->on_record_arg = arg;
	got = ring_buffer__consume(io->rings);
	if (got < 0)
		return log_err(got, "cannot read the rings: %s", strerror(-got));
	io_read_ladders(io, io_on_record);
	io_look_for_parked(io);
	io_hand_on_events(io);
	return 0;
}

const struct io_stack *io__stack(const struct io *io, uint32_t number)
{
	return io->stacks && number && number < IO_STACK_NUMBERS ? io->stacks[number] : NULL;
}

uint64_t io__bios_missed(const struct io *io)
{
	return io->skel->bss->counters.no_bio;
}

uint64_t io__waits_missed(const struct io *io)
{
	return io->skel->bss->counters.no_wait;
}

void io__stack_losses(const struct io *io, uint64_t *taken, uint64_t *failed)
{
	*taken = io->skel->bss->counters.stack_taken;
	*failed = io->skel->bss->counters.stack_failed;
}

int io__device_of(struct io *io, const struct io_record *record)
{
	if (record->device < IO_MAX_DEVICES)
		return io_device_index(io, record->device);
	/* An event holds its index in the list. */
	return record->device - IO_MAX_DEVICES < (int)io->devices.nr
		       ? record->device - IO_MAX_DEVICES
		       : -1;
}

static const struct io_cpu *io_cpus(const struct io *io)
{
	return (const void *)((const char *)io->slot_cells.cells + io_cpu_at(io));
}

uint64_t io__records_dropped(const struct io *io)
{
	uint64_t dropped = 0;

	for (uint32_t cpu = 0; io->wants.records && cpu < io->nr_cpus; cpu++)
		dropped += io_cpus(io)[cpu].dropped;
	return dropped;
}

uint64_t io__records_tried(const struct io *io)
{
	uint64_t tried = 0;

	for (uint32_t cpu = 0; io->wants.records && cpu < io->nr_cpus; cpu++)
		tried += io_cpus(io)[cpu].tried;
	/* Records in cells are among those tried, ladders are not. */
	return io->wants.stages ? tried + io_ladders_sent(io) : tried;
}
