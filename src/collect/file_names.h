/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_names.h: the path of a file from its inode and device and the names that the programs noted:
 * below the current mount of its file system; "[8:1]/a/b" if it is not mounted. A renamed file
 * keeps the name it had when it was first seen. A reused inode number is another file.
 */
#ifndef IOSONAR_COLLECT_FILE_NAMES_H
#define IOSONAR_COLLECT_FILE_NAMES_H

#include <stdint.h>
#include "device/mounts.h"
#include "wire/file_id.h"

/* The cell of a file among FILES_MOST; NULL: it has none. place: io_file_place. */
const struct io_file *io_file__find(const struct io_file *files, uint64_t inode, uint64_t place);
/*
 * "/mnt/a/b", "[swap]", "[metadata of /mnt]", "inode 12 of /mnt"; malloced, hostile; NULL: no
 * memory. file may be NULL.
 */
char *file_names__text(const struct mounts *mounts, const struct io_file *file, uint64_t inode,
		       uint32_t dev);

#endif
