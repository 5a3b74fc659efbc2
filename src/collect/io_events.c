/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_events.c: events of controllers and disks, as records among those of commands. The programs
 * know a controller by its number and a command by its request; this adds their device, so that
 * views and captures need not look it up.
 */
#include "collect/io_inside.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "base/clock.h"
#include "base/grow.h"
#include "base/log.h"
#include "bpf/io.skel.h"
#include "collect/ctrl_watch.h"

int io_watch_controllers(struct io *io)
{
	if (!io->wants.troubles || !io->wants.only_troubled || !io->nvme_attached ||
	    !io->kernel.nvme_instance_at)
		return 0;
	io->ctrl_watch =
		ctrl_watch__new(bpf_map__fd(io->skel->maps.io_rings), io->nr_cpus, &io->kernel);
	return io->ctrl_watch ? 0 : log_err(-ENOMEM, "out of memory");
}

static bool event_is_wanted(const struct io *io, const struct device *device)
{
	return device_list__concerns(&io->devices, io->choices, io->nr_choices, device);
}

/* The controller of that number. */
static int event_controller(const struct io *io, uint32_t instance)
{
	char name[16];
	const struct device *device;

	snprintf(name, sizeof(name), "nvme%u", instance);
	device = device_list__find(&io->devices, name);
	return device && device->kind == DEVICE_NVME_CTRL ? (int)(device - io->devices.devices)
							  : -1;
}

/* The command that timed out, as its slot has it: it is in flight, or was until just now. */
static bool event_of_command(const struct io *io, struct io_record *record)
{
	const struct io_slot *cells = io->slot_cells.cells;
	uint64_t when_ns = record->end_ns, rq = record->result;

	for (uint32_t nr = 0; rq && nr < io->slots.nr; nr++) {
		if (cells[nr].key != rq || cells[nr].state < IO_OPEN)
			continue;
		io_record_of_slot(io, nr, &cells[nr], record);
		record->end_ns = when_ns;
		record->status = 0;
		record->what = RECORD_TIMEOUT;
		return true;
	}
	return false;
}

bool io_finish_event(struct io *io, struct io_record *record)
{
	int index;

	if (record->op == EVENT_TIMEOUT)
		return event_of_command(io, record);
	index = event_controller(io, record->nsid);
	if (index < 0 || !event_is_wanted(io, &io->devices.devices[index]))
		return false;
	record->device = (uint16_t)(IO_MAX_DEVICES + (uint32_t)index);
	record->nsid = 0;
	return true;
}

/* A device appeared, vanished or was connected again. Kept until records are read. */
void io_note_event(struct io *io, enum record_event event, int index)
{
	if (!io->wants.troubles || !event_is_wanted(io, &io->devices.devices[index]))
		return;
	if (GROW_BY_ONE(io->events, io->nr_events)) {
		io->nr_events_lost++;
		return;
	}
	io->events[io->nr_events++] = (struct io_record){
		.first_ns = clock__mono_ns(),
		.last_ns = clock__mono_ns(),
		.end_ns = clock__mono_ns(),
		.device = (uint16_t)(IO_MAX_DEVICES + (uint32_t)index),
		.kind = IO_ADMIN,
		.op = (uint8_t)event,
		.what = RECORD_EVENT,
	};
}

void io_hand_on_events(struct io *io)
{
	for (size_t i = 0; i < io->nr_events; i++)
		io->on_record(io->on_record_arg, &io->events[i], IO_FROM_RING);
	io->nr_events = 0;
}

uint64_t io__events_missed(const struct io *io)
{
	return ctrl_watch__dropped(io->ctrl_watch) + io->nr_events_lost;
}
