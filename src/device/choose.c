/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * choose.c: which disk or controller does -d name? Tries the ways to name one in turn, from the
 * kernel's name to a mount point, and costs a few reads in /sys. It cannot see the other disks of a
 * file system that spans several (btrfs): the mount names one of them.
 */
#define _GNU_SOURCE
#include "device/device.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "device/mounts.h"

#define CHOOSE_DIGITS "0123456789"

enum { CHOOSE_NAMES_MAX = 12 };
enum { CHOOSE_DEPTH_MAX = 8 }; /* dm over dm over md …; deeper stacks are not deliberate */

/*
 * A way returns 0 and *choice, -ENOENT for "not mine, ask the next", or -ENODEV, logged, if it
 * knows the device but cannot use it.
 */
typedef int (*choose_way)(const struct device_list *list, const char *text,
			  struct device_choice *choice);

struct choose_leaves {
	char names[CHOOSE_NAMES_MAX][sizeof(((struct device *)0)->name)];
	size_t nr;
};

/* The file's first line, without its end; "" and false when there is none. */
__attribute__((format(printf, 4, 5))) static bool choose_read(const struct device_list *list,
							      char *buf, size_t size,
							      const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	int len;

	len = snprintf(path, sizeof(path), "%s", list->root);
	va_start(args, fmt);
	len += vsnprintf(path + len, sizeof(path) - (size_t)len, fmt, args);
	va_end(args);
	buf[0] = '\0';
	return len < (int)sizeof(path) && text__read_line(path, buf, size);
}

/* The last component of the target of a link below the root. */
static bool choose_read_link(const struct device_list *list, const char *link, char *buf,
			     size_t size)
{
	char path[PATH_MAX], target[PATH_MAX], *base;
	ssize_t len;

	snprintf(path, sizeof(path), "%s%s", list->root, link);
	len = readlink(path, target, sizeof(target) - 1);
	if (len <= 0)
		return false;
	target[len] = '\0';
	base = strrchr(target, '/');
	base = base ? base + 1 : target;
	if (strlen(base) >= size)
		return false;
	memcpy(buf, base, strlen(base) + 1);
	return true;
}

static const struct device *choose_find(const struct device_list *list, const char *name)
{
	const struct device *device = device_list__find(list, name);

	return device && !device->gone ? device : NULL;
}

/* Is vda1 a partition of vda? Its name begins with the disk's, its folder lies in the disk's. */
static bool choose_is_partition(const struct device_list *list, const struct device *disk,
				const char *name)
{
	char text[32];

	if (disk->gone || strncmp(name, disk->name, strlen(disk->name)) || strchr(name, '/'))
		return false;
	return choose_read(list, text, sizeof(text), "/sys/block/%s/%s/partition", disk->name,
			   name);
}

/* The disk a partition lies on, or NULL. */
static const struct device *choose_parent(const struct device_list *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++)
		if (choose_is_partition(list, &list->devices[i], name))
			return &list->devices[i];
	return NULL;
}

static void choose_add_leaf(struct choose_leaves *leaves, const char *name)
{
	for (size_t i = 0; i < leaves->nr; i++)
		if (!strcmp(leaves->names[i], name))
			return;
	if (leaves->nr < CHOOSE_NAMES_MAX)
		memcpy(leaves->names[leaves->nr++], name, strlen(name) + 1);
}

/* The disks at the bottom of a stack of bio-based devices. */
static void choose_collect(const struct device_list *list, const char *name, int depth,
			   struct choose_leaves *leaves)
{
	const struct device *disk;
	struct dirent **slaves;
	char path[PATH_MAX];
	int nr, i;

	snprintf(path, sizeof(path), "%s/sys/block/%s/slaves", list->root, name);
	nr = depth < CHOOSE_DEPTH_MAX ? scandir(path, &slaves, NULL, versionsort) : -1;
	if (nr < 0)
		return;
	for (i = 0; i < nr; i++) {
		disk = choose_find(list, slaves[i]->d_name);
		if (!disk)
			disk = choose_parent(list, slaves[i]->d_name);
		if (disk && disk->kind == DEVICE_BIO)
			choose_collect(list, disk->name, depth + 1, leaves);
		else if (disk)
			choose_add_leaf(leaves, disk->name);
		free(slaves[i]);
	}
	free(slaves);
}

