/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* asprintf */
#include "collect/file_names.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- mounts of file systems ---- */

/* How much of the path the mount does not show; -1: not this path at all. */
static int mount_covers(const struct mount *mount, const char *path)
{
	size_t len = strlen(mount->root);

	if (!strcmp(mount->root, "/"))
		return 0;
	if (strncmp(path, mount->root, len) || (path[len] && path[len] != '/'))
		return -1;
	return (int)len;
}

/* Prefers a mount that shows the whole file system, and of these the first. */
static const struct mount *mounts_of(const struct mounts *m, uint32_t dev, const char *path)
{
	const struct mount *best = NULL;

	for (size_t i = 0; i < m->nr; i++) {
		int covers = m->mounts[i].dev == dev ? mount_covers(&m->mounts[i], path) : -1;

		if (!covers)
			return &m->mounts[i];
		if (covers > 0 && !best)
			best = &m->mounts[i];
	}
	return best;
}

/* ---- files ---- */

const struct io_file *io_file__find(const struct io_file *files, uint64_t inode, uint64_t place)
{
	uint32_t home = io_file_home(inode, (uint32_t)place);

	for (uint32_t i = 0; i < FILE_PROBES; i++) {
		const struct io_file *file = &files[(home + i) & (FILES_MOST - 1)];

		if (file->inode == inode && file->dev &&
		    io_file_place(file->dev, file->nth) == place)
			return file;
	}
	return NULL;
}

/* "/a/b" of "b", "a"; "/.../b" if not all fitted. Empty: it has no name. */
static void file_path(const struct io_file *file, char path[FILE_NAMES + 8])
{
	size_t at = 0, parts[FILE_PARTS + 1] = { 0 }, nr = 0, len = 0;
	bool cut = false;

	path[0] = 0;
	while (file && at < FILE_NAMES && file->names[at] && nr <= FILE_PARTS) {
		cut = file->names[at] == '/';
		if (cut)
			break;
		parts[nr++] = at;
		at += strnlen(file->names + at, FILE_NAMES - at) + 1;
	}
	if (cut)
		len = (size_t)snprintf(path, FILE_NAMES + 8, "/...");
	while (nr--)
		len += (size_t)snprintf(path + len, FILE_NAMES + 8 - len, "/%.*s",
					(int)(FILE_NAMES - parts[nr]), file->names + parts[nr]);
}

static const char *file_special(uint64_t inode)
{
	switch (inode) {
	case FILE_SWAP: return "[swap]";
	case FILE_DIRECT: return "[direct]";
	case FILE_DEVICE: return "[device]";
	case FILE_KERNEL: return "[kernel]";
	default: return NULL;
	}
}

static char *file_text_of_metadata(const struct mounts *m, uint32_t dev)
{
	const struct mount *mount = mounts_of(m, dev, "/");
	char *text;

	if (!mount)
		return strdup(dev ? "[device]" : "[metadata]");
	return asprintf(&text, "[metadata of %s]", mount->at) < 0 ? NULL : text;
}

char *file_names__text(const struct mounts *m, const struct io_file *file, uint64_t inode,
		       uint32_t dev)
{
	const char *special = file_special(inode), *shown;
	const struct mount *mount;
	char path[FILE_NAMES + 8], where[32], *text;

	if (special)
		return strdup(special);
	if (inode == FILE_METADATA)
		return file_text_of_metadata(m, dev);
	file_path(file, path);
	mount = mounts_of(m, dev, path);
	snprintf(where, sizeof(where), "[%u:%u]", dev >> 20, dev & 0xfffff);
	if (!path[0])
		return asprintf(&text, "inode %" PRIu64 " of %s", inode,
				mount ? mount->at : where) < 0
			       ? NULL
			       : text;
	shown = mount ? path + mount_covers(mount, path) : path;
	return asprintf(&text, "%s%s",
			!mount			 ? where
			: strcmp(mount->at, "/") ? mount->at
						 : "",
			shown) < 0
		       ? NULL
		       : text;
}
