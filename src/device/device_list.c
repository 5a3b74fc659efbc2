/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * device_list.c: which devices are present, and is this still the same one? Follows uevents. It
 * cannot tell two drives without a serial from each other on a kernel without diskseq (5.10), nor
 * hear of the hidden legs of a multipath head: the kernel sends no uevents for them (block:
 * Suppress uevent for hidden device when removed, 2021), so they are checked whenever their
 * controller or head is.
 */
#define _GNU_SOURCE
#include "device/device_inside.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/log.h"
#include "base/scout.h"

/* A place without a name was another device's. */
static int device_list_place(struct device_list *list, struct device *device)
{
	for (size_t i = 0; i < list->nr; i++) {
		if (list->devices[i].name[0])
			continue;
		list->devices[i] = *device;
		return (int)i;
	}
	return -ENOENT;
}

/* The new entry's index. Takes ownership of the device, even on failure. */
static int device_list_append(struct device_list *list, struct device *device)
{
	int index = list->nr_forgotten ? device_list_place(list, device) : -ENOENT;

	if (index >= 0) {
		list->nr_forgotten--;
		return index;
	}
	if (list->nr >= INT_MAX || GROW_BY_ONE(list->devices, list->nr)) {
		device__free(device);
		return -ENOMEM;
	}
	list->devices[list->nr] = *device;
	return (int)list->nr++;
}

static bool device_is_wanted(const char *name)
{
	if (device_name_is_sane(name))
		return true;
	if (name[0] != '.')
		log_verbose("'%.64s' is not a device name; left out", name);
	return false;
}

static bool device_is_leg(const char *name)
{
	int ctrl;

	return device_name_is_sane(name) && device_name_is_leg(name, &ctrl);
}

struct device_walk {
	bool (*filter)(const char *name);
	int (*fn)(struct device_list *list, const char *name);
};

static int device_list_walk_far(struct device_list *list, const char *path,
				const struct device_walk *walk)
{
	char *names = NULL;
	ssize_t bytes = scout__names(list->scout, path, &names);
	int err = 0;

	if (bytes < 0)
		return (int)bytes;
	for (const char *name = names; name < names + bytes && !err; name += strlen(name) + 1)
		if (walk->filter(name))
			err = walk->fn(list, name);
	free(names);
	return err;
}

/* Calls fn with every name in the folder that passes the filter, nvme2n1 before nvme10n1. */
static int device_list_walk(struct device_list *list, const char *folder, struct device_walk walk)
{
	char path[PATH_MAX];
	struct dirent **names;
	int nr, i, err = 0;

	snprintf(path, sizeof(path), "%s%s", list->root, folder);
	if (list->scout)
		return device_list_walk_far(list, path, &walk);
	nr = scandir(path, &names, NULL, versionsort);
	if (nr < 0)
		return -errno;
	for (i = 0; i < nr; i++) {
		if (!err && walk.filter(names[i]->d_name))
			err = walk.fn(list, names[i]->d_name);
		free(names[i]);
	}
	free(names);
	return err;
}

static int device_list_add(struct device_list *list, const char *name)
{
	struct device device;
	int err;

	err = device_read(list, name, &device);
	err = err ?: device_list_append(list, &device);
	return err < 0 && err != -ENOENT ? err : 0; /* -ENOENT: it left while we looked */
}

static int device_list_add_ctrl(struct device_list *list, const char *name)
{
	return device_ctrl_number(name) < 0 ? 0 : device_list_add(list, name);
}

int device_list__read(struct device_list *list, const char *root)
{
	return device_list__read_by(list, root, NULL);
}

int device_list__read_by(struct device_list *list, const char *root, const struct scout *scout)
{
	int err;

	*list = (struct device_list){ .scout = scout };
	if (strlen(root) >= sizeof(list->root))
		return log_err(-ENAMETOOLONG, "'%s' is too long for a root directory", root);
	strcpy(list->root, root);
	err = device_list_walk(list, "/sys/class/nvme",
			       (struct device_walk){ device_is_wanted, device_list_add_ctrl });
	if (!err || err == -ENOENT) /* no NVMe driver, no such folder */
		err = device_list_walk(list, "/sys/block",
				       (struct device_walk){ device_is_wanted, device_list_add });
	if (!err)
		return 0;
	device_list__free(list);
	return log_err(err, "cannot read the devices in '%s/sys': %s", root, strerror(-err));
}