/* "dm-0 (vg-root) passes bios on and …; measure the disks below it: -d nvme0n1,sda" */
static int choose_refuse_bio(const struct device_list *list, const struct device *device)
{
	char names[CHOOSE_NAMES_MAX * sizeof(device->name)] = "", nick[128] = "", shown[136] = "";
	struct choose_leaves leaves = { .nr = 0 };
	size_t i, len = 0;

	if (choose_read(list, nick, sizeof(nick), "/sys/block/%s/dm/name", device->name))
		snprintf(shown, sizeof(shown), " (%s)", nick);
	choose_collect(list, device->name, 0, &leaves);
	if (!leaves.nr)
		return log_err(-ENODEV,
			       "%s%s is bio-based and issues no requests: use layers --at bio",
			       device->name, shown);
	for (i = 0; i < leaves.nr; i++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s%s", i ? "," : "",
					leaves.names[i]);
	return log_err(-ENODEV,
		       "%s%s is bio-based and issues no requests; measure the disk%s below it: -d "
		       "%s, or its bios: layers --at bio",
		       device->name, shown, leaves.nr == 1 ? "" : "s", names);
}

/* An NVMe namespace of size 0 still takes passthrough commands; other disks need a medium. */
static int choose_disk(const struct device_list *list, const struct device *device,
		       struct device_choice *choice)
{
	if (device->kind == DEVICE_BIO && !list->bios)
		return choose_refuse_bio(list, device);
	if (device->kind == DEVICE_REQUEST && !device->size_bytes)
		return log_err(-ENODEV, "%s has no medium (its size is 0)", device->name);
	if (device->kind == DEVICE_NVME_CTRL)
		choice->ctrl = device->ctrl;
	else
		memcpy(choice->disk, device->name, sizeof(choice->disk));
	return 0;
}

static int choose_partition(const struct device_list *list, const char *name,
			    struct device_choice *choice)
{
	const struct device *disk = choose_parent(list, name);
	char text[32];
	int err;

	if (!disk)
		return -ENOENT;
	err = choose_disk(list, disk, choice);
	if (err)
		return err;
	choose_read(list, text, sizeof(text), "/sys/block/%s/%s/start", disk->name, name);
	choice->from_sector = strtoull(text, NULL, 10);
	choose_read(list, text, sizeof(text), "/sys/block/%s/%s/size", disk->name, name);
	choice->nr_sectors = strtoull(text, NULL, 10);
	if (!choice->nr_sectors) /* would mean the whole disk */
		return log_err(-ENODEV, "the partition %s has no sectors; name the disk: -d %s",
			       name, disk->name);
	return 0;
}

/* nvme0, nvme0n1, vda, vda1 */
static int choose_by_name(const struct device_list *list, const char *name,
			  struct device_choice *choice)
{
	const struct device *device = choose_find(list, name);

	return device ? choose_disk(list, device, choice) : choose_partition(list, name, choice);
}

/* 259:0 */
static int choose_by_number(const struct device_list *list, const char *text,
			    struct device_choice *choice)
{
	size_t major = strspn(text, CHOOSE_DIGITS);
	size_t minor = text[major] == ':' ? strspn(text + major + 1, CHOOSE_DIGITS) : 0;
	char link[64], name[sizeof(choice->disk)];

	if (!major || !minor || text[major + 1 + minor] || major + minor > 20)
		return -ENOENT;
	snprintf(link, sizeof(link), "/sys/dev/block/%.24s", text);
	if (!choose_read_link(list, link, name, sizeof(name)))
		return -ENOENT;
	return choose_by_name(list, name, choice);
}

