/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * file_id.h: which file does data belong to? A file is its inode, its file system's device, and its
 * number among the files that had this inode in turn; data of no file has a reserved inode. Names
 * are noted once, when a file is first seen.
 */
#ifndef IOSONAR_WIRE_FILE_ID_H
#define IOSONAR_WIRE_FILE_ID_H

#include <linux/types.h>

#define FILE_METADATA (~0ULL)	  /* of the file system on that device, or the device's own cache */
#define FILE_SWAP     (~0ULL - 1) /* device 0, here and below */
#define FILE_DIRECT   (~0ULL - 2) /* direct I/O; its file cannot be seen */
#define FILE_DEVICE   (~0ULL - 3) /* direct I/O to the device, past all files */
#define FILE_KERNEL   (~0ULL - 4) /* the kernel's own memory: a log, a checksum, parity */
#define FILE_SPECIAL  FILE_KERNEL /* from here on */

enum {
	FILES_MOST = 4096,
	FILE_PROBES = 32,   /* cells that a file may be in, and so names of one inode number */
	FILE_UNNAMED = 127, /* instead of a file's nth: its name is not known */
	FILE_PARTS = 24,
	FILE_PART_MOST = 64,
	FILE_NAMES = 240,
};

/*
 * A name of an inode's number. The next file may reuse the number: the programs know a file by its
 * generation and address, and name it again when they change. Equal names share a cell: a journal
 * that is created and removed a thousand times is one file.
 */
struct io_file {
	__u64 inode;
	__u32 dev;		/* 0: free; set last */
	__u32 claim;		/* held while it is filled */
	__u64 address;		/* of the file that has these names now, and */
	__u32 generation;	/* its generation in the file system */
	__u32 nth;		/* among the names of this inode, in order of appearance */
	__u64 hash;		/* of the names */
	char names[FILE_NAMES]; /* innermost first, each ends with a NUL; an empty name is the last
				 */
};
_Static_assert(sizeof(struct io_file) == 280, "no holes");

static inline __u32 io_file_home(__u64 inode, __u32 dev)
{
	return (__u32)((inode * 0x9e3779b97f4a7c15ULL ^ dev * 0xd6e8feb86659fd93ULL) >> 40);
}

/* What goes with an inode where one number must suffice, as in a capture's list of files. */
static inline __u64 io_file_place(__u32 dev, __u32 nth)
{
	return (__u64)nth << 32 | dev;
}

/* Functions that end bios; they identify the sender. */
enum file_sender {
	SENDER_IOMAP, /* direct I/O of ext4, xfs, f2fs */
	SENDER_DIO,   /* and of older file systems */
	SENDER_DIO_ASYNC,
	SENDER_DEVICE, /* direct I/O to a device */
	SENDER_DEVICE_SIMPLE,
	SENDER_DEVICE_ASYNC,
	SENDER_WAITS,  /* the same, and others */
	SENDER_AWAITS, /* the same since 7.0 */
	SENDER_SWAP_READ,
	SENDER_SWAP_WRITE,
	NR_SENDERS,
};

#endif
