/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * devices.c: can what the kernel says about disks break the list of devices, or what -d means? A
 * libFuzzer target: the input is a uevent, and mountinfo; its lines are the name of a disk, the
 * text of -d, and the attributes of the disk and its controller in a tree like sysfs. What comes of
 * them is one line of plain text, and a name never leads out of its directory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/log.h"
#include "device/device.h"
#include "device/handicap.h"
#include "device/mounts.h"
#include "device/uevent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINE_DISK, LINE_CHOICE, LINE_PARTITION, NR_LINES = 3 };

static char tree[48], dir[PATH_MAX], partition[80];

/* Below the directories of a disk, of its partition and of a controller. */
static const char *const of_disk[] = {
	"dev",
	"size",
	"diskseq",
	"nsid",
	"wwid",
	"device/model",
	"device/serial",
	"device/firmware_rev",
	"dm/name",
	"mq/0/nr_tags",
	"queue/nr_requests",
	"queue/logical_block_size",
	"queue/optimal_io_size",
	"queue/minimum_io_size",
	"queue/write_cache",
	"queue/io_poll",
};
static const char *const of_partition[] = { "partition", "start", "size", "alignment_offset" };
static const char *const of_controller[] = {
	"model",
	"serial",
	"device/current_link_speed",
	"device/max_link_speed",
	"device/current_link_width",
	"device/max_link_width",
	"device/link/l0s_aspm",
	"device/link/l1_aspm",
	"device/power_state",
	"power/pm_qos_latency_tolerance_us",
};

enum { NR_OF_DISK = sizeof(of_disk) / sizeof(of_disk[0]) };
enum { NR_OF_PARTITION = sizeof(of_partition) / sizeof(of_partition[0]) };
enum { NR_OF_CONTROLLER = sizeof(of_controller) / sizeof(of_controller[0]) };

/* ---- the tree ---- */

static void make_way(char *path)
{
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		if (mkdir(path, 0700) && errno != EEXIST)
			abort();
		*at = '/';
	}
}

__attribute__((format(printf, 2, 3))) static void put(const char *text, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list args;
	int fd;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0) {
		make_way(path);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	}
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		abort();
	close(fd);
}

/* In memory, for this process; run removes it. The disk's directory gets the name of each input. */
static void begin_tree(void)
{
	if (tree[0])
		return;
	snprintf(tree, sizeof(tree), "/dev/shm/iosonar-fuzz.%d", getpid());
	snprintf(dir, sizeof(dir), "%s/sys/block/sda", tree);
	put("", "%s/dev/sda", tree);
	for (int i = 0; i < NR_OF_DISK; i++)
		put("", "%s/%s", dir, of_disk[i]);
}

/* The kernel's names have no '/', and at most 31 letters. */
static bool may_be_a_name(const char *text)
{
	return *text && strlen(text) < 32 && !strchr(text, '/') && strcmp(text, ".") != 0 &&
	       strcmp(text, "..") != 0;
}

static void fill_tree(char *const lines[], size_t nr)
{
	char to[PATH_MAX];
	size_t at = NR_LINES;

	snprintf(to, sizeof(to), "%s/sys/block/%s", tree,
		 may_be_a_name(lines[LINE_DISK]) ? lines[LINE_DISK] : "nvme0n1");
	if (rename(dir, to))
		abort();
	memcpy(dir, to, sizeof(dir));
	snprintf(partition, sizeof(partition), "%s%s", strrchr(dir, '/') + 1,
		 may_be_a_name(lines[LINE_PARTITION]) ? lines[LINE_PARTITION] : "p1");
	for (int i = 0; i < NR_OF_DISK; i++, at++)
		put(at < nr ? lines[at] : "", "%s/%s", dir, of_disk[i]);
	for (int i = 0; i < NR_OF_PARTITION; i++, at++)
		put(at < nr ? lines[at] : "", "%s/%s/%s", dir, partition, of_partition[i]);
	for (int i = 0; i < NR_OF_CONTROLLER; i++, at++)
		put(at < nr ? lines[at] : "", "%s/sys/class/nvme/nvme0/%s", tree, of_controller[i]);
}

