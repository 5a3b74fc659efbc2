/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * device.c: what does sysfs say of this device? Costs about sixteen small reads per device and
 * three per partition, at the start and at its uevents; through a scout two switches of process
 * more. A value that is missing is 0 or "".
 */
#define _GNU_SOURCE
#include "device/device_inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/log.h"
#include "base/scout.h"

#define DEVICE_DIGITS "0123456789"

/* The files that may hold a value, best first; ends with NULL. */
static const char *const device_serials[] = { "serial", "device/serial", "device/wwid", "wwid",
					      NULL };
static const char *const device_models[] = { "device/model", "model", NULL };
static const char *const device_firmwares[] = { "device/firmware_rev", "device/rev", "firmware_rev",
						NULL };

/* A kernel name has at most 31 characters (DISK_NAME_LEN), none of them blank. */
bool device_name_is_sane(const char *name)
{
	size_t len = strnlen(name, sizeof(((struct device *)0)->name));

	if (!len || len == sizeof(((struct device *)0)->name) || name[0] == '.')
		return false;
	for (; *name; name++)
		if (*name <= ' ' || *name >= 0x7f || *name == '/')
			return false;
	return true;
}

/* The text after `word` and a number; NULL: the text has another form. */
static const char *device_skip(const char *text, const char *word, int *nr)
{
	size_t len = strlen(word);
	unsigned long value;
	char *end;

	if (!text || strncmp(text, word, len) || !strspn(text + len, DEVICE_DIGITS))
		return NULL;
	errno = 0;
	value = strtoul(text + len, &end, 10);
	if (errno || value > INT_MAX)
		return NULL;
	*nr = (int)value;
	return end;
}

/* nvme0 gives 0; anything else -1. */
int device_ctrl_number(const char *name)
{
	int nr = -1;
	const char *rest = device_skip(name, "nvme", &nr);

	return rest && !*rest ? nr : -1;
}

/* nvme0c1n1: *ctrl becomes 1. */
bool device_name_is_leg(const char *name, int *ctrl)
{
	int subsys, ns;
	const char *rest = device_skip(name, "nvme", &subsys);

	rest = device_skip(device_skip(rest, "c", ctrl), "n", &ns);
	return rest && !*rest;
}

bool device__is_leg(const struct device *device)
{
	int ctrl;

	return device->kind == DEVICE_NVME_NS && device_name_is_leg(device->name, &ctrl);
}

static bool device_name_is_namespace(const char *name)
{
	int subsys, ns;
	const char *rest = device_skip(device_skip(name, "nvme", &subsys), "n", &ns);

	return rest && !*rest;
}

/* Trims blanks at both ends and makes the rest fit for one line of text; returns its start. */
static char *device_trim(char *text)
{
	char *end;

	text += strspn(text, " \t\n");
	end = text + strlen(text);
	while (end > text && strchr(" \t\n", end[-1]))
		*--end = '\0';
	for (end = text; *end; end++)
		if (*end < ' ' || *end >= 0x7f)
			*end = '?';
	return text;
}

/*
 * A text that is too long keeps its end: identifiers (t10.ATA, maker, model, serial) differ there.
 */