void device_list__free(struct device_list *list)
{
	if (!list)
		return;
	for (size_t i = 0; i < list->nr; i++)
		device__free(&list->devices[i]);
	free(list->devices);
	list->devices = NULL;
	list->nr = list->nr_forgotten = 0;
}

/* An empty drive or loop device was never measured. */
char *device_list__label(const struct device_list *list, int index, char *buf, size_t size)
{
	int nth = 1;

	if (index < 0 || (size_t)index >= list->nr) {
		snprintf(buf, size, "?");
		return buf;
	}
	for (int i = 0; i < index; i++)
		nth += !strcmp(list->devices[i].name, list->devices[index].name) &&
		       list->devices[i].host_number == list->devices[index].host_number &&
		       (list->devices[i].size_bytes || list->devices[i].kind == DEVICE_NVME_CTRL);
	snprintf(buf, size, nth > 1 ? "%s#%d" : "%s", device__shown(&list->devices[index]), nth);
	return buf;
}

void device_list__forget(struct device_list *list, int index)
{
	struct device *device = &list->devices[index];

	device__free(device);
	*device = (struct device){
		.kind = DEVICE_BIO, .ctrl = -1, .gone = true, .said = DEVICE_SAID_GONE
	};
	list->nr_forgotten++;
}

/* Places may be used again: the last one that went is not always behind the others. */
struct device *device_list__find(const struct device_list *list, const char *name)
{
	struct device *found = NULL;

	for (size_t i = list->nr; i-- > 0;) {
		struct device *device = &list->devices[i];

		if (strcmp(device->name, name))
			continue;
		if (!device->gone)
			return device;
		if (!found || device->gone_ns > found->gone_ns)
			found = device;
	}
	return found;
}

/* A missing value proves nothing; without any values, only a device that never left is the same. */
static bool device_is_same(const struct device *old, const struct device *now)
{
	bool has_seq = old->diskseq && now->diskseq;
	bool has_serial = old->serial[0] && now->serial[0];

	if (has_seq && old->diskseq != now->diskseq)
		return false;
	if (has_serial && strcmp(old->serial, now->serial))
		return false;
	return has_seq || has_serial || !old->gone;
}

/* A device that is being removed reports less than before: its identifiers are kept. */
static void device_update(struct device *old, const struct device *now)
{
	struct device known = *old;

	free(known.partitions);
	*old = *now;
	old->said = known.said;
	old->gone_ns = known.gone_ns;
	if (!old->diskseq)
		old->diskseq = known.diskseq;
	if (!old->serial[0])
		memcpy(old->serial, known.serial, sizeof(old->serial));
	if (!old->model[0])
		memcpy(old->model, known.model, sizeof(old->model));
	if (!old->firmware[0])
		memcpy(old->firmware, known.firmware, sizeof(old->firmware));
}

static int device_list_refresh(struct device_list *list, const char *name)
{
	struct device *old = device_list__find(list, name);
	struct device now;
	int err;

	err = device_read(list, name, &now);
	if (err == -ENOENT && old)
		old->gone = true;
	else if (err)
		return err;
	else if (!old || !device_is_same(old, &now)) {
		if (old)
			old->gone = true;
		return device_list_append(list, &now);
	} else
		device_update(old, &now);
	return (int)(old - list->devices);
}

static int device_list_refresh_leg(struct device_list *list, const char *name)
{
	int err = device_list_refresh(list, name);

	return err < 0 && err != -ENOENT ? err : 0;
}

/* Legs that came, then legs that went. */
static int device_list_refresh_legs(struct device_list *list)
{
	char name[sizeof(list->devices->name)];
	size_t i, nr = list->nr;
	int err, ctrl;

	err = device_list_walk(list, "/sys/block",
			       (struct device_walk){ device_is_leg, device_list_refresh_leg });
	for (i = 0; i < nr && !err; i++) {
		if (list->devices[i].gone || !device_name_is_leg(list->devices[i].name, &ctrl))
			continue;
		memcpy(name, list->devices[i].name, sizeof(name)); /* the array may move */
		err = device_list_refresh_leg(list, name);
	}
	return err;
}

int device_list__refresh(struct device_list *list, const char *name)
{
	int index = device_list_refresh(list, name);
	enum device_kind kind;
	int err;

	if (index < 0)
		return index;
	kind = list->devices[index].kind;
	if (kind != DEVICE_NVME_CTRL && kind != DEVICE_NVME_HEAD)
		return index;
	err = device_list_refresh_legs(list);
	return err && err != -ENOENT ? err : index;
}