/* The namespace with this tail ("n1") on the controller whose folder is `parent` ("nvme0"). */
static const struct device *choose_find_namespace(const struct device_list *list,
						  const char *parent, const char *tail)
{
	const struct device *ctrl = choose_find(list, parent), *device;

	for (size_t i = 0; ctrl && i < list->nr; i++) {
		device = &list->devices[i];
		if (device->kind == DEVICE_NVME_NS && !device->gone && device->ctrl == ctrl->ctrl &&
		    !strcmp(device->name + 4 + strspn(device->name + 4, CHOOSE_DIGITS), tail))
			return device;
	}
	return NULL;
}

/*
 * ng0n1, the character device of a namespace: its first number is the controller's, the disk's is
 * the subsystem's. A head's ng has no controller above it; there both numbers are the subsystem's.
 */
static int choose_by_generic(const struct device_list *list, const char *text,
			     struct device_choice *choice)
{
	size_t nr = strncmp(text, "ng", 2) ? 0 : strspn(text + 2, CHOOSE_DIGITS);
	char link[96], parent[32] = "", name[sizeof(choice->disk)];
	const struct device *device;

	if (!nr || text[2 + nr] != 'n' || strlen(text) + 3 > sizeof(name))
		return -ENOENT;
	snprintf(link, sizeof(link), "/sys/class/nvme-generic/%.31s/device", text);
	choose_read_link(list, link, parent, sizeof(parent));
	device = choose_find_namespace(list, parent, text + 2 + nr);
	if (device)
		return choose_disk(list, device, choice);
	snprintf(name, sizeof(name), "nvme%.27s", text + 2);
	return choose_by_name(list, name, choice);
}

/* Device-mapper's name of a volume: vg/lv is vg-lv, and a '-' inside either is doubled. */
static void choose_mangle(const char *text, char *buf, size_t size)
{
	size_t len = 0;

	for (; *text && len + 2 < size; text++) {
		buf[len++] = *text == '/' ? '-' : *text;
		if (*text == '-')
			buf[len++] = '-';
	}
	buf[len] = '\0';
}

/* vg-root, vg/root */
static int choose_by_dm(const struct device_list *list, const char *text,
			struct device_choice *choice)
{
	const char *slash = strchr(text, '/');
	char wanted[256], name[256];

	if (slash && slash != text && !strchr(slash + 1, '/'))
		choose_mangle(text, wanted, sizeof(wanted));
	else
		snprintf(wanted, sizeof(wanted), "%s", text);
	for (size_t i = 0; i < list->nr; i++) {
		const struct device *device = &list->devices[i];

		if (device->gone || strncmp(device->name, "dm-", 3) ||
		    !choose_read(list, name, sizeof(name), "/sys/block/%s/dm/name", device->name))
			continue;
		if (!strcmp(name, wanted))
			return choose_disk(list, device, choice);
	}
	return -ENOENT;
}

/* The first way that knows the text. */
static int choose_first(const struct device_list *list, const choose_way *ways, const char *text,
			struct device_choice *choice)
{
	int err = -ENOENT;

	for (; *ways && err == -ENOENT; ways++)
		err = (*ways)(list, text, choice);
	return err;
}

static const choose_way choose_name_ways[] = { choose_by_name, choose_by_number, choose_by_generic,
					       choose_by_dm, NULL };

/* The path without links, below the root again; false when there is no such file. */
static bool choose_resolve(const struct device_list *list, const char *path, char *resolved,
			   struct stat *status)
{
	char root[PATH_MAX] = "", full[PATH_MAX];
	size_t len;

	if ((size_t)snprintf(full, sizeof(full), "%s%s", list->root, path) >= sizeof(full))
		return false;
	if (!realpath(full, resolved) || stat(resolved, status))
		return false;
	if (!list->root[0])
		return true;
	if (!realpath(list->root, root))
		return false;
	len = strlen(root);
	if (strncmp(resolved, root, len) || (resolved[len] && resolved[len] != '/'))
		return false;
	if (!resolved[len])
		strcpy(resolved, "/");
	else
		memmove(resolved, resolved + len, strlen(resolved + len) + 1);
	return true;
}

