/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * device.c: the inventory and -d against trees made of plain files, the way /sys, /dev and /proc
 * look on machines we do not have. Nodes in /dev are plain files here; their names decide.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scout.h"
#include "device/device.h"
#include "tap.h"

static char tree[] = "/tmp/iosonar-device.XXXXXX";

static void tree_path(char *full, const char *path)
{
	char *slash;

	snprintf(full, PATH_MAX, "%s%s", tree, path);
	for (slash = full + strlen(tree); (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		mkdir(full, 0777);
		*slash = '/';
	}
}

__attribute__((format(printf, 2, 3))) static void put(const char *text, const char *fmt, ...)
{
	char path[PATH_MAX / 2], full[PATH_MAX];
	va_list args;
	FILE *file;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	tree_path(full, path);
	file = fopen(full, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		printf("Bail out! %s: %s\n", full, strerror(errno)), exit(1);
}

static void put_dir(const char *path)
{
	char full[PATH_MAX];

	tree_path(full, path);
	mkdir(full, 0777);
}

static void put_link(const char *path, const char *target)
{
	char full[PATH_MAX];

	tree_path(full, path);
	unlink(full);
	if (symlink(target, full))
		printf("Bail out! %s: %s\n", full, strerror(errno)), exit(1);
}

static int drop_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status, (void)type, (void)ftw;
	return remove(path);
}

static void drop(const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", tree, path);
	nftw(full, drop_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* An empty tree with the folder every kernel has. */
static void tree_begin(void)
{
	drop("/sys");
	drop("/dev");
	drop("/proc");
	drop("/mnt");
	drop("/home");
	put_dir("/sys/block/");
}

static void put_disk(const char *name, const char *dev, const char *nr_sectors, const char *seq)
{
	put(nr_sectors, "/sys/block/%s/size", name);
	put("512\n", "/sys/block/%s/queue/logical_block_size", name);
	if (dev)
		put(dev, "/sys/block/%s/dev", name);
	if (seq)
		put(seq, "/sys/block/%s/diskseq", name);
}

static void put_queues(const char *name, int nr, const char *nr_requests, const char *nr_tags)
{
	int i;

	for (i = 0; i < nr; i++)
		put(nr_tags, "/sys/block/%s/mq/%d/nr_tags", name, i);
	put(nr_requests, "/sys/block/%s/queue/nr_requests", name);
}

static void put_partition(const char *disk, const char *name, const char *start, const char *size)
{
	put("1\n", "/sys/block/%s/%s/partition", disk, name);
	put(start, "/sys/block/%s/%s/start", disk, name);
	put(size, "/sys/block/%s/%s/size", disk, name);
}

static void put_ctrl(const char *name, const char *serial)
{
	put(serial, "/sys/class/nvme/%s/serial", name);
	put("QEMU NVMe Ctrl                          \n", "/sys/class/nvme/%s/model", name);
	put("7.2.22  \n", "/sys/class/nvme/%s/firmware_rev", name);
	put("3\n", "/sys/class/nvme/%s/queue_count", name);
	put("1023\n", "/sys/class/nvme/%s/sqsize", name);
	put("241:0\n", "/sys/class/nvme/%s/dev", name);
}

/* A namespace below a controller, as one with a private path has it. */
static void put_namespace(const char *name, const char *ctrl, const char *nsid, const char *seq)
{
	char path[64], target[64];

	put_disk(name, "259:0\n", "131072\n", seq);
	put_queues(name, 2, "1023\n", "1023\n");
	put(nsid, "/sys/block/%s/nsid", name);
	snprintf(path, sizeof(path), "/sys/block/%s/device", name);
	snprintf(target, sizeof(target), "../../class/nvme/%s", ctrl);
	put_link(path, target);
}

/* NULL, or who reads instead of this process. */
static const struct scout *by;

static struct device_list list_read(void)
{
	struct device_list list;

	if (device_list__read_by(&list, tree, by))
		printf("Bail out! the tree cannot be read\n"), exit(1);
	return list;
}

/* What device_list__choose returned, and what it said. */
static char said[4096];

static int choose(const struct device_list *list, const char *text, struct device_choice *choice)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO), err;
	size_t len;

	fflush(stderr);
	dup2(fileno(file), STDERR_FILENO);
	err = device_list__choose(list, text, choice);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	len = fread(said, 1, sizeof(said) - 1, file);
	said[len] = '\0';
	fclose(file);
	return err;
}

static void chooses(const struct device_list *list, const char *text, const char *disk)
{
	struct device_choice choice;
	int err = choose(list, text, &choice);

	if (!ok(!err && !strcmp(choice.disk, disk) && choice.ctrl == -1 && !said[0],
		"-d '%s' is %s", text, disk))
		printf("# err %d, disk '%s', ctrl %d, said: %s\n", err, choice.disk, choice.ctrl,
		       said);
}

static void chooses_range(const struct device_list *list, const char *text, const char *disk,
			  uint64_t from, uint64_t nr)
{
	struct device_choice choice;
	int err = choose(list, text, &choice);

	ok(!err && !strcmp(choice.disk, disk) && choice.from_sector == from &&
		   choice.nr_sectors == nr,
	   "-d '%s' is %" PRIu64 " sectors of %s", text, nr, disk);
}

static void refuses(const struct device_list *list, const char *text, const char *why)
{
	struct device_choice choice;
	int err = choose(list, text, &choice);
	char *newline = strchr(said, '\n');

	if (!ok(err == -ENODEV && strstr(said, why) && newline && !newline[1],
		"-d '%.40s' is refused in one line: %s", text, why))
		printf("# err %d, said: %s\n", err, said);
}

static void test_plain_nvme(void)
{
	struct device_list list;
	struct device_choice choice;
	struct device *d;

	tree_begin();
	put_ctrl("nvme0", "serial-a            \n");
	put_namespace("nvme0n1", "nvme0", "1\n", "7\n");
	put_namespace("nvme0n4", "nvme0", "5\n", "8\n");
	put("", "/dev/nvme0");
	put("", "/dev/nvme0n1");
	put("", "/dev/ng0n4");
	put_link("/sys/dev/block/259:3", "../../devices/pci0000:00/nvme/nvme0/nvme0n1");
	put("131072\n", "/sys/block/nvme0n4/queue/optimal_io_size");
	put("4096\n", "/sys/block/nvme0n4/queue/minimum_io_size");
	put("1\n", "/sys/block/nvme0n4/queue/io_poll");
	put("0\n", "/sys/block/nvme0n1/queue/io_poll");
	put("0\n", "/sys/block/nvme0n1/queue/optimal_io_size");
	put("4096\n", "/sys/block/nvme0n1/queue/minimum_io_size");
	list = list_read();
	is_u64(list.nr, 3, "a controller and two namespaces");

	d = device_list__find(&list, "nvme0");
	ok(d && d->kind == DEVICE_NVME_CTRL && d->ctrl == 0, "nvme0 is a controller");
	is_str(d->serial, "serial-a", "its serial, without blanks");
	is_str(d->model, "QEMU NVMe Ctrl", "its model");
	is_str(d->firmware, "7.2.22", "its firmware");
	ok(d->nr_queues == 3 && d->depth == 1023, "its queues");
	ok(d->major == 241 && !d->minor && !d->diskseq && !d->nsid, "its number, and no diskseq");

	d = device_list__find(&list, "nvme0n4");
	ok(d && d->kind == DEVICE_NVME_NS && d->ctrl == 0, "nvme0n4 is a namespace of nvme0");
	is_u64(d->nsid, 5, "its nsid is not in its name");
	is_u64(d->size_bytes, 64 << 20, "its size");
	ok(d->block_size == 512 && d->diskseq == 8 && d->nr_queues == 2 && d->depth == 1023,
	   "its blocks, diskseq, queues and depth");
	is_u64(d->unit_bytes, 131072, "its optimal size");
	is_u64(device_list__find(&list, "nvme0n1")->unit_bytes, 4096, "else the least");
	ok(d->has_poll_queues && !device_list__find(&list, "nvme0n1")->has_poll_queues,
	   "whether it has queues for polling");
	is_str(d->serial, "serial-a", "it has the controller's serial");

	chooses(&list, "nvme0n4", "nvme0n4");
	chooses(&list, "/dev/nvme0n1", "nvme0n1");
	chooses(&list, "259:3", "nvme0n1");
	chooses(&list, "ng0n4", "nvme0n4");
	chooses(&list, "/dev/ng0n4", "nvme0n4");
	ok(!choose(&list, "/dev/nvme0", &choice) && choice.ctrl == 0 && !choice.disk[0],
	   "-d /dev/nvme0 is the controller");
	ok(device_choice__means(&choice, d), "which means its namespaces");
	refuses(&list, "nvme9", "no block device named 'nvme9'; available: nvme0n1, nvme0n4");
	refuses(&list, "ng9n9", "no block device named 'ng9n9'");
	refuses(&list, "259:9", "no block device named '259:9'");
	device_list__free(&list);
}

/* Subsystem 2 has the controllers 2 and 3; nvme3's private namespace is called nvme2n2. */
static void test_private_of_second_controller(void)
{
	struct device_list list;

	tree_begin();
	put_ctrl("nvme0", "s0\n");
	put_ctrl("nvme2", "s2\n");
	put_ctrl("nvme3", "s3\n");
	put_namespace("nvme0n2", "nvme0", "2\n", "1\n");
	put_namespace("nvme2n1", "nvme2", "1\n", "2\n");
	put_namespace("nvme2n2", "nvme3", "2\n", "3\n");
	put_link("/sys/class/nvme-generic/ng3n2/device", "../../nvme3");
	list = list_read();
	is_u64((uint64_t)device_list__find(&list, "nvme2n2")->ctrl, 3,
	       "the link names the controller, the name does not");
	chooses(&list, "ng3n2", "nvme2n2");
	device_list__free(&list);
}

static void put_head(void)
{
	tree_begin();
	put_ctrl("nvme2", "s0\n");
	put_ctrl("nvme3", "s0\n");
	put_disk("nvme1n1", "259:1\n", "131072\n", "4\n");
	put("1\n", "/sys/block/nvme1n1/nsid");
	put("s0\n", "/sys/devices/virtual/nvme-subsystem/nvme-subsys1/serial");
	put_link("/sys/block/nvme1n1/device", "../../devices/virtual/nvme-subsystem/nvme-subsys1");
	put_partition("nvme1n1", "nvme1n1p2", "2048\n", "4096\n");
	put_namespace("nvme1c2n1", "nvme2", "1\n", "2\n");
	put_namespace("nvme1c3n1", "nvme3", "1\n", "3\n");
	drop("/sys/block/nvme1c2n1/dev");
	drop("/sys/block/nvme1c3n1/dev");
	put_link("/sys/class/nvme-generic/ng1n1/device", "../../nvme-subsys1");
}

static void test_multipath(void)
{
	struct device_list list;
	struct device_choice choice;
	struct device *head, *leg;

	put_head();
	list = list_read();
	head = device_list__find(&list, "nvme1n1");
	leg = device_list__find(&list, "nvme1c3n1");
	ok(head->kind == DEVICE_NVME_HEAD && head->ctrl == -1, "a head without controller");
	is_str(head->serial, "s0", "with the subsystem's serial");
	ok(leg && leg->kind == DEVICE_NVME_NS && leg->ctrl == 3, "a leg of controller 3");
	ok(!leg->major && !leg->minor && leg->diskseq == 3, "without a number, with a diskseq");

	chooses(&list, "nvme1n1", "nvme1n1");
	chooses(&list, "ng1n1", "nvme1n1");
	chooses(&list, "nvme1c3n1", "nvme1c3n1");
	chooses_range(&list, "nvme1n1p2", "nvme1n1", 2048, 4096);
	choose(&list, "nvme1n1", &choice);
	ok(device_choice__means(&choice, leg) && device_choice__means(&choice, head),
	   "the head means its legs");
	choose(&list, "nvme1c2n1", &choice);
	ok(!device_choice__means(&choice, leg), "one leg does not mean the other");
	choose(&list, "nvme3", &choice);
	ok(device_choice__means(&choice, leg) && !device_choice__means(&choice, head),
	   "a controller means its leg, not the head");
	refuses(&list, "nvme7", "available: nvme1n1\n");
	device_list__free(&list);
}

/* No uevent tells of a leg: it is found when its controller or head is read again. */
static void test_legs_follow(void)
{
	struct device_list list;

	put_head();
	list = list_read();
	drop("/sys/block/nvme1c3n1");
	drop("/sys/class/nvme/nvme3");
	put_namespace("nvme1c4n1", "nvme2", "1\n", "5\n");
	ok(device_list__refresh(&list, "nvme3") >= 0, "controller 3 went");
	ok(device_list__find(&list, "nvme3")->gone, "it is marked");
	ok(device_list__find(&list, "nvme1c3n1")->gone, "and so is its leg");
	ok(!device_list__find(&list, "nvme1c2n1")->gone, "the other leg stays");
	ok(device_list__find(&list, "nvme1c4n1") != NULL, "a leg that came is found");
	is_u64(list.nr, 6, "nothing is listed twice");
	device_list__free(&list);
}

static void put_virtio(void)
{
	tree_begin();
	put_disk("vda", "254:0\n", "2048000\n", "9\n");
	put_queues("vda", 1, "256\n", "128\n");
	put("disk-a\n", "/sys/block/vda/serial");
	put_partition("vda", "vda1", "2048\n", "1000\n");
	put_partition("vda", "vda12", "4096\n", "0\n");
	put_link("/sys/dev/block/254:0", "../../devices/virtio1/block/vda");
	put_link("/sys/dev/block/254:1", "../../devices/virtio1/block/vda/vda1");
	put("", "/dev/vda1");
	put_link("/dev/disk/by-id/virtio-disk-a-part1", "../../vda1");
}

static void test_partitions(void)
{
	struct device_list list;
	struct device copy, *d;

	put_virtio();
	put_dir("/sys/block/vda/vda-is-no-partition");
	put("1\n", "/sys/block/vda/holders/partition");
	put_partition("vda", "vda2", "3048\n", "x\n");
	list = list_read();
	d = device_list__find(&list, "vda");
	ok(d->knows_partitions && d->nr_partitions == 3, "partitions are known, and nothing else");
	is_str(d->partitions[0].name, "vda1", "in the order of their names");
	is_str(d->partitions[2].name, "vda12", "12 after 2");
	ok(d->partitions[0].from_sector == 2048 && d->partitions[0].nr_sectors == 1000,
	   "with their place");
	ok(!d->partitions[1].nr_sectors, "a size that is no number is 0");
	ok(!device__copy(&copy, d) && copy.partitions != d->partitions && copy.nr_partitions == 3 &&
		   !strcmp(copy.partitions[2].name, "vda12"),
	   "a copy has its own");
	device__free(&copy);
	drop("/sys/block/vda/vda2");
	put_partition("vda", "vda3", "9000\n", "8\n");
	device_list__refresh(&list, "vda");
	d = device_list__find(&list, "vda");
	ok(d->nr_partitions == 3 && !strcmp(d->partitions[1].name, "vda3"),
	   "read again, they are what they are now");
	device_list__free(&list);
}

static void test_virtio(void)
{
	struct device_list list;
	struct device *d;

	put_virtio();
	list = list_read();
	d = device_list__find(&list, "vda");
	ok(list.nr == 1 && d->kind == DEVICE_REQUEST && d->ctrl == -1, "a request-based disk");
	ok(d->nr_queues == 1 && d->depth == 256, "the larger of tags and requests");
	is_str(d->serial, "disk-a", "virtio's serial");
	chooses(&list, "vda", "vda");
	chooses(&list, "/dev/vda", "vda"); /* no node: by its name */
	chooses_range(&list, "vda1", "vda", 2048, 1000);
	chooses_range(&list, "/dev/vda1", "vda", 2048, 1000);
	chooses_range(&list, "/dev/disk/by-id/virtio-disk-a-part1", "vda", 2048, 1000);
	chooses_range(&list, "disk/by-id/virtio-disk-a-part1", "vda", 2048, 1000);
	chooses_range(&list, "254:1", "vda", 2048, 1000);
	refuses(&list, "vda12", "the partition vda12 has no sectors");
	refuses(&list, "vda2", "no block device named 'vda2'");
	refuses(&list, "vda/", "no block device");
	refuses(&list, "", "no block device named ''");
	refuses(&list, "254:", "no block device");
	refuses(&list, "../vda", "no block device");
	device_list__free(&list);
}

static void test_loop_without_file(void)
{
	struct device_list list;

	put_virtio();
	put_disk("loop0", "7:0\n", "0\n", "1\n");
	put_queues("loop0", 1, "128\n", "128\n");
	list = list_read();
	is_u64(device_list__find(&list, "loop0")->size_bytes, 0, "loop0 is empty");
	refuses(&list, "loop0", "loop0 has no medium");
	refuses(&list, "sda", "available: vda\n");
	device_list__free(&list);
}

static void put_dm(void)
{
	put_virtio();
	put_disk("sda", "8:0\n", "4096\n", "2\n");
	put_queues("sda", 1, "64\n", "32\n");
	put_disk("dm-0", "253:0\n", "1000\n", "3\n");
	put("my--vg-root\n", "/sys/block/dm-0/dm/name");
	put_link("/sys/block/dm-0/slaves/vda1", "../../vda/vda1");
	put_link("/sys/block/dm-0/slaves/dm-1", "../../dm-1");
	put_disk("dm-1", "253:1\n", "1000\n", "4\n");
	put("crypt\n", "/sys/block/dm-1/dm/name");
	put_link("/sys/block/dm-1/slaves/sda", "../../sda");
	put_link("/sys/block/dm-1/slaves/vda", "../../vda");
	put_disk("dm-2", "253:2\n", "1000\n", "5\n");
	put("mpatha\n", "/sys/block/dm-2/dm/name");
	put_queues("dm-2", 1, "128\n", "128\n");
	put_disk("zram0", "252:0\n", "1000\n", "6\n");
	put("", "/dev/dm-0");
	put_link("/dev/mapper/my--vg-root", "../dm-0");
	put_link("/dev/my-vg/root", "../dm-0");
}

static void test_dm(void)
{
	static const char why[] = "dm-0 (my--vg-root) is bio-based and issues no requests; measure "
				  "the disks below it: -d sda,vda, or its bios: layers --at bio\n";
	struct device_list list;

	put_dm();
	list = list_read();
	ok(device_list__find(&list, "dm-0")->kind == DEVICE_BIO, "dm-linear is bio-based");
	ok(device_list__find(&list, "dm-2")->kind == DEVICE_REQUEST, "dm-mpath has queues");
	refuses(&list, "dm-0", why);
	refuses(&list, "my--vg-root", why);
	refuses(&list, "my-vg/root", why);
	refuses(&list, "/dev/my-vg/root", why);
	refuses(&list, "/dev/mapper/my--vg-root", why);
	refuses(&list, "/dev/mapper/crypt", "dm-1 (crypt)"); /* no node */
	refuses(&list, "mapper/my--vg-root", why);
	refuses(&list, "zram0", "zram0 is bio-based and issues no requests: use layers --at bio");
	chooses(&list, "mpatha", "dm-2");

	drop("/dev/my-vg");
	refuses(&list, "my-vg/root", why); /* by its name alone */
	put_link("/sys/block/dm-1/slaves/dm-0", "../../dm-0");
	refuses(&list, "dm-0", why); /* a loop ends */
	device_list__free(&list);
}

static void test_mounts(void)
{
	struct device_list list;

	put_dm();
	put("22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
	    "23 22 8:0 / /mnt/my\\040disk rw - vfat /dev/gone rw\n"
	    "24 22 254:1 / /mnt/my\\040disk rw shared:7 master:2 - ext4 /dev/vda1 rw\n"
	    "25 22 0:40 /sub /mnt/btrfs rw - btrfs /dev/vda1 rw\n"
	    "26 22 0:41 / /mnt/tmp rw - tmpfs tmpfs rw\n"
	    "27 22 0:42 / /mnt/fuse rw - fuse /dev/../mnt/fuse rw\n"
	    "28 22 253:0 / /mnt/lv rw - ext4 /dev/mapper/my--vg-root rw\n"
	    "29 22 0:43 / /mnt/cut rw\n"
	    "garbage\n\n30 22 1: / /x\n",
	    "/proc/self/mountinfo");
	put_link("/sys/dev/block/253:0", "../../devices/virtual/block/dm-0");
	put_dir("/mnt/my disk");
	put_dir("/mnt/my disk/deep");
	put_dir("/mnt/btrfs");
	put_dir("/mnt/tmp");
	put_dir("/mnt/fuse");
	put_dir("/mnt/lv");
	put_dir("/mnt/cut");
	put("", "/home/file");
	put_link("/home/link", "../mnt/my disk");
	list = list_read();
	chooses(&list, "/", "vda");
	chooses_range(&list, "/mnt/my disk", "vda", 2048, 1000);
	chooses_range(&list, "/mnt/my disk/", "vda", 2048, 1000);
	chooses_range(&list, "/home/link", "vda", 2048, 1000);
	chooses_range(&list, "/mnt/btrfs", "vda", 2048, 1000);
	refuses(&list, "/mnt/my disk/deep", "it is on /mnt/my disk (/dev/vda1): use -d '/mnt/my ");
	refuses(&list, "/home/file", "is not a mount point; it is on / (/dev/root): use -d '/'");
	refuses(&list, "/mnt/tmp", "'/mnt/tmp' is of type tmpfs (tmpfs)");
	refuses(&list, "/mnt/fuse", "'/mnt/fuse' is of type fuse");
	refuses(&list, "/mnt/cut", "which is not on a single block device");
	refuses(&list, "/mnt/lv", "dm-0 (my--vg-root) is bio-based");
	refuses(&list, "/mnt/none", "no block device named '/mnt/none'");
	drop("/proc");
	refuses(&list, "/mnt/tmp", "no block device named '/mnt/tmp'");
	device_list__free(&list);
}

static void test_replug(void)
{
	struct device_list list;
	int index;

	put_virtio();
	list = list_read();
	is_u64((uint64_t)device_list__refresh(&list, "vda"), 0, "the same disk keeps its entry");
	is_u64(list.nr, 1, "and is not listed twice");
	put("4096\n", "/sys/block/vda/size");
	device_list__refresh(&list, "vda");
	ok(list.nr == 1 && list.devices[0].size_bytes == 4096 * 512, "a new size is taken over");

	put("10\n", "/sys/block/vda/diskseq");
	index = device_list__refresh(&list, "vda");
	ok(index == 1 && list.nr == 2, "another diskseq is another disk");
	ok(list.devices[0].gone && !list.devices[1].gone, "the old one is gone");
	ok(device_list__find(&list, "vda") == &list.devices[1], "the name finds the new one");
	put("disk-b\n", "/sys/block/vda/serial");
	is_u64((uint64_t)device_list__refresh(&list, "vda"), 2, "so is another serial");

	drop("/sys/block/vda");
	is_u64((uint64_t)device_list__refresh(&list, "vda"), 2, "a removed disk keeps its entry");
	ok(list.devices[2].gone, "marked");
	refuses(&list, "vda", "no block device named 'vda'; available: none");
	is_u64((uint64_t)-device_list__refresh(&list, "vdz"), ENOENT, "nobody knows vdz");
	device_list__free(&list);
}

/* A hundred disks come and go, and each is forgotten after the next one has come. */
static void test_forget(void)
{
	struct device_list list;
	bool found = true;

	put_virtio();
	list = list_read();
	for (int seq = 100; seq < 200; seq++) {
		struct device *there;
		char text[16];
		int index, last = (int)(device_list__find(&list, "vda") - list.devices);

		snprintf(text, sizeof(text), "%d\n", seq);
		put(text, "/sys/block/vda/diskseq");
		index = device_list__refresh(&list, "vda");
		there = device_list__find(&list, "vda");
		found &= index != last && list.devices[last].gone &&
			 there == &list.devices[index] && there->diskseq == (uint64_t)seq;
		device_list__forget(&list, last);
		found &= device_list__refresh(&list, "vda") == index;
	}
	ok(found, "a disk that takes the place of an earlier one is found");
	is_u64(list.nr, 2, "two places are enough");
	drop("/sys/block/vda");
	device_list__refresh(&list, "vda");
	ok(device_list__find(&list, "vda")->gone, "one that went is found until it is forgotten");
	device_list__forget(&list, (int)(device_list__find(&list, "vda") - list.devices));
	ok(!device_list__find(&list, "vda"), "and not after that");
	device_list__free(&list);
}

/* On its way out a disk has lost its files: it is still the one we knew. */
static void test_half_removed(void)
{
	struct device_list list;

	put_virtio();
	list = list_read();
	drop("/sys/block/vda/serial");
	drop("/sys/block/vda/diskseq");
	device_list__refresh(&list, "vda");
	ok(list.nr == 1 && list.devices[0].diskseq == 9, "its diskseq is kept");
	is_str(list.devices[0].serial, "disk-a", "and its serial");
	device_list__free(&list);
}

static void test_without_diskseq(void)
{
	struct device_list list;

	put_virtio();
	drop("/sys/block/vda/diskseq");
	list = list_read();
	is_u64(list.devices[0].diskseq, 0, "5.10 has no diskseq");
	drop("/sys/block/vda");
	device_list__refresh(&list, "vda");
	put_disk("vda", "254:0\n", "2048000\n", NULL);
	put("disk-a\n", "/sys/block/vda/serial");
	is_u64((uint64_t)device_list__refresh(&list, "vda"), 0, "the same serial came back");
	ok(!list.devices[0].gone, "it is no longer gone");
	put("disk-b\n", "/sys/block/vda/serial");
	is_u64((uint64_t)device_list__refresh(&list, "vda"), 1, "another serial is another disk");

	drop("/sys/block/vda");
	device_list__refresh(&list, "vda");
	put_disk("vda", "254:0\n", "2048000\n", NULL);
	is_u64((uint64_t)device_list__refresh(&list, "vda"), 2,
	       "a disk without identity that comes back is a new one");
	is_u64((uint64_t)device_list__refresh(&list, "vda"), 2, "but stays itself while it stays");
	device_list__free(&list);
}

static void test_scsi(void)
{
	struct device_list list;
	struct device *d;

	tree_begin();
	put_disk("sda", "8:0\n", "4096\n", NULL);
	put_queues("sda", 1, "64\n", "32\n");
	put("t10.ATA     A model of many words and blanks        SERIAL-0042  \n",
	    "/sys/block/sda/device/wwid");
	put("ST1000      \n", "/sys/block/sda/device/model");
	put("CC4\x01 \n", "/sys/block/sda/device/rev");
	list = list_read();
	d = device_list__find(&list, "sda");
	ok(strstr(d->serial, "SERIAL-0042") && strlen(d->serial) == sizeof(d->serial) - 1,
	   "of a long wwid the end is kept: there the serial is");
	is_str(d->model, "ST1000", "its model");
	is_str(d->firmware, "CC4?", "its firmware, on one line");
	device_list__free(&list);
}

static void test_hostile(void)
{
	static char text[20001];
	struct device_list list;
	struct device *d;

	put_virtio();
	memset(text, 'x', sizeof(text) - 1);
	put_dir("/sys/block/a\nb");
	put_dir("/sys/block/sd\x80");
	put_dir("/sys/block/a-name-of-thirty-two-characters!");
	put_dir("/sys/block/nvme99999999999999999999n1");
	put_dir("/sys/block/nvme0c");
	put("", "/sys/block/file");
	put_dir("/sys/class/nvme/not-a-controller");
	put_dir("/sys/block/vdb");
	put(text, "/sys/block/vdb/serial");
	put("-1\n", "/sys/block/vdb/size");
	put("99999999999999999999999\n", "/sys/block/vdb/diskseq");
	put("12x:\n", "/sys/block/vdb/dev");
	put("18446744073709551615\n", "/sys/block/vdb/queue/nr_requests");
	put("4096 bytes\n", "/sys/block/vdb/queue/optimal_io_size");
	put("4294967296\n", "/sys/block/vdb/queue/minimum_io_size");
	put("", "/sys/block/vdb/mq"); /* a file where a folder should be */
	list = list_read();
	ok(!device_list__find(&list, "a\nb") && !device_list__find(&list, "sd\x80"),
	   "names with control characters are left out");
	ok(!device_list__find(&list, "file"), "a file is no device");
	ok(!device_list__find(&list, "not-a-controller"), "only nvmeN is a controller");
	d = device_list__find(&list, "nvme0c");
	ok(d && d->kind == DEVICE_BIO && d->ctrl == -1, "nvme0c is no leg");
	d = device_list__find(&list, "nvme99999999999999999999n1");
	ok(d && d->ctrl == -1, "a number too large is no number");
	d = device_list__find(&list, "vdb");
	ok(d && !d->size_bytes && !d->diskseq && !d->major && !d->depth && !d->block_size &&
		   !d->unit_bytes,
	   "what is no number is unknown");
	is_u64(strlen(d->serial), sizeof(d->serial) - 1, "a serial is cut");
	is_u64(list.nr, 4, "nothing else is listed");
	refuses(&list, text, "no block device named 'xxx");
	ok(device_list__refresh(&list, text) == -ENOENT, "a long name is unknown");
	ok(device_list__refresh(&list, "../block/vda") == -ENOENT, "a path is no name");
	ok(device_list__refresh(&list, "") == -ENOENT, "nothing is no name");
	device_list__free(&list);
	device_list__free(NULL);
}

static void test_names(void)
{
	struct device_list list;
	char name[16], buf[256], small[8];
	int i;

	tree_begin();
	for (i = 1; i <= 14; i++) {
		snprintf(name, sizeof(name), "sd%d", i);
		put_disk(name, "8:0\n", "8\n", NULL);
		put_queues(name, 1, "1\n", "1\n");
	}
	list = list_read();
	is_str(device_list__names(&list, buf, sizeof(buf)),
	       "sd1, sd2, sd3, sd4, sd5, sd6, sd7, sd8, sd9, sd10, sd11, sd12 and 2 more",
	       "twelve names in their order, then a number");
	is_str(device_list__names(&list, small, sizeof(small)), "sd1, sd", "a small buffer cuts");
	device_list__free(&list);
}

static void test_no_sys(void)
{
	struct device_list list;
	char root[80];

	drop("/sys");
	ok(device_list__read(&list, tree) == -ENOENT && !list.devices, "no /sys is an error");
	memset(root, '/', sizeof(root) - 1);
	root[sizeof(root) - 1] = '\0';
	ok(device_list__read(&list, root) == -ENAMETOOLONG, "so is a root too long");
}

static void test_all(void)
{
	test_plain_nvme();
	test_private_of_second_controller();
	test_multipath();
	test_legs_follow();
	test_virtio();
	test_partitions();
	test_loop_without_file();
	test_dm();
	test_mounts();
	test_replug();
	test_forget();
	test_half_removed();
	test_without_diskseq();
	test_scsi();
	test_hostile();
	test_names();
}

/* The same through a scout. */
int main(void)
{
	const char *const directories[] = { tree, NULL };
	struct scout scout = { .directories = directories,
			       .answers = { [SCOUT_DEVICE] = device__answer } };

	if (!mkdtemp(tree))
		return 1;
	test_all();
	ok(!scout__fork(&scout), "again, through a scout");
	by = &scout;
	test_all();
	scout__end(&scout);
	test_no_sys();
	drop("");
	return done_testing();
}
