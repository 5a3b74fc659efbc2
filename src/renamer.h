/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * renamer.h: gives one file its last name, or removes it. A run that measures drops its privileges,
 * and without them it may not change the directory that --out's file is in: sudo often writes to
 * another user's directory. So a process of its own can do it: it keeps only the capabilities that
 * concern files, does nothing but wait for one order, and ends with its parent.
 */
#ifndef IOSONAR_RENAMER_H
#define IOSONAR_RENAMER_H

#include <sys/stat.h>
#include <sys/types.h>

struct renamer {
	const char *from, *to; /* the caller's, until the end */
	struct stat stat;      /* of `from`: another file of that name is left alone */
	pid_t pid;	       /* 0: there is no process, it is done here */
	int fd;
};

/* From now on another process does it. A negative errno, not said. */
int renamer__fork(struct renamer *renamer);
/* Each ends it. 0 or a negative errno, not said; -ESTALE: `from` is another file by now. */
int renamer__rename(struct renamer *renamer);
int renamer__remove(struct renamer *renamer);
void renamer__end(struct renamer *renamer); /* leaves the file as it is */

#endif
