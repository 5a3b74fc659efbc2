/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_devices.c: which devices are measured? Tells the programs the choice of -d by name before a
 * device's first command; finds the devices that the programs met in sysfs.
 */
#include "collect/io_inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"

static int io_check_devices(struct io *io)
{
	bool some = false;

	for (size_t i = 0; i < io->devices.nr; i++)
		some |= io_is_wanted(io, &io->devices.devices[i]);
	if (some)
		return 0;
	if (io->wants.kinds && !(io->wants.kinds >> IO_BLOCK & 1))
		return log_err(-EOPNOTSUPP, "no NVMe controller found: nothing to show");
	return start__stop(&io->start, START_DEVICES, -EOPNOTSUPP, NULL);
}

/* A whole disk includes its partitions; the programs know a few partitions per disk. */
static int io_join_choice(struct io *io, const struct device_choice *choice, const char *text)
{
	uint32_t ranges = 0;

	for (size_t i = 0; i < io->nr_choices; i++) {
		struct device_choice *other = &io->choices[i];

		if (!choice->disk[0] || strcmp(choice->disk, other->disk))
			continue;
		if (!choice->nr_sectors)
			other->from_sector = other->nr_sectors = 0;
		if (!other->nr_sectors || other->from_sector == choice->from_sector)
			return 0;
		if (++ranges == IO_MAX_RANGES)
			return log_err(-EINVAL,
				       "-d %s: at most %d partitions of %s can be named; name the "
				       "whole disk",
				       text, IO_MAX_RANGES, choice->disk);
	}
	io->nr_choices++;
	return 0;
}

/* The partitions of this device that -d selects; none: the whole device. */
static void io_ranges_of(const struct io *io, const struct device *device,
			 struct io_range ranges[IO_MAX_RANGES])
{
	uint32_t nr = 0;

	memset(ranges, 0, IO_MAX_RANGES * sizeof(*ranges));
	for (size_t i = 0; i < io->nr_choices && nr < IO_MAX_RANGES; i++) {
		const struct device_choice *choice = &io->choices[i];

		if (!device_choice__means(choice, device))
			continue;
		if (!choice->nr_sectors) {
			memset(ranges, 0, IO_MAX_RANGES * sizeof(*ranges));
			return;
		}
		ranges[nr++] = (struct io_range){ choice->from_sector, choice->nr_sectors };
	}
}

int io_choose_devices(struct io *io, const struct option_list *names)
{
	if (!names->nr)
		return io_check_devices(io);
	io->choices = calloc(names->nr, sizeof(*io->choices));
	if (!io->choices)
		return log_err(-ENOMEM, "out of memory");
	for (size_t i = 0; i < names->nr; i++) {
		int err = device_list__choose(&io->devices, names->words[i],
					      &io->choices[io->nr_choices]);

		if (err)
			return err;
		err = io_join_choice(io, &io->choices[io->nr_choices], names->words[i]);
		if (err)
			return err;
	}
	return io_check_devices(io);
}

/* Tells the programs what -d means for a device's name, before its first command. */
void io_publish_name(struct io *io, const struct device *device)
{
	const struct device_choice *choice = io_choice_of(io, device);
	struct io_name *names = io->name_cells.cells, *name;
	__u64 words[IO_NAME_LEN / 8] = { 0 };
	uint32_t home;

	if (device->kind == DEVICE_NVME_CTRL)
		io_ctrl_name(words, device->ctrl);
	else
		memcpy(words, device->name, strnlen(device->name, sizeof(words) - 1));
	home = io_name_hash(words);
	for (uint32_t i = 0; i < IO_PROBES; i++) {
		name = &names[(home + i) & (IO_MAX_NAMES - 1)];
		if (name->verdict && memcmp(name->name, words, sizeof(words)))
			continue;
		io_ranges_of(io, device, name->ranges);
		name->verdict = choice ? IO_WANTED : IO_UNWANTED;
		memcpy(name->name, words, sizeof(words));
		return;
	}
	log_warn("too many device names: the first commands of %s may be counted as of an unknown "
		 "device",
		 device->name);
}

void io_publish_names(struct io *io)
{
	for (size_t i = 0; io->nr_choices && i < io->devices.nr; i++)
		io_publish_name(io, &io->devices.devices[i]);
}

/* Judges a device that the programs met before its name was published. */
static void io_judge(struct io *io, struct io_device *cell, const struct device *device)
{
	const struct device_choice *choice = io_choice_of(io, device);

	if (cell->verdict != IO_UNJUDGED)
		return;
	io_ranges_of(io, device, cell->ranges);
	__atomic_store_n(&cell->verdict, choice ? IO_WANTED : IO_UNWANTED, __ATOMIC_SEQ_CST);
}

/* A device that vanished before it was looked up: judged by its name alone. */
static void io_judge_by_name(struct io *io, struct io_device *cell)
{
	struct device device = { .ctrl = cell->ctrl, .kind = DEVICE_REQUEST };

	if (cell->kind != IO_BLOCK)
		device.kind = cell->name[0] ? DEVICE_NVME_NS : DEVICE_NVME_CTRL;
	if (cell->name[0])
		memcpy(device.name, cell->name, sizeof(device.name) - 1);
	else
		snprintf(device.name, sizeof(device.name), "nvme%d", cell->ctrl);
	io_judge(io, cell, &device);
}

/* The index in the device list of a cell's device; rereads the list if necessary. */
static int io_resolve(struct io *io, const struct io_device *cell)
{
	char name[IO_NAME_LEN + 1] = "";
	const struct device *device;
	uint64_t diskseq = cell->diskseq;
	int gone = -1, index;

	if (cell->name[0])
		memcpy(name, cell->name, IO_NAME_LEN);
	else
		snprintf(name, sizeof(name), "nvme%d", cell->ctrl);
	for (size_t i = io->devices.nr; i-- > 0;) {
		device = &io->devices.devices[i];
		if (strcmp(device->name, name) || (diskseq && device->diskseq != diskseq))
			continue;
		if (!device->gone || diskseq)
			return (int)i;
		gone = (int)i; /* before 5.15: is there another device of that name already? */
		break;
	}
	index = device_list__refresh(&io->devices, name);
	if (index < 0)
		return gone;
	/* Its successor: the device went before it was looked up. */
	if (diskseq && io->devices.devices[index].diskseq &&
	    io->devices.devices[index].diskseq != diskseq)
		return -1;
	return index;
}

int io_device_index(struct io *io, uint32_t nr)
{
	struct io_device *cell = (struct io_device *)io->device_cells.cells + nr;

	if (io->device_of[nr] < 0) {
		io->device_of[nr] = io_resolve(io, cell);
		if (io->device_of[nr] >= 0)
			io_judge(io, cell, &io->devices.devices[io->device_of[nr]]);
		else
			io_judge_by_name(io, cell);
	}
	return io->device_of[nr];
}

/* Call it while a name still means the device that the programs met. */
void io_resolve_all(struct io *io)
{
	struct io_device *cells = io->device_cells.cells;

	for (uint32_t nr = 0; nr < IO_MAX_DEVICES; nr++)
		if (cells[nr].key)
			io_device_index(io, nr);
}
