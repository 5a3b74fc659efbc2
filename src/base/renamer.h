/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * renamer.h: gives one file its last name, or removes it. A run that measures drops its privileges,
 * and without them it may not change the directory that --out's file is in: sudo often writes to
 * another user's directory. So a deputy can do it, which waits for one order.
 */
#ifndef IOSONAR_BASE_RENAMER_H
#define IOSONAR_BASE_RENAMER_H

#include <sys/stat.h>
#include "base/deputy.h"

struct renamer {
	const char *from, *to; /* the caller's, until the end */
	struct stat stat;      /* of `from`: another file of that name is left alone */
	struct deputy deputy;  /* none: it is done here; deputy__end leaves the file as it is */
};

/* From now on another process does it. A negative errno, not said. */
int renamer__fork(struct renamer *renamer);
/* Each ends it. 0 or a negative errno, not said; -ESTALE: `from` is another file by now. */
int renamer__rename(struct renamer *renamer);
int renamer__remove(struct renamer *renamer);

#endif
