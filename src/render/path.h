/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * path.h: "vfs_read;ext4_file_read_iter": which functions surround a call? Rows of a tree are
 * entered in order, each costs only its own name. Without a limit, the output of a deep tree would
 * grow with the square of its depth: beyond PATH_MOST the names between are left out, and counted.
 * A ';' in a name, which would end it, becomes ':', as in folded lines.
 */
#ifndef IOSONAR_RENDER_PATH_H
#define IOSONAR_RENDER_PATH_H

#include <stddef.h>
#include <stdint.h>

enum { PATH_MOST = 128 }; /* maximum of outermost names in a path */

struct path {
	char *text; /* of the last call entered */
	size_t len, room;
	size_t ends[PATH_MOST]; /* of each name in text, by depth */
	uint64_t cut;		/* paths with omitted names: "a;b;...;z" */
};

/* All zeros is an empty path. Enter outer calls before inner ones. -ENOMEM. */
int path__enter(struct path *path, uint32_t depth, const char *name);
void path__free(struct path *path);

#endif
