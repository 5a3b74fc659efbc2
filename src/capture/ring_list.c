/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "capture/ring_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/grow.h"
#include "base/log.h"
#include "capture/ring_file.h"

#define RING_MANIFEST_PART "." RING_MANIFEST ".part"

/* ---- files of the directory ---- */

/* What was created, renamed or removed in the directory stays so. */
static int ring_list_sync(const struct ring_list *list)
{
	return fsync(list->directory) ? -errno : 0;
}

/* Some file systems know no flags of renameat2(). Only we create such names. */
static int ring_list_rename(const struct ring_list *list, const char *from, const char *to)
{
	if (!syscall(SYS_renameat2, list->directory, from, list->directory, to, RENAME_NOREPLACE))
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	return syscall(SYS_renameat2, list->directory, from, list->directory, to, 0) ? -errno : 0;
}

int ring_list__open(const struct ring_list *list, const char *name)
{
	int fd = openat(list->directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int ring_list__create(const struct ring_list *list, const char *name, mode_t mode)
{
	int fd = openat(list->directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			mode);

	return fd < 0 ? -errno : fd;
}

/* ---- the list ---- */

static void ring_entry_free(struct ring_entry *entry)
{
	free(entry->name);
	free(entry->line);
}

void ring_list__free(struct ring_list *list)
{
	for (size_t i = 0; i < list->nr; i++)
		ring_entry_free(&list->entries[i]);
	free(list->entries);
	list->entries = NULL;
	list->nr = list->room = 0;
}

static void ring_list_drop(struct ring_list *list, size_t at)
{
	ring_entry_free(&list->entries[at]);
	list->nr--;
	memmove(list->entries + at, list->entries + at + 1,
		(list->nr - at) * sizeof(*list->entries));
}

int ring_list__add(struct ring_list *list, char *name, char *line, uint64_t bytes)
{
	if (!name || !line || GROW(list->entries, list->room, list->nr + 1)) {
		free(name);
		free(line);
		return -ENOMEM;
	}
	if (list->nr && list->entries[list->nr - 1].gone)
		ring_list_drop(list, list->nr - 1);
	list->entries[list->nr++] = (struct ring_entry){ name, line, bytes, false };
	return 0;
}

static char *ring_list_line(const struct ring_list *list, const char *from, const char *name,
			    uint64_t *bytes, int *err)
{
	int fd = ring_list__open(list, from);

	*err = fd < 0 ? fd : 0;
	return fd < 0 ? NULL : ring_file__line(fd, name, bytes, err);
}

int ring_list__publish(struct ring_list *list, const char *from, const char *to)
{
	uint64_t bytes = 0;
	int err;
	char *line = ring_list_line(list, from, to, &bytes, &err);

	err = err ?: ring_list_rename(list, from, to);
	err = err ?: ring_list_sync(list);
	if (!err)
		return ring_list__add(list, strdup(to), line, bytes);
	free(line);
	return err;
}

int ring_list__add_file(struct ring_list *list, const char *name)
{
	uint64_t bytes = 0;
	int err;
	char *line = ring_list_line(list, name, name, &bytes, &err);

	return err ? err : ring_list__add(list, strdup(name), line, bytes);
}

uint32_t ring_list__last_number(const struct ring_list *list, const char *stem)
{
	char other[RING_NAME];
	uint32_t last = 0;

	for (size_t i = 0; i < list->nr; i++) {
		uint32_t number = ring_name__number(list->entries[i].name, other);

		if (number > last && !strcmp(stem, other))
			last = number;
	}
	return last;
}

uint64_t ring_list__last_ns(const struct ring_list *list, const char *stem)
{
	static const char key[] = "\"end_ns\":";
	char other[RING_NAME];
	uint64_t last_ns = 0;

	for (size_t i = 0; i < list->nr; i++) {
		const char *end = strstr(list->entries[i].line, key);
		uint64_t ns = end ? strtoull(end + strlen(key), NULL, 10) : 0;

		if (ns > last_ns && ring_name__number(list->entries[i].name, other) &&
		    !strcmp(stem, other))
			last_ns = ns;
	}
	return last_ns;
}

size_t ring_list__nr_files(const struct ring_list *list)
{
	return list->nr - (list->nr && list->entries[list->nr - 1].gone);
}

uint64_t ring_list__bytes(const struct ring_list *list)
{
	uint64_t bytes = list->manifest_bytes;

	for (size_t i = 0; i < list->nr; i++)
		bytes += list->entries[i].gone ? 0 : list->entries[i].bytes;
	return bytes;
}

bool ring_list__remove_oldest(struct ring_list *list)
{
	if (!ring_list__nr_files(list))
		return false;
	if (unlinkat(list->directory, list->entries[0].name, 0) && errno != ENOENT)
		return false;
	if (list->nr > 1)
		ring_list_drop(list, 0);
	else
		list->entries[0].gone = true; /* the manifest still has its number */
	return true;
}

void ring_list__make_room(struct ring_list *list, unsigned int nr_more, uint64_t more_bytes)
{
	while (ring_list__nr_files(list) + nr_more > list->files ||
	       ring_list__bytes(list) + more_bytes > list->size)
		if (!ring_list__remove_oldest(list))
			return;
}

/* ---- the manifest ---- */

static int ring_list_put(const struct ring_list *list, int fd, uint64_t *bytes)
{
	for (size_t i = 0; i < list->nr; i++) {
		size_t len = strlen(list->entries[i].line);
		ssize_t put = write(fd, list->entries[i].line, len);

		put = put == (ssize_t)len ? write(fd, "\n", 1) : put < 0 ? put : 0;
		if (put != 1)
			return put < 0 ? -errno : -ENOSPC;
		*bytes += len + 1;
	}
	return fsync(fd) ? -errno : 0;
}

static int ring_list_replace(const struct ring_list *list)
{
	if (syscall(SYS_renameat2, list->directory, RING_MANIFEST_PART, list->directory,
		    RING_MANIFEST, 0))
		return -errno;
	return ring_list_sync(list);
}

int ring_list__write_manifest(struct ring_list *list)
{
	uint64_t bytes = 0;
	int fd, err;

	unlinkat(list->directory, RING_MANIFEST_PART, 0);
	fd = ring_list__create(list, RING_MANIFEST_PART, list->mode);
	if (fd < 0)
		return fd;
	err = fchmod(fd, list->mode) ? -errno : ring_list_put(list, fd, &bytes);
	close(fd);
	err = err ?: ring_list_replace(list);
	if (err)
		unlinkat(list->directory, RING_MANIFEST_PART, 0);
	else
		list->manifest_bytes = bytes;
	return err;
}

/* ---- loading ---- */

/* Lines are ours, but the file may be anyone's: what names no file of a ring is left out. */
static int ring_list_take_line(struct ring_list *list, const char *line)
{
	static const char first[] = "{\"file\":\"";
	size_t len = sizeof(first) - 1;
	const char *end = strncmp(line, first, len) ? NULL : strchr(line + len, '"');
	char name[RING_NAME];
	struct stat st;
	bool there;
	int err;

	if (!end || end - line - (ptrdiff_t)len >= RING_NAME)
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)(end - line - (ptrdiff_t)len), line + len);
	if (!ring_name__number(name, NULL))
		return 0;
	there = !fstatat(list->directory, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode);
	err = ring_list__add(list, strdup(name), strdup(line), there ? (uint64_t)st.st_size : 0);
	if (!err)
		list->entries[list->nr - 1].gone = !there;
	return err;
}

