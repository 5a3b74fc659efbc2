/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path.h: "vfs_read;ext4_file_read_iter": which functions is one in? Rows of a tree are entered in
 * their order, each costs its own name. What is deeper than PATH_MOST would make the output of a
 * deep tree grow with the square of its depth: the names between are left out, and counted.
 */
#ifndef IOSONAR_RENDER_PATH_H
#define IOSONAR_RENDER_PATH_H

#include <stddef.h>
#include <stdint.h>

enum { PATH_MOST = 128 }; /* outermost names that a path holds */

struct path {
	char *text; /* of the last one that was entered */
	size_t len, room;
	size_t ends[PATH_MOST]; /* of each name in text, by depth */
	uint64_t cut;		/* paths that leave out some: "a;b;...;z" */
};

/* All zeros is an empty one. Those around it were entered before it. -ENOMEM. */
int path__enter(struct path *path, uint32_t depth, const char *name);
void path__free(struct path *path);

#endif
