/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "base/place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/log.h"

enum { PLACE_LINKS = 40 }; /* as many as the kernel follows */

/* A component of a path that is a symbolic link. */
struct place_link {
	size_t from, to; /* path[from..to) */
	char directory[PATH_MAX];
	char target[PATH_MAX];
};

static bool place_mode_is_shared(mode_t mode)
{
	return mode & S_ISVTX && mode & S_IWOTH;
}

static bool place_is_shared(const char *directory)
{
	struct stat st;

	return !stat(directory, &st) && place_mode_is_shared(st.st_mode);
}

/* "." of "x", "/" of "/x", "a/b" of "a/b/x". */
static void place_directory(const char *path, size_t from, char directory[PATH_MAX])
{
	while (from > 1 && path[from - 1] == '/')
		from--;
	if (!from)
		snprintf(directory, PATH_MAX, ".");
	else
		snprintf(directory, PATH_MAX, "%.*s", (int)from, path);
}

/* Where the last component begins. */
static size_t place_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash + 1 - path) : 0;
}

/* True: path[0..to) is a symbolic link, and `link` gets its target. */
static bool place_read_link(const char *path, struct place_link *link)
{
	char prefix[PATH_MAX];
	ssize_t len;

	snprintf(prefix, sizeof(prefix), "%.*s", (int)link->to, path);
	len = readlink(prefix, link->target, sizeof(link->target) - 1);
	if (len < 0)
		return false;
	link->target[len] = 0;
	place_directory(path, link->from, link->directory);
	return true;
}

/* The first component that is a symbolic link. */
static bool place_find_link(const char *path, struct place_link *link)
{
	for (link->to = 0; path[link->to];) {
		link->from = link->to + strspn(path + link->to, "/");
		link->to = link->from + strcspn(path + link->from, "/");
		if (link->to > link->from && place_read_link(path, link))
			return true;
	}
	return false;
}

/* Puts the link's target in its place. */
static int place_follow(struct place *place, const struct place_link *link)
{
	const char *rest = place->path + link->to;
	int from = *link->target == '/' ? 0 : (int)link->from;
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%.*s%s%s", from, place->path, link->target, rest);

	if (len < 0 || (size_t)len >= sizeof(path))
		return -ENAMETOOLONG;
	memcpy(place->path, path, (size_t)len + 1);
	return 0;
}

/* The links of /proc/PID/fd are not names of files: their text may name another file. */
static bool place_is_descriptor(const struct place *place, const struct place_link *link)
{
	struct statfs fs;

	return !place->path[link->to] && !statfs(link->directory, &fs) &&
	       fs.f_type == PROC_SUPER_MAGIC;
}

static int place_resolve(struct place *place)
{
	struct place_link link;
	int err = 0;

	for (int nr = 0; !err && place_find_link(place->path, &link); nr++) {
		if (nr == PLACE_LINKS)
			return -ELOOP;
		place->is_descriptor = place_is_descriptor(place, &link);
		if (place->is_descriptor)
			return 0;
		if (place_is_shared(link.directory))
			return log_err(-EIO,
				       "cannot write %s: it is a symbolic link in a directory that "
				       "anyone can write to; name the file that it points to",
				       place->path);
		err = place_follow(place, &link);
	}
	return err;
}

int place__find(struct place *place, const char *path)
{
	char directory[PATH_MAX];
	int err;

	memset(place, 0, sizeof(*place));
	if (strlen(path) >= sizeof(place->path))
		return log_err(-ENAMETOOLONG, "cannot write %s: %s", path, strerror(ENAMETOOLONG));
	strcpy(place->path, path);
	err = place_resolve(place);
	if (err)
		return err == -EIO ? err
				   : log_err(err, "cannot write %s: %s", path, strerror(-err));
	place->exists = !stat(place->path, &place->stat);
	place_directory(place->path, place_name(place->path), directory);
	place->is_shared = !place->is_descriptor && place_is_shared(directory);
	return 0;
}

/* A copy shares the file offset: it does not overwrite what others write there. */
static int place_open_descriptor(const struct place *place, int flags)
{
	int pid, fd;

	if (sscanf(place->path, "/proc/%d/fd/%d", &pid, &fd) == 2 && pid == getpid())
		fd = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	else
		fd = open(place->path, (flags & ~(O_CREAT | O_EXCL)) | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* In a shared directory: the descriptor of a file that is ours, or -EACCES. */
static int place_check_owner(int fd)
{
	struct stat st;

	/* getauxval: parts of a capture are opened behind a filter without geteuid(). */
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid == getauxval(AT_EUID))
		return fd;
	close(fd);
	return -EACCES;
}

int place__open(const struct place *place, int flags, mode_t mode)
{
	int fd;

	if (place->is_descriptor)
		return place_open_descriptor(place, flags);
	fd = open(place->path, flags | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	return place->is_shared ? place_check_owner(fd) : fd;
}

int place__open_directory(const char *path)
{
	char directory[PATH_MAX];
	struct place place;
	int err, fd;

	place_directory(path, place_name(path), directory);
	err = place__find(&place, directory);
	if (err)
		return err;
	fd = open(place.path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	return log_err(-EIO, "cannot create '%s': %s", path, strerror(errno));
}

int place__create_in(int directory, const char *name, mode_t mode)
{
	struct stat st;
	/* These flags and no others: see PRIVILEGE_MAKES. */
	int fd = openat(directory, name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0)
		return -errno;
	return !fstat(directory, &st) && place_mode_is_shared(st.st_mode) ? place_check_owner(fd)
									  : fd;
}

static bool place_same_file(const char *path, const char *other)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool place__is_same(const char *path, const char *other)
{
	char directory[PATH_MAX], other_directory[PATH_MAX];

	if (place_same_file(path, other))
		return true;
	place_directory(path, place_name(path), directory);
	place_directory(other, place_name(other), other_directory);
	return !strcmp(path + place_name(path), other + place_name(other)) &&
	       place_same_file(directory, other_directory);
}