/* The partition of an input is gone before the next one. */
static void empty_tree(void)
{
	char path[PATH_MAX + 160];

	for (int i = 0; i < NR_OF_PARTITION; i++) {
		snprintf(path, sizeof(path), "%s/%s/%s", dir, partition, of_partition[i]);
		if (unlink(path))
			abort();
	}
	snprintf(path, sizeof(path), "%s/%s", dir, partition);
	if (rmdir(path))
		abort();
}

/* ---- what comes of it ---- */

static void check_plain(const char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text >= 0x7f)
			abort();
}

static void check_device(const struct device_list *list, int index)
{
	const struct device *device = &list->devices[index];
	struct device_handicap handicap, peers = { 0 };
	char text[256];

	check_plain(device->name);
	check_plain(device->model);
	check_plain(device->serial);
	check_plain(device->firmware);
	if (!device->name[0] || strchr(device->name, '/'))
		abort();
	for (uint32_t i = 0; i < device->nr_partitions; i++)
		if (strncmp(device->partitions[i].name, device->name, strlen(device->name)) != 0)
			abort();
	check_plain(device_list__label(list, index, text, sizeof(text)));
	if (device_list__head(list, index) < 0 || device_list__station(list, index) < 0)
		abort();
	device_handicap__read(&handicap, tree, device);
	device_handicap__add_peer(&peers, &handicap);
	check_plain(device_handicap__words(&handicap, &peers, text, sizeof(text)));
}

static void check_choice(const struct device_list *list, const char *text)
{
	struct device_choice choice;

	if (device_list__choose(list, text, &choice))
		return;
	if (choice.ctrl < 0 && !device_list__find(list, choice.disk))
		abort();
	for (size_t i = 0; i < list->nr; i++)
		device_choice__means(&choice, &list->devices[i]);
}

static void try_devices(char *const lines[])
{
	struct device_list list;

	if (device_list__read(&list, tree))
		abort();
	for (size_t i = 0; i < list.nr; i++)
		check_device(&list, (int)i);
	check_choice(&list, lines[LINE_CHOICE]);
	device_list__refresh(&list, lines[LINE_DISK]);
	device_list__refresh(&list, lines[LINE_PARTITION]);
	for (size_t i = 0; i < list.nr; i++)
		check_device(&list, (int)i);
	device_list__free(&list);
}

static void try_mounts(const uint8_t *data, size_t size)
{
	struct mounts mounts = { 0 };
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/proc/self/mountinfo", tree);
	put("", "%s", path);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size || close(fd) ||
	    mounts__read(&mounts, path))
		abort();
	for (size_t i = 0; i < mounts.nr; i++) {
		const struct mount *found = mounts__find(&mounts, mounts.mounts[i].at);

		if (!found || strlen(found->at) < strlen(mounts.mounts[i].at))
			abort();
	}
	mounts__free(&mounts);
}

static void try_uevent(const uint8_t *data, size_t size)
{
	struct uevent event;

	if (uevent__parse((const char *)data, size, &event) <= 0)
		return;
	check_plain(event.name);
	if (!event.name[0] || strchr(event.name, '/') || event.action > UEVENT_CHANGE ||
	    (strcmp(event.subsystem, "block") != 0 && strcmp(event.subsystem, "nvme") != 0))
		abort();
}

/* A message is one line, whatever is in a name. */
static void on_message(void *arg, const char *message)
{
	(void)arg;
	if (strchr(message, '\n') || strchr(message, '\033'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = strndup((const char *)data, size), *rest = copy;
	char *lines[NR_LINES + NR_OF_DISK + NR_OF_PARTITION + NR_OF_CONTROLLER] = { 0 };
	static char none[] = "";
	size_t nr = 0;

	log_set_listener(on_message, NULL);
	begin_tree();
	try_uevent(data, size);
	try_mounts(data, size);
	while (rest && nr < sizeof(lines) / sizeof(lines[0]))
		lines[nr++] = strsep(&rest, "\n");
	for (size_t i = nr; i < NR_LINES; i++)
		lines[i] = none;
	fill_tree(lines, nr < NR_LINES ? NR_LINES : nr);
	try_devices(lines);
	empty_tree();
	free(copy);
	return 0;
}
