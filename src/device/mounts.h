/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mounts.h: which file system is mounted where? Read once from mountinfo of this process; mounts
 * outside its namespace and later mounts are not seen.
 */
#ifndef IOSONAR_DEVICE_MOUNTS_H
#define IOSONAR_DEVICE_MOUNTS_H

#include <stddef.h>
#include <stdint.h>

struct mount {
	uint32_t dev; /* as the kernel has it: major << 20 | minor */
	char *root;   /* directory of the file system that is mounted; mostly "/" */
	char *at;
	char *type, *source; /* "ext4", "/dev/vda"; "" if unknown */
};

struct mounts {
	struct mount *mounts;
	size_t nr;
};

/* path: "/proc/self/mountinfo". An unreadable file has no mounts. -ENOMEM. Free in both cases. */
int mounts__read(struct mounts *mounts, const char *path);
void mounts__free(struct mounts *mounts);

/* The mount that a path lies on: the longest one, and of equals the last, which covers the others.
 */
const struct mount *mounts__find(const struct mounts *mounts, const char *path);

/* The first mount of a file system. NULL: it has none that is seen. */
const struct mount *mounts__of_dev(const struct mounts *mounts, uint32_t dev);

/* The first mount of /dev/NAME. NULL: it has none, or under another name. */
const struct mount *mounts__of_disk(const struct mounts *mounts, const char *name);

#endif