static int ring_list_read_manifest(struct ring_list *list)
{
	int fd = ring_list__open(list, RING_MANIFEST), err = 0;
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	if (!in)
		return fd == -ENOENT ? 0 : fd < 0 ? fd : -ENOMEM;
	while (!err && (len = getline(&line, &room, in)) > 0) {
		if (line[len - 1] != '\n')
			break; /* cut: the file is read instead */
		line[len - 1] = 0;
		err = ring_list_take_line(list, line);
	}
	free(line);
	fclose(in);
	return err;
}

static bool ring_list_has(const struct ring_list *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(list->entries[i].name, name))
			return true;
	return false;
}

static int ring_list_is_file(const struct dirent *entry)
{
	return ring_name__number(entry->d_name, NULL) != 0;
}

static int ring_list_add_unlisted(struct ring_list *list, const char *name)
{
	int err = ring_list__add_file(list, name);

	if (err == -EBADMSG)
		log_warn("%s is not a complete capture; it is left as it is", name);
	else if (!err)
		log_note("%s is added to the manifest, which lacked it", name);
	return err == -EBADMSG || err == -ELOOP ? 0 : err;
}

/* In the order of names: numbers of one boot in their order. */
static int ring_list_find_unlisted(struct ring_list *list)
{
	struct dirent **found;
	int nr = scandirat(list->directory, ".", &found, ring_list_is_file, alphasort), err = 0;

	for (int i = 0; i < nr; i++) {
		if (!err && !ring_list_has(list, found[i]->d_name))
			err = ring_list_add_unlisted(list, found[i]->d_name);
		free(found[i]);
	}
	if (nr >= 0)
		free(found);
	return nr < 0 ? -errno : err;
}

int ring_list__load(struct ring_list *list)
{
	int err = ring_list_read_manifest(list);

	err = err ?: ring_list_find_unlisted(list);
	return err ? log_err(err, "cannot read the files of --ring: %s", strerror(-err)) : 0;
}