/* A node by its number, whatever its name; a controller or a generic node by its name. */
static int choose_by_node(const struct device_list *list, const char *resolved,
			  const struct stat *status, struct device_choice *choice)
{
	const char *base = strrchr(resolved, '/');
	char number[32];
	int err = -ENOENT;

	if (S_ISBLK(status->st_mode)) {
		snprintf(number, sizeof(number), "%u:%u", major(status->st_rdev),
			 minor(status->st_rdev));
		err = choose_by_number(list, number, choice);
	}
	if (err == -ENOENT && base && !strncmp(resolved, "/dev/", 5))
		err = choose_first(list, choose_name_ways, base + 1, choice);
	return err;
}

/*
 * btrfs has its own device number (0:N), which no disk has: there the mount's source names a node.
 * The mounter chose that text, so only a node is accepted, not another directory.
 */
static int choose_carrier(const struct device_list *list, const char *path,
			  const struct mount *mount, struct device_choice *choice)
{
	char number[32], resolved[PATH_MAX];
	struct stat status;

	if (strcmp(mount->at, path))
		return log_err(-ENODEV, "'%s' is not a mount point; it is on %s (%s): use -d '%s'",
			       path, mount->at, mount->source, mount->at);
	if (mount->dev >> 20) {
		snprintf(number, sizeof(number), "%u:%u", mount->dev >> 20, mount->dev & 0xfffff);
		return choose_by_number(list, number, choice);
	}
	if (strncmp(mount->source, "/dev/", 5) ||
	    !choose_resolve(list, mount->source, resolved, &status) || S_ISDIR(status.st_mode))
		return log_err(-ENODEV,
			       "'%s' is of type %s (%s), which is not on a single block device",
			       path, mount->type, mount->source);
	return choose_by_node(list, resolved, &status, choice);
}

static int choose_by_mount(const struct device_list *list, const char *path,
			   struct device_choice *choice)
{
	struct mounts mounts = { 0 };
	const struct mount *mount;
	char name[PATH_MAX];
	int err;

	snprintf(name, sizeof(name), "%s/proc/self/mountinfo", list->root);
	err = mounts__read(&mounts, name);
	mount = mounts__find(&mounts, path);
	if (err)
		log_err(err, "out of memory");
	else
		err = mount ? choose_carrier(list, path, mount, choice) : -ENOENT;
	mounts__free(&mounts);
	return err;
}

/* There is no node, as in a container with its own /dev: tries the name. */
static int choose_without_node(const struct device_list *list, const char *path,
			       struct device_choice *choice)
{
	if (!strncmp(path, "/dev/mapper/", 12))
		return choose_by_dm(list, path + 12, choice);
	if (!strncmp(path, "/dev/", 5))
		return choose_first(list, choose_name_ways, path + 5, choice);
	return -ENOENT;
}

/* /dev/vda, /dev/disk/by-id/…, /mnt */
static int choose_by_path(const struct device_list *list, const char *path,
			  struct device_choice *choice)
{
	char resolved[PATH_MAX];
	struct stat status;
	int err = -ENOENT;

	if (path[0] != '/')
		return -ENOENT;
	if (!choose_resolve(list, path, resolved, &status))
		return choose_without_node(list, path, choice);
	if (!S_ISDIR(status.st_mode))
		err = choose_by_node(list, resolved, &status, choice);
	if (err == -ENOENT && !S_ISBLK(status.st_mode) && !S_ISCHR(status.st_mode))
		err = choose_by_mount(list, resolved, choice);
	return err;
}

/* disk/by-id/…, mapper/… */
static int choose_below_dev(const struct device_list *list, const char *text,
			    struct device_choice *choice)
{
	char path[PATH_MAX];

	if (text[0] == '/' || !strchr(text, '/'))
		return -ENOENT;
	if ((size_t)snprintf(path, sizeof(path), "/dev/%s", text) >= sizeof(path))
		return -ENOENT;
	return choose_by_path(list, path, choice);
}

static const choose_way choose_ways[] = { choose_by_name,
					  choose_by_number,
					  choose_by_generic,
					  choose_by_dm,
					  choose_below_dev,
					  choose_by_path,
					  NULL };

