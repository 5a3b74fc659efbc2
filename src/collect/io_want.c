/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_want.c: which devices are wanted, and so which programs? Pure: from the list of devices, the
 * choice of -d, the view's wants and the kernel's shape; reads and keeps nothing.
 */
#include "collect/io_inside.h"

bool io_is_nvme(const struct device *device)
{
	return device->kind == DEVICE_NVME_NS || device->kind == DEVICE_NVME_CTRL;
}

bool io_is_measurable(const struct device *device)
{
	return !device->gone &&
	       (io_is_nvme(device) || (device->kind == DEVICE_REQUEST && device->size_bytes));
}

const struct device_choice *io_choice_of(const struct io *io, const struct device *device)
{
	for (size_t i = 0; i < io->nr_choices; i++)
		if (device_choice__means(&io->choices[i], device))
			return &io->choices[i];
	return NULL;
}

/* Its commands are of a wanted kind. */
static bool io_kind_is_wanted(const struct io *io, const struct device *device)
{
	uint32_t nvme = 1 << IO_NVME | 1 << IO_ADMIN | 1 << IO_FABRICS;

	return !io->wants.kinds || io->wants.kinds & (io_is_nvme(device) ? nvme : 1 << IO_BLOCK);
}

/* It has bios, but no commands. */
static bool io_is_bio_based(const struct io *io, const struct device *device)
{
	return io->wants.bios && device->kind == DEVICE_BIO && !device->gone && device->size_bytes;
}

bool io_is_wanted(const struct io *io, const struct device *device)
{
	return (io_is_measurable(device) || io_is_bio_based(io, device)) &&
	       io_kind_is_wanted(io, device) && (!io->nr_choices || io_choice_of(io, device));
}

bool io__measures(const struct io *io, const struct device *device)
{
	return io_is_wanted(io, device);
}

bool io_wants_bios_of(const struct io *io, const struct device *device)
{
	return io_is_bio_based(io, device) && io_is_wanted(io, device);
}

static bool io_wants_some(const struct io *io, bool nvme)
{
	for (size_t i = 0; i < io->devices.nr; i++)
		if (io_is_nvme(&io->devices.devices[i]) == nvme &&
		    io_is_wanted(io, &io->devices.devices[i]))
			return true;
	return false;
}

bool io_wants_block(const struct io *io)
{
	return io_wants_some(io, false);
}

bool io__sees_nvme(const struct io *io)
{
	return io->nr_choices ? io_wants_some(io, true) : io->kernel.nvme_loaded;
}

bool io_may_cast(const struct io *io)
{
	return io->kernel.rdonly_cast_id && io->kernel.nvme_status_at;
}

/* More than times. Where tasks are keys or filtered, owners are wanted. */
static bool io_asks_for_more(const struct io_wants *w)
{
	const struct filter_options *f = w->filter;

	return w->details || w->owners || w->bios || w->depths || w->slowest || w->rows ||
	       w->split || w->troubles || w->by_size || w->by_queue || w->by_cpu || f->nsid.given ||
	       f->qid.given || f->min_ns.given || f->failed;
}

bool io_has_record_cells(const struct io *io)
{
	return io->wants.records && !io->wants.stages && io__sees_nvme(io) && io_may_cast(io);
}

bool io_has_cells(const struct io *io)
{
	return io_has_ladders(io) || io_has_record_cells(io);
}

bool io_has_ladders(const struct io *io)
{
	for (size_t i = 0; i < io->nr_choices; i++)
		if (io->choices[i].nr_sectors)
			return false;
	return io->wants.stages && !io_asks_for_more(&io->wants) && io__sees_nvme(io) &&
	       io_may_cast(io) && kernel__may_type_block(&io->kernel) &&
	       !io->kernel.bio_queue_argument;
}

/* Of the slowest alone: nearly no I/O needs the search. A bio that ends has lost its extent. */
bool io_finds_files_at_end(const struct io *io)
{
	return io->wants.files && io->wants.slowest && !io->wants.bios && !io->wants.by_file;
}

bool io_unwinds(const struct io *io)
{
	return io->wants.user_stacks && unwind_how__has_tables(io->wants.unwind);
}
