/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * place.h: where is a file that --out or -w names? Symbolic links are followed, except those in a
 * sticky directory that anyone may write to, such as /tmp: another user may have put them there.
 * Costs a few lstat() calls. The file is later opened without following links again.
 */
#ifndef IOSONAR_BASE_PLACE_H
#define IOSONAR_BASE_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct place {
	char path[PATH_MAX]; /* without symbolic links */
	struct stat stat;    /* of the file, if it exists */
	bool exists;
	bool is_shared;	    /* its directory is sticky and anyone may write to it */
	bool is_descriptor; /* /dev/stdout, /proc/self/fd/3 and the like */
};

/* 0 or a negative errno, logged. */
int place__find(struct place *place, const char *path);
/*
 * Like open(): a descriptor or a negative errno, not logged. /dev/stdout is a copy of the
 * descriptor. An existing file of another user in a shared directory is refused with -EACCES.
 */
int place__open(const struct place *place, int flags, mode_t mode);
/* Opens the directory of a file, to create others there: a descriptor or a negative errno,
 * logged. */
int place__open_directory(const char *path);
/*
 * Opens or creates `name` in it for writing, as place__open would; a symbolic link of that name is
 * refused. A descriptor or a negative errno, not logged.
 */
int place__create_in(int directory, const char *name, mode_t mode);
/* Are these the same file, or would they be, if they existed? */
bool place__is_same(const char *path, const char *other);

#endif
