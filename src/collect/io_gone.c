/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_gone.c: what is kept of devices that are gone? Their cells, which no queue matches any more,
 * until nothing holds their numbers; then others may have these. Asked once a second: one pass over
 * the cells, and one over slots and rows if a device went. A cell in front of another one waits for
 * it, as a search ends at an empty cell.
 */
#include "collect/io_inside.h"

#include <stddef.h>
#include <string.h>
#include "base/clock.h"

void io_forget(struct io *io, uint32_t nr)
{
	struct io_device *cell = (struct io_device *)io->device_cells.cells + nr;

	slot_table__forget_queue(&io->slots, cell->key & ~1ULL);
	io_budget_forget_queue(io, cell->key & ~1ULL);
	cell->key |= 1; /* the address may be reused: never matches again */
}

/* Before Linux 5.15 the same device may be back, and have another cell. */
static bool gone_has_cell(struct io *io, uint32_t nr)
{
	const struct io_device *cell = (struct io_device *)io->device_cells.cells + nr;
	int index = io->gone_ns[nr] ? io->device_of[nr] : io_device_index(io, nr);

	return cell->key & 1 || index < 0 || io->devices.devices[index].gone;
}

/* A device that went before it was looked up is not in the list. */
static void gone_look(struct io *io, uint64_t now_ns)
{
	const struct io_device *cells = io->device_cells.cells;

	for (uint32_t nr = 0; nr < IO_MAX_DEVICES; nr++) {
		if (!cells[nr].key || !gone_has_cell(io, nr)) {
			io->gone_ns[nr] = 0;
			continue;
		}
		if (!(cells[nr].key & 1))
			io_forget(io, nr);
		if (!io->gone_ns[nr])
			io->gone_ns[nr] = now_ns;
	}
}

static bool gone_is_due(const struct io *io, uint64_t gone_ns, uint64_t now_ns)
{
	return gone_ns && now_ns - gone_ns >= io->wants.reuse_after_ns;
}

/* Commands in flight hold numbers, and so do keys with rows. */
static void gone_mark_used(const struct io *io, bool used[IO_MAX_DEVICES])
{
	const struct io_slot_more *more =
		(const void *)((const char *)io->slot_cells.cells + io_more_at(io));
	const struct io_key *keys = io->key_cells.cells;
	const struct row_table *rows = &io->rows;

	for (uint32_t nr = 0; nr < io->slots.nr; nr++)
		if (io->slots.slots[nr].state > IO_IGNORED)
			used[more[nr].device % IO_MAX_DEVICES] = true;
	for (uint32_t nr = rows->plan.first; nr < rows->plan.nr; nr++) {
		uint32_t key_nr = rows->rows[nr].key_nr & (rows->plan.nr_keys - 1);

		if (rows->rows[nr].claim)
			used[io_key_bits(keys[key_nr].packed, IO_KEY_DEVICE, 12)] = true;
	}
}

static void gone_release(struct io *io, uint32_t nr)
{
	struct io_device *cell = (struct io_device *)io->device_cells.cells + nr;

	if (cell->verdict != IO_UNWANTED)
		io->unjudged += cell->unjudged;
	memset(&cell->diskseq, 0, sizeof(*cell) - offsetof(struct io_device, diskseq));
	io->device_of[nr] = -1;
	io->gone_ns[nr] = 0;
	__atomic_store_n(&cell->key, 0, __ATOMIC_SEQ_CST);
}

static void gone_release_cells(struct io *io, uint64_t now_ns, io_lets_go_fn fn, void *arg)
{
	const struct io_device *cells = io->device_cells.cells;
	bool used[IO_MAX_DEVICES] = { false }, some = false;

	for (uint32_t nr = 0; nr < IO_MAX_DEVICES && !some; nr++)
		some = gone_is_due(io, io->gone_ns[nr], now_ns);
	if (!some)
		return;
	gone_mark_used(io, used);
	for (uint32_t nr = IO_MAX_DEVICES; nr-- > 0;)
		if (gone_is_due(io, io->gone_ns[nr], now_ns) && !used[nr] &&
		    !cells[(nr + 1) % IO_MAX_DEVICES].key && fn(arg, nr, io->gone_ns[nr]))
			gone_release(io, nr);
}

/* Devices whose cells are free, or that had none. */
static void gone_release_places(struct io *io, uint64_t now_ns, io_lets_go_fn fn, void *arg)
{
	for (size_t i = 0; i < io->devices.nr; i++) {
		const struct device *device = &io->devices.devices[i];
		uint32_t nr = 0;

		if (!device->name[0] || !device->gone || device->said != DEVICE_SAID_GONE ||
		    !gone_is_due(io, device->gone_ns, now_ns))
			continue;
		while (nr < IO_MAX_DEVICES && io->device_of[nr] != (int)i)
			nr++;
		if (nr == IO_MAX_DEVICES &&
		    fn(arg, (uint32_t)(IO_MAX_DEVICES + i), device->gone_ns))
			device_list__forget(&io->devices, (int)i);
	}
}

void io__reuse(struct io *io, io_lets_go_fn fn, void *arg)
{
	uint64_t now_ns = clock__mono_ns();

	gone_look(io, now_ns);
	gone_release_cells(io, now_ns, fn, arg);
	if (io->wants.reuses_places)
		gone_release_places(io, now_ns, fn, arg);
	slot_table__sweep(&io->slots, now_ns, 0); /* of these, or the end of one */
}
