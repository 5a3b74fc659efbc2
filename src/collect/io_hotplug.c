/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_hotplug.c: devices that appear and vanish during the run. The kernel's messages say when to
 * look; vanished devices are forgotten, new ones are measured from their first command. Each change
 * is reported, and is a record where troubles are wanted.
 */
#include "collect/io_inside.h"

#include <errno.h>
#include <time.h>
#include "base/clock.h"
#include "base/log.h"

enum { HOTPLUG_LOOKS = 100 };

static void io_forget_device(struct io *io, int gone)
{
	for (uint32_t nr = 0; nr < IO_MAX_DEVICES; nr++)
		if (io->device_of[nr] == gone)
			io_forget(io, nr);
}

/* Was it measured, before it was marked as gone? */
static bool io_was_wanted(struct io *io, struct device *device)
{
	bool wanted;

	device->gone = false;
	wanted = io_is_wanted(io, device);
	device->gone = true;
	return wanted;
}

static void io_say_gone(struct io *io, int index)
{
	struct device *device = &io->devices.devices[index];

	io_forget_device(io, index);
	device->gone_ns = clock__mono_ns();
	if (device->said == DEVICE_SAID_THERE && io_was_wanted(io, device)) {
		log_note("%s is gone", device->name);
		io_note_event(io, EVENT_GONE, index);
	}
}

/* Without diskseq in the kernel, a replaced device may look like the old one: then it is "back". */
static void io_say_there(struct io *io, int index)
{
	const struct device *device = &io->devices.devices[index];

	if (io->nr_choices)
		io_publish_name(io, device);
	if (!io_is_wanted(io, device))
		return;
	if (device->said == DEVICE_SAID_GONE)
		log_note("%s is back", device->name);
	else if (io_is_nvme(device) && !io->nvme_attached)
		log_warn("%s appeared, but nvme_core was not loaded at the start: it is not "
			 "measured; restart iosonar",
			 device->name);
	else
		log_note("%s appeared", device->name);
	io_note_event(io, EVENT_APPEARED, index);
}

/* A command may be seen, and the list read, before the kernel's message about its device. */
static void io_say_news(struct io *io)
{
	for (size_t i = 0; i < io->devices.nr; i++) {
		struct device *device = &io->devices.devices[i];
		enum device_said now = device->gone ? DEVICE_SAID_GONE : DEVICE_SAID_THERE;

		if (device->said == now)
			continue;
		if (device->gone)
			io_say_gone(io, (int)i);
		else
			io_say_there(io, (int)i);
		device->said = now;
	}
}

/* Of bios or of paths; or a disk whose queues are not there yet. */
static bool io_has_no_queues(const struct device *device)
{
	return device->kind == DEVICE_BIO || device->kind == DEVICE_NVME_HEAD;
}

/*
 * Linux 5.10 announces a disk before its queues are in sysfs: what is read at once may lack them,
 * and nothing is announced again. A directory of queues has a block size; hardware queues follow at
 * once.
 */
static void io_refresh(struct io *io, const char *name)
{
	static const struct timespec a_moment = { .tv_nsec = 10000000 };
	const struct device *device;
	bool is_last = false;

	for (int look = 0; look < HOTPLUG_LOOKS && !is_last; look++) {
		if (look)
			clock_nanosleep(CLOCK_MONOTONIC, 0, &a_moment, NULL);
		device_list__refresh(&io->devices, name);
		device = device_list__find(&io->devices, name);
		if (!device || device->gone || device->said == DEVICE_SAID_THERE ||
		    !io_has_no_queues(device))
			return;
		is_last = look && device->block_size;
	}
}

/* name NULL: the kernel dropped messages; check all devices. */
static int io_follow(struct io *io, const char *name)
{
	size_t nr = io->devices.nr;
	struct device_list now = { 0 };

	io_resolve_all(io);
	if (name) {
		io_refresh(io, name);
	} else if (!device_list__read_by(&now, "", io->devices.scout)) {
		for (size_t i = 0; i < nr; i++)
			device_list__refresh(&io->devices, io->devices.devices[i].name);
		for (size_t i = 0; i < now.nr; i++)
			device_list__refresh(&io->devices, now.devices[i].name);
		device_list__free(&now);
	}
	io_say_news(io);
	return !io->block_attached && io_wants_block(io) ? io_attach_block(io) : 0;
}

int io__on_uevent(void *arg)
{
	struct io *io = arg;
	struct uevent event;
	int got;

	while ((got = uevent__read(io->uevent_fd, &event)) > 0) {
		int err = io_follow(io, event.name);
		const struct device *device =
			event.connected ? device_list__find(&io->devices, event.name) : NULL;

		if (device)
			io_note_event(io, EVENT_CONNECTED, (int)(device - io->devices.devices));
		if (err)
			return err;
	}
	return got == -ENOBUFS ? io_follow(io, NULL) : 0;
}
