/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * device.h: which disks and NVMe controllers are there, and which of them did -d mean? Read from
 * sysfs (below a root that tests replace), followed through uevents. A device's identity is its
 * diskseq and serial, never its name: a drive that returns under an old name is another device.
 */
#ifndef IOSONAR_DEVICE_DEVICE_H
#define IOSONAR_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum device_kind {
	DEVICE_NVME_NS,	  /* nvme0n1, and the hidden legs of a multipath head: nvme0c1n1 */
	DEVICE_NVME_HEAD, /* a multipath head: bio-based, its commands are seen on its legs */
	DEVICE_NVME_CTRL, /* nvme0: the admin queue; no disk */
	DEVICE_REQUEST,	  /* virtio, SATA, loop, …: has a request queue */
	DEVICE_BIO,	  /* dm, md, zram, …: passes bios on, issues no requests of its own */
};

/* What was said of a device. One that was there at the start is no news. */
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
	uint32_t block_size; /* logical */
	uint32_t unit_bytes; /* that it does best with: optimal_io_size, else the least without
				read-modify-write; 0: not known */
	uint32_t major, minor;
	int ctrl;		   /* N of nvmeN that carries it; -1 */
	uint32_t nsid;		   /* 0: none */
	uint32_t nr_queues, depth; /* hardware queues and requests per queue */
	char model[48], serial[32], firmware[16];
	bool gone;		/* it was removed; the entry stays for the summary */
	enum device_said said;	/* kept here for who tells */
	bool knows_partitions;	/* what follows is true; a controller has none */
	uint32_t nr_partitions; /* in the order of their names */
	struct device_partition *partitions;
};

/* As the kernel names partitions: sda1 of sda, nvme0n1p1 of nvme0n1. */
bool device__may_have_partition(const char *disk, const char *name);
const char *device_kind__word(enum device_kind kind); /* "namespace", "disk", ...; "?" */
/* The same with partitions of its own. -ENOMEM: *to has none. */
int device__copy(struct device *to, const struct device *from);
void device__free(struct device *device); /* its partitions, not itself */

bool device__is_leg(const struct device *device); /* a path of a multipath head: nvme0c1n1 */

struct device_list {
	struct device *devices;
	size_t nr;
	char root[64]; /* "" or a test's tree, before /sys, /dev and /proc */
	bool bios;     /* who chooses can use bio-based devices, too */
};

/* Reads everything; 0 or -errno. */
int device_list__read(struct device_list *list, const char *root);
void device_list__free(struct device_list *list);

/*
 * Reads again what `name` is now (after a uevent). A device that is gone is marked; one that is
 * new, or that came back with another identity, is appended. Returns its index, or -ENOENT.
 */
int device_list__refresh(struct device_list *list, const char *name);
/* The newest entry of that name, or NULL. */
struct device *device_list__find(const struct device_list *list, const char *name);

/* The place of its head, if it is a path of one that is here; else its own. */
int device_list__head(const struct device_list *list, int index);

/* "nvme0n1", "nvme0n1#2" for another drive that bears the name of one before it, "?" if there is no
 * such place. Returns buf. */
char *device_list__label(const struct device_list *list, int index, char *buf, size_t size);

/* What one -d asked for. */
struct device_choice {
	char disk[32];			  /* a disk, or "" */
	int ctrl;			  /* a whole controller, or -1 */
	uint64_t from_sector, nr_sectors; /* of a partition; nr 0: the whole disk */
};

/*
 * Understands nvme0, nvme0n1, vda, /dev paths, links below /dev/disk, partitions (vda1, /dev/vda1),
 * mount points, dm and LVM names, 259:0. -ENODEV after one line ("no block device named 'nvme9';
 * there are: nvme0n1, vda"); a bio-based device is refused with one line that names the disks
 * below it (except a multipath head, which stands for its legs), and so is a disk without medium.
 */
int device_list__choose(const struct device_list *list, const char *text,
			struct device_choice *choice);
/* Does the choice mean this device? A head's choice means its legs; a controller's, its disks. */
bool device_choice__means(const struct device_choice *choice, const struct device *device);

/* Is it one of those that are chosen, or the controller of one? All are if none is. */
bool device_list__concerns(const struct device_list *list, const struct device_choice *choices,
			   size_t nr, const struct device *device);

/* Comma-separated names for messages, at most 12, then "and N more"; returns buf. */
char *device_list__names(const struct device_list *list, char *buf, size_t size);

/* The kernel's word that a device came or went. fd to poll, or -errno. */
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
