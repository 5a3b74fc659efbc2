/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * device.h: which disks and NVMe controllers are there, and which of them does -d select? Read from
 * sysfs (below a root that tests replace), followed through uevents. A device's identity is its
 * diskseq and serial, never its name: a drive that returns under an old name is another device.
 */
#ifndef IOSONAR_DEVICE_DEVICE_H
#define IOSONAR_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scout;

enum device_kind {
	DEVICE_NVME_NS,	  /* nvme0n1, and the hidden legs of a multipath head: nvme0c1n1 */
	DEVICE_NVME_HEAD, /* a multipath head: bio-based, its commands are seen on its legs */
	DEVICE_NVME_CTRL, /* nvme0: the admin queue; not a disk */
	DEVICE_REQUEST,	  /* virtio, SATA, loop, …: has a request queue */
	DEVICE_BIO,	  /* dm, md, zram, …: passes bios on, issues no requests of its own */
};

/* What was reported about a device. A device that was there at the start is not news. */
enum device_said { DEVICE_SAID_NOTHING, DEVICE_SAID_THERE, DEVICE_SAID_GONE };

struct device_partition {
	char name[32];			  /* "nvme0n1p1", "vda1" */
	uint64_t from_sector, nr_sectors; /* of 512 bytes */
};

struct device {
	char name[32]; /* "nvme0n1", "vda", "nvme0" */
	enum device_kind kind;
	uint64_t diskseq; /* 0: unknown (5.10) or a controller */
	uint64_t size_bytes;
	uint32_t block_size;  /* logical */
	uint32_t unit_bytes;  /* best I/O size: optimal_io_size, else the smallest without
				 read-modify-write; 0: unknown */
	bool has_poll_queues; /* a sender may poll for the end of a command: queue/io_poll */
	uint32_t major, minor;
	int ctrl;		   /* N of nvmeN that carries it; -1 */
	uint32_t nsid;		   /* 0: none */
	uint32_t nr_queues, depth; /* hardware queues and requests per queue */
	char model[48], serial[32], firmware[16];
	/* Of several machines in captures: which it is of, from 1; 0 and NULL: there is one. */
	uint16_t host_number;
	const char *host;	/* its name; owned, like `shown`, by whoever read the captures */
	char *shown;		/* "db7:nvme0n1" */
	bool gone;		/* it was removed; the entry stays for the summary */
	enum device_said said;	/* kept here for the reporter */
	uint64_t gone_ns;	/* likewise: when that was said */
	bool knows_partitions;	/* what follows is valid; a controller has none */
	uint32_t nr_partitions; /* sorted by name */
	struct device_partition *partitions;
};

/* By the kernel's names of partitions: sda1 of sda, nvme0n1p1 of nvme0n1. */
bool device__may_have_partition(const char *disk, const char *name);
const char *device_kind__word(enum device_kind kind); /* "namespace", "disk", ...; "?" */
/* Copies a device and its partitions. -ENOMEM: *to has no partitions. */
int device__copy(struct device *to, const struct device *from);
void device__free(struct device *device); /* frees its partitions, not itself */

/* Its name; of several machines' also whose it is. Hostile. */
static inline const char *device__shown(const struct device *device)
{
	return device->shown ? device->shown : device->name;
}

bool device__is_leg(const struct device *device); /* a path of a multipath head: nvme0c1n1 */

struct device_list {
	struct device *devices;
	size_t nr;
	size_t nr_forgotten;	   /* of them, places without a device: their names are empty */
	char root[64];		   /* "" or a test's tree, before /sys, /dev and /proc */
	bool bios;		   /* the caller can use bio-based devices, too */
	const struct scout *scout; /* reads sysfs for a process that may not; NULL: it may */
};

/* Reads everything, through the scout unless it is NULL; 0 or -errno. */
int device_list__read(struct device_list *list, const char *root);
int device_list__read_by(struct device_list *list, const char *root, const struct scout *scout);
void device_list__free(struct device_list *list);

/*
 * Reads the device `name` again (after a uevent). A removed device is marked; a new one, or one
 * that came back with another identity, is appended. Returns its index, or -ENOENT.
 */
int device_list__refresh(struct device_list *list, const char *name);
/* Nothing refers to this device any more, which is gone: its place is the next new one's. */
void device_list__forget(struct device_list *list, int index);
/* In the scout: SCOUT_DEVICE. At most 256 partitions are told. */
void device__answer(void *shared);
/* The entry of that name that is there, or the last one that went; or NULL. */
struct device *device_list__find(const struct device_list *list, const char *name);

/* The index of its head, if it is a path of a head in this list; else its own. */
int device_list__head(const struct device_list *list, int index);
/* The index of the first namespace of its controller, which they share; else its own. */
int device_list__station(const struct device_list *list, int index);

/* "nvme0n1", "nvme0n1#2" for another drive with the name of an earlier one, "?" for an invalid
 * index. Returns buf. */
char *device_list__label(const struct device_list *list, int index, char *buf, size_t size);

/* What one -d selects. */
struct device_choice {
	char disk[32];			  /* a disk, or "" */
	int ctrl;			  /* a whole controller, or -1 */
	uint64_t from_sector, nr_sectors; /* of a partition; nr 0: the whole disk */
	uint16_t host_number;		  /* of captures of several machines; 0: of any */
};

/*
 * Accepts nvme0, nvme0n1, vda, /dev paths, links below /dev/disk, partitions (vda1, /dev/vda1),
 * mount points, dm and LVM names, 259:0. -ENODEV after one line ("no block device named 'nvme9';
 * there are: nvme0n1, vda"); a bio-based device is refused with one line that names the disks below
 * it (except a multipath head, which stands for its legs), and so is a disk without medium.
 */
int device_list__choose(const struct device_list *list, const char *text,
			struct device_choice *choice);
/* Does the choice include this device? A head includes its legs; a controller, its disks. */
bool device_choice__means(const struct device_choice *choice, const struct device *device);

/* Is the device chosen, or the controller of a chosen one? Without choices all devices are. */
bool device_list__concerns(const struct device_list *list, const struct device_choice *choices,
			   size_t nr, const struct device *device);

/* Comma-separated names for messages, at most 12, then "and N more"; returns buf. */
char *device_list__names(const struct device_list *list, char *buf, size_t size);

/* The kernel's messages that devices came or went. A descriptor to poll, or -errno. */
int uevent__open(void);
struct uevent {
	enum { UEVENT_ADD, UEVENT_REMOVE, UEVENT_CHANGE } action;
	char subsystem[16]; /* "block" (whole disks only), "nvme" (controllers) */
	char name[32];	    /* "nvme0n1" */
	bool connected;	    /* a controller works, at first or again (since 5.13) */
};
/* 1 and *event, 0 when there is no more, -errno. Messages of no interest are skipped. */
int uevent__read(int fd, struct uevent *event);

#endif