int device_list__choose(const struct device_list *list, const char *text,
			struct device_choice *choice)
{
	char names[CHOOSE_NAMES_MAX * 40];
	int err;

	*choice = (struct device_choice){ .ctrl = -1 };
	err = choose_first(list, choose_ways, text, choice);
	if (err != -ENOENT)
		return err;
	return log_err(-ENODEV, "no block device named '%.128s'; available: %s", text,
		       device_list__names(list, names, sizeof(names)));
}

/* nvme0c1n1 without its c1 is nvme0n1, the head of this leg. */
static bool choose_is_leg_of(const char *leg, const char *head)
{
	size_t subsys, ns;

	if (strncmp(leg, "nvme", 4))
		return false;
	subsys = 4 + strspn(leg + 4, CHOOSE_DIGITS);
	if (leg[subsys] != 'c')
		return false;
	ns = subsys + 1 + strspn(leg + subsys + 1, CHOOSE_DIGITS);
	return !strncmp(leg, head, subsys) && !strcmp(leg + ns, head + subsys);
}

int device_list__head(const struct device_list *list, int index)
{
	if (!device__is_leg(&list->devices[index]))
		return index;
	for (size_t i = list->nr; i-- > 0;)
		if (list->devices[i].kind == DEVICE_NVME_HEAD &&
		    list->devices[i].host_number == list->devices[index].host_number &&
		    choose_is_leg_of(list->devices[index].name, list->devices[i].name))
			return (int)i;
	return index;
}

int device_list__station(const struct device_list *list, int index)
{
	const struct device *devices = list->devices, *device = &devices[index];

	for (int i = 0; i < index && device->ctrl >= 0 && device->serial[0]; i++)
		if (devices[i].ctrl == device->ctrl && devices[i].kind == device->kind &&
		    devices[i].host_number == device->host_number &&
		    !strcmp(devices[i].serial, device->serial))
			return i;
	return index;
}

bool device_choice__means(const struct device_choice *choice, const struct device *device)
{
	if (choice->host_number && device->host_number != choice->host_number)
		return false;
	if (choice->ctrl >= 0)
		return device->ctrl == choice->ctrl;
	if (!choice->disk[0])
		return false;
	return !strcmp(device->name, choice->disk) || choose_is_leg_of(device->name, choice->disk);
}

/* What a user could give to -d: no legs, no empty drives, nothing that would be refused. */
static bool choose_is_offered(const struct device *device)
{
	if (device->gone)
		return false;
	if (device->kind == DEVICE_REQUEST)
		return device->size_bytes;
	if (device->kind == DEVICE_NVME_NS)
		return !strchr(device->name, 'c');
	return device->kind == DEVICE_NVME_HEAD;
}

char *device_list__names(const struct device_list *list, char *buf, size_t size)
{
	size_t i, len = 0, nr = 0;

	if (!size)
		return buf;
	snprintf(buf, size, "none");
	for (i = 0; i < list->nr; i++) {
		if (!choose_is_offered(&list->devices[i]) || nr++ >= CHOOSE_NAMES_MAX ||
		    len >= size)
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? ", " : "",
					device__shown(&list->devices[i]));
	}
	if (nr > CHOOSE_NAMES_MAX && len < size)
		snprintf(buf + len, size - len, " and %zu more", nr - CHOOSE_NAMES_MAX);
	return buf;
}

static bool device_is_chosen(const struct device_choice *choices, size_t nr,
			     const struct device *device)
{
	for (size_t i = 0; i < nr; i++)
		if (device_choice__means(&choices[i], device))
			return true;
	return false;
}

bool device_list__concerns(const struct device_list *list, const struct device_choice *choices,
			   size_t nr, const struct device *device)
{
	if (!nr || device_is_chosen(choices, nr, device))
		return true;
	for (size_t i = 0; device->kind == DEVICE_NVME_CTRL && i < list->nr; i++)
		if (list->devices[i].ctrl == device->ctrl &&
		    device_is_chosen(choices, nr, &list->devices[i]))
			return true;
	return false;
}
