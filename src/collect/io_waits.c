/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_waits.c: which waits before the request can this kernel name? Chooses and attaches a program
 * for each function that it calls only if an I/O has to wait. One that is missing leaves its waits
 * without a name; nothing else depends on it.
 */
#include "collect/io_inside.h"

#include <errno.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "base/log.h"
#include "bpf/io.skel.h"
#include "collect/queue_functions.h"
#include "collect/trial.h"

const char *const queue_functions[NR_QUEUE_FUNCTIONS] = {
	[QUEUE_SLEEPS] = "prepare_to_wait_exclusive",
	[QUEUE_IOCOST] = "iocg_wake_fn",
	[QUEUE_HELD] = "throtl_add_bio_tg",
	[QUEUE_HELD_ELSE] = "__blk_throtl_bio",
	[QUEUE_FROZEN] = "__bio_queue_enter",
	[QUEUE_HAS_WBT] = "wbt_inflight_cb",
	[QUEUE_HAS_IOLATENCY] = "iolat_acquire_inflight",
	[QUEUE_HAS_IOMAX] = "throtl_pd_init",
	[QUEUE_HAS_ZONES] = "blk_zone_plug_bio",
};

/* The first of its functions that the kernel has is taken. */
struct io_wait_place {
	size_t program, link;
	enum queue_function functions[2];
	const char *what; /* of the I/O that waits */
};

#define WAIT(name) offsetof(struct io_bpf, progs.name), offsetof(struct io_bpf, links.name)
static const struct io_wait_place io_wait_places[] = {
	{ WAIT(io_wait_sleep),
	  { QUEUE_SLEEPS, NO_QUEUE_FUNCTION },
	  "a tag, writeback throttling and io.latency" },
	{ WAIT(io_wait_iocost), { QUEUE_IOCOST, NO_QUEUE_FUNCTION }, "io.cost" },
	{ WAIT(io_wait_held), { QUEUE_HELD, QUEUE_HELD_ELSE }, "io.max" },
	{ WAIT(io_wait_frozen), { QUEUE_FROZEN, NO_QUEUE_FUNCTION }, "a frozen queue" },
};
enum { NR_WAIT_PLACES = sizeof(io_wait_places) / sizeof(io_wait_places[0]) };

static struct bpf_program *io_wait_program(const struct io *io, const struct io_wait_place *place)
{
	return *(struct bpf_program **)((char *)io->skel + place->program);
}

/* Addresses of functions that tell who waits in rq_qos_wait. */
void io_prepare_waits(struct io *io)
{
	int err;

	io->waits.by_event =
		kernel__event_arguments(io->kernel.btf, "btf_trace_block_rq_tag_wait") >= 0;
	err = trial__do(TRIAL_KPROBE);
	io->waits.by_function = !err;
	if (err) {
		log_verbose("waits before the request have no names%s: no kprobes (%s)",
			    io->waits.by_event ? ", except those for a tag" : "", strerror(-err));
		return;
	}
	err = io_find_functions(io);
	if (err)
		log_verbose("waits for writeback throttling have no name: /proc/kallsyms: %s",
			    strerror(-err));
	io->waits.qos_wake = io->functions[IO_QOS_WAKE];
	io->waits.iolatency_asks = io->functions[IO_LATENCY_ASKS];
}

bool io_names_waits(const struct io *io)
{
	return io->waits.by_function || io->waits.by_event;
}

void io_autoload_waits(const struct io *io)
{
	for (int i = 0; i < NR_WAIT_PLACES; i++)
		bpf_program__set_autoload(io_wait_program(io, &io_wait_places[i]),
					  io->waits.by_function);
	bpf_program__set_autoload(io->skel->progs.io_wait_tag, io->waits.by_event);
}

static int io_attach_wait(struct io *io, const struct io_wait_place *place)
{
	struct bpf_program *program = io_wait_program(io, place);
	struct bpf_link **link = (struct bpf_link **)((char *)io->skel + place->link);
	int err = -ENOENT;

	for (int i = 0; i < 2 && place->functions[i] < NO_QUEUE_FUNCTION && err; i++) {
		*link = bpf_program__attach_kprobe(program, false,
						   queue_functions[place->functions[i]]);
		err = *link ? 0 : -errno;
	}
	return err;
}

void io_attach_waits(struct io *io)
{
	for (int i = 0; i < NR_WAIT_PLACES; i++) {
		const struct io_wait_place *place = &io_wait_places[i];
		int err;

		if (!bpf_program__autoload(io_wait_program(io, place)))
			continue;
		err = io_attach_wait(io, place);
		if (err)
			log_verbose("waits for %s have no name: cannot attach to %s (%s)",
				    place->what, queue_functions[place->functions[0]],
				    strerror(-err));
	}
	if (io->waits.by_event)
		io->skel->links.io_wait_tag = bpf_program__attach(io->skel->progs.io_wait_tag);
}