static int device_read_text(int dir, const char *attr, char *buf, size_t size)
{
	char raw[256], *text;
	ssize_t len;
	int fd;

	buf[0] = '\0';
	fd = openat(dir, attr, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	len = read(fd, raw, sizeof(raw) - 1);
	close(fd);
	if (len < 0)
		return -EIO;
	raw[len] = '\0';
	text = device_trim(raw);
	if (strlen(text) >= size)
		text += strlen(text) - (size - 1);
	memcpy(buf, text, strlen(text) + 1);
	return 0;
}

/* The first of these files with a value; "" if none has one. */
static void device_read_first(int dir, const char *const *attrs, char *buf, size_t size)
{
	buf[0] = '\0';
	for (; *attrs && !buf[0]; attrs++)
		device_read_text(dir, *attrs, buf, size);
}

/* 0 if it is missing or not a number. */
static uint64_t device_read_u64(int dir, const char *attr)
{
	char text[32], *end;
	uint64_t value;

	device_read_text(dir, attr, text, sizeof(text));
	if (!strspn(text, DEVICE_DIGITS))
		return 0;
	errno = 0;
	value = strtoull(text, &end, 10);
	return errno || *end ? 0 : value;
}

static uint32_t device_read_u32(int dir, const char *attr)
{
	uint64_t value = device_read_u64(dir, attr);

	return value > UINT32_MAX ? 0 : (uint32_t)value;
}

/* Hidden legs have no dev file: 0:0. */
static void device_read_number(int dir, struct device *device)
{
	char text[32];
	unsigned int major, minor;

	if (device_read_text(dir, "dev", text, sizeof(text)) ||
	    sscanf(text, "%9u:%9u", &major, &minor) != 2)
		return;
	device->major = major;
	device->minor = minor;
}

static bool device_read_queues(int dir, struct device *device)
{
	int fd = openat(dir, "mq", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *queues = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	uint32_t nr_tags;

	if (!queues) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while ((entry = readdir(queues)))
		device->nr_queues += entry->d_name[0] >= '0' && entry->d_name[0] <= '9';
	closedir(queues);
	device->depth = device_read_u32(dir, "queue/nr_requests");
	nr_tags = device_read_u32(dir, "mq/0/nr_tags");
	if (nr_tags > device->depth)
		device->depth = nr_tags;
	return true;
}

/*
 * A namespace's name starts with the number of its subsystem, which may differ from that of its
 * controller; the link tells. A head's link names the subsystem: -1.
 */
static int device_read_ctrl(int dir, const char *name)
{
	char link[PATH_MAX], *base;
	ssize_t len;
	int ctrl;

	if (device_name_is_leg(name, &ctrl))
		return ctrl;
	if (!device_name_is_namespace(name))
		return -1;
	len = readlinkat(dir, "device", link, sizeof(link) - 1);
	if (len < 0)
		return -1;
	link[len] = '\0';
	base = strrchr(link, '/');
	return device_ctrl_number(base ? base + 1 : link);
}

/* Only devices with hardware queues issue requests: true of every kernel from 5.10 to 7.2. */
static enum device_kind device_kind_of(const char *name, bool has_queues)
{
	int ctrl;

	if (device_name_is_leg(name, &ctrl))
		return DEVICE_NVME_NS;
	if (device_name_is_namespace(name))
		return has_queues ? DEVICE_NVME_NS : DEVICE_NVME_HEAD;
	return has_queues ? DEVICE_REQUEST : DEVICE_BIO;
}

bool device__may_have_partition(const char *disk, const char *name)
{
	static const char digits[] = "0123456789";
	size_t len = strlen(disk);

	if (!len || strncmp(name, disk, len))
		return false;
	name += len;
	if (strchr(digits, disk[len - 1]) && *name++ != 'p')
		return false;
	return *name && !name[strspn(name, digits)];
}

const char *device_kind__word(enum device_kind kind)
{
	switch (kind) {
	case DEVICE_NVME_NS: return "namespace";
	case DEVICE_NVME_HEAD: return "multipath";
	case DEVICE_NVME_CTRL: return "controller";
	case DEVICE_REQUEST: return "disk";
	case DEVICE_BIO: return "bio-based";
	}
	return "?";
}

int device__copy(struct device *to, const struct device *from)
{
	size_t bytes = from->nr_partitions * sizeof(*from->partitions);

	*to = *from;
	to->partitions = bytes ? malloc(bytes) : NULL;
	if (bytes && !to->partitions) {
		to->nr_partitions = 0;
		to->knows_partitions = false;
		return -ENOMEM;
	}
	if (bytes)
		memcpy(to->partitions, from->partitions, bytes);
	return 0;
}

void device__free(struct device *device)
{
	free(device->partitions);
	device->partitions = NULL;
	device->nr_partitions = 0;
}

/* False: it is something else in the disk's directory. */
static bool device_read_partition(int dir, const char *name, struct device_partition *partition)
{
	char path[64], text[32];

	snprintf(path, sizeof(path), "%.31s/partition", name);
	if (!device_name_is_sane(name) || device_read_text(dir, path, text, sizeof(text)))
		return false;
	snprintf(partition->name, sizeof(partition->name), "%.31s", name);
	snprintf(path, sizeof(path), "%.31s/start", name);
	partition->from_sector = device_read_u64(dir, path);
	snprintf(path, sizeof(path), "%.31s/size", name);
	partition->nr_sectors = device_read_u64(dir, path);
	return true;
}

/* Subdirectories that begin with the disk's name. Without memory none are known. */
static void device_read_partitions(int dir, struct device *device)
{
	size_t len = strlen(device->name);
	struct device_partition partition;
	struct dirent **names;
	int nr = scandirat(dir, ".", &names, NULL, versionsort);

	device->knows_partitions = nr >= 0;
	for (int i = 0; i < nr; i++) {
		if (!strncmp(names[i]->d_name, device->name, len) &&
		    device_read_partition(dir, names[i]->d_name, &partition)) {
			if (GROW_BY_ONE(device->partitions, device->nr_partitions))
				device->knows_partitions = false;
			else
				device->partitions[device->nr_partitions++] = partition;
		}
		free(names[i]);
	}
	if (nr >= 0)
		free(names);
}

static void device_read_disk(int dir, struct device *device)
{
	uint64_t nr_sectors = device_read_u64(dir, "size");

	device->size_bytes = nr_sectors > UINT64_MAX / 512 ? 0 : nr_sectors * 512;
	device->block_size = device_read_u32(dir, "queue/logical_block_size");
	/* Most devices report no optimal size; minimum_io_size is not below the physical block. */
	device->unit_bytes = device_read_u32(dir, "queue/optimal_io_size")
				     ?: device_read_u32(dir, "queue/minimum_io_size");
	device->has_poll_queues = device_read_u32(dir, "queue/io_poll") == 1;
	device->nsid = device_read_u32(dir, "nsid");
	device->ctrl = device_read_ctrl(dir, device->name);
	device->kind = device_kind_of(device->name, device_read_queues(dir, device));
	device_read_partitions(dir, device);
}

/* queue_count includes the admin queue; sqsize counts from 0, as a full queue keeps one slot free.
 */
static void device_read_controller(int dir, struct device *device)
{
	device->kind = DEVICE_NVME_CTRL;
	device->ctrl = device_ctrl_number(device->name);
	device->nr_queues = device_read_u32(dir, "queue_count");
	device->depth = device_read_u32(dir, "sqsize");
}

/* -ENOENT when there is no such device (any more). */
static int device_read_here(const char *root, const char *name, struct device *device)
{
	bool is_ctrl = device_ctrl_number(name) >= 0;
	char path[PATH_MAX];
	int dir;

	if (!device_name_is_sane(name))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/sys/%s/%s", root, is_ctrl ? "class/nvme" : "block", name);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return errno == ENOTDIR || errno == ENODEV ? -ENOENT : -errno;
	*device = (struct device){ .ctrl = -1 };
	snprintf(device->name, sizeof(device->name), "%s", name);
	device_read_number(dir, device);
	device->diskseq = device_read_u64(dir, "diskseq");
	device_read_first(dir, device_serials, device->serial, sizeof(device->serial));
	device_read_first(dir, device_models, device->model, sizeof(device->model));
	device_read_first(dir, device_firmwares, device->firmware, sizeof(device->firmware));
	if (is_ctrl)
		device_read_controller(dir, device);
	else
		device_read_disk(dir, device);
	close(dir);
	return 0;
}

/* What a scout is asked, and what it answers. */
struct device_question {
	char root[64], name[32];
	int err;
	struct device device;
	struct device_partition partitions[256];
};
_Static_assert(sizeof(struct device_question) <= SCOUT_BYTES, "it fits the memory");

void device__answer(void *shared)
{
	struct device_question *q = shared;
	const size_t most = sizeof(q->partitions) / sizeof(q->partitions[0]);
	struct device found;

	q->err = device_read_here(q->root, q->name, &found);
	if (q->err)
		return;
	if (found.nr_partitions > most) {
		found.nr_partitions = (uint32_t)most;
		found.knows_partitions = false;
	}
	if (found.nr_partitions)
		memcpy(q->partitions, found.partitions,
		       found.nr_partitions * sizeof(*found.partitions));
	free(found.partitions);
	q->device = found;
	q->device.partitions = q->partitions; /* the memory is at one place in both processes */
}

int device_read(const struct device_list *list, const char *name, struct device *device)
{
	struct device_question *q;
	int err;

	if (!list->scout)
		return device_read_here(list->root, name, device);
	if (!device_name_is_sane(name))
		return -ENOENT;
	q = list->scout->shared;
	snprintf(q->root, sizeof(q->root), "%s", list->root);
	snprintf(q->name, sizeof(q->name), "%s", name);
	err = scout__ask(list->scout, SCOUT_DEVICE) ?: q->err;
	return err ?: device__copy(device, &q->device);
}
