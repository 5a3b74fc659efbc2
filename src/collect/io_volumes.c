/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io_volumes.c: can a volume's bios be linked to those below it? For the device mapper, if the
 * function that ends its bios and the fields that link them are known; other stackers are named,
 * once. About 50 ms, only where such a device is wanted.
 */
#include "collect/io_inside.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "symbol/kallsyms.h"

static bool io_is_dm(const struct device *device)
{
	return !strncmp(device->name, "dm-", 3);
}

/* It is on top of other disks; zram and the like are not. */
static bool io_is_stacked(const struct io *io, const struct device *device)
{
	char path[sizeof(io->devices.root) + sizeof(device->name) + 32];
	struct dirent **below;
	int nr;

	snprintf(path, sizeof(path), "%s/sys/block/%s/slaves", io->devices.root, device->name);
	nr = scandir(path, &below, NULL, NULL);
	for (int i = 0; i < nr; i++)
		free(below[i]);
	if (nr >= 0)
		free(below);
	return nr > 2; /* "." and ".." */
}

static void io_name_untied(const struct io *io)
{
	char names[128] = "";
	size_t len = 0;

	for (size_t i = 0; i < io->devices.nr; i++) {
		const struct device *d = &io->devices.devices[i];

		if (!io_wants_bios_of(io, d) || io_is_dm(d) || !io_is_stacked(io, d))
			continue;
		if (len < sizeof(names))
			len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s",
						len ? ", " : "", d->name);
	}
	if (len)
		log_warn("%s: only bios of dm can be linked to the bios below them; these have one "
			 "step, Q2C",
			 names);
}

/* Without -d, volumes that appear later are wanted, too, if the module is loaded by now. */
static bool io_wants_dm(const struct io *io)
{
	for (size_t i = 0; i < io->devices.nr; i++)
		if (io_wants_bios_of(io, &io->devices.devices[i]) &&
		    io_is_dm(&io->devices.devices[i]))
			return true;
	return !io->nr_choices && !access("/sys/module/dm_mod", F_OK);
}

/*
 * A dm_mod without BTF is known from before 5.11 only, when events of bios carried the queue:
 * 5.10.223, where its code has these offsets. They must lead to a bio in flight.
 */
static bool io_find_dm_fields(const struct io *io, struct io_volumes *v)
{
	struct kernel_field fields[] = { { "dm_target_io", "clone", 48 },
					 { "dm_target_io", "io", 8 },
					 { "dm_io", "orig_bio", 24 } };

	if (!kernel__find_fields("dm_mod", fields, 3) && !io->kernel.bio_queue_argument)
		return false;
	v->clone_at = fields[0].at;
	v->io_at = fields[1].at;
	v->bio_at = fields[2].at;
	return true;
}

void io_prepare_volumes(struct io *io)
{
	static const char *const names[] = { "clone_endio [dm_mod]", "clone_endio" };
	uint64_t addresses[2];
	int err;

	io_name_untied(io);
	if (!io_wants_dm(io))
		return;
	if (!io_find_dm_fields(io, &io->volumes)) {
		log_warn("cannot link bios of dm to the bios below them: dm_mod has no BTF");
		return;
	}
	err = kallsyms__find("/proc/kallsyms", names, addresses, 2);
	io->volumes.dm_end = addresses[0] ? addresses[0] : addresses[1];
	if (err)
		log_warn("cannot link bios of dm to the bios below them: /proc/kallsyms: %s; its "
			 "addresses require CAP_SYSLOG, and kernel.kptr_restrict must not be 2",
			 strerror(-err));
	else if (!io->volumes.dm_end)
		log_warn("cannot link bios of dm to the bios below them: no clone_endio in "
			 "/proc/kallsyms");
}
