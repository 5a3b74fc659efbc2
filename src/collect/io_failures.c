/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_failures.c: which commands failed, and how? Reads what the programs counted, and the slots of
 * commands that failed without a program that could count them. No system call.
 */
#include "collect/io_inside.h"

#include "base/clock.h"
#include "bpf/io.skel.h"

struct failures_told {
	struct io *io;
	io_failed_fn fn;
	void *arg;
};

static void failures_tell_parked(void *arg, uint32_t nr, const struct io_slot *slot)
{
	const struct failures_told *told = arg;
	struct io_failed failed = {
		.count = 1,
		.last_ns = slot->last_ns,
		.status = (uint16_t)slot->queue,
	};

	io_tags_of(told->io, slot->key_nr, &failed.tags);
	failed.status = io_status_of(told->io, failed.tags.kind, failed.status);
	told->fn(told->arg, &failed);
	(void)nr;
}

void io__failures(struct io *io, io_failed_fn fn, void *arg)
{
	struct failures_told told = { io, fn, arg };

	if (!io->wants.failures)
		return;
	for (size_t i = 0; i < IO_FAILURES; i++) {
		const struct io_failure *cell = &io->skel->bss->failures[i];
		struct io_failed failed = {
			.count = __atomic_load_n(&cell->count, __ATOMIC_RELAXED),
			.last_ns = __atomic_load_n(&cell->last_ns, __ATOMIC_RELAXED),
			.status = (uint16_t)cell->key,
		};

		if (!failed.count)
			continue;
		io_tags_of(io, (uint32_t)(cell->key >> 32), &failed.tags);
		failed.status = io_status_of(io, failed.tags.kind, failed.status);
		fn(arg, &failed);
	}
	if (io->counts.parked) /* at the last read */
		slot_table__tell_parked(&io->slots, clock__mono_ns(), failures_tell_parked, &told);
}
