/* SPDX-License-Identifier: BSD-2-Clause */
/* io_unwind.c: what the io programs unwind user stacks with: unwind.h, for this object. */
#include "collect/io_inside.h"

#include <errno.h>
#include "base/log.h"
#include "bpf/io.skel.h"

int io_size_unwind(const struct io *io)
{
	if (!io_knows_bios(io)) /* no program that takes stacks is loaded */
		return unwind_shared__omit(io->skel->obj);
	return io_unwinds(io) ? unwind_shared__size(io->skel->obj) : 0;
}

int io_map_unwind(struct io *io)
{
	int err;

	if (!io_unwinds(io))
		return 0;
	err = unwind_shared__map(&io->unwind_shared, io->skel->obj);
	if (err)
		return err;
	io->unwinder = unwinder__new(&io->unwind_shared, io->wants.unwind);
	return io->unwinder ? 0 : log_err(-ENOMEM, "out of memory");
}

void io_unmap_unwind(struct io *io)
{
	unwinder__free(io->unwinder);
	unwind_shared__unmap(&io->unwind_shared);
}

struct unwinder *io__unwinder(const struct io *io)
{
	return io->unwinder;
}
