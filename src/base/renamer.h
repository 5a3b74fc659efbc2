/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * renamer.h: gives one file its final name, or removes it. A run that measures drops its
 * privileges, and without them it cannot change the directory of --out's file: sudo often writes to
 * another user's directory. So a deputy, which waits for one order, can do it.
 */
#ifndef IOSONAR_BASE_RENAMER_H
#define IOSONAR_BASE_RENAMER_H

#include <sys/stat.h>
#include "base/deputy.h"

struct renamer {
	const char *from, *to; /* owned by the caller until the end */
	struct stat stat;      /* of `from`: another file of that name is left alone */
	struct deputy deputy;  /* none: it is done here; deputy__end leaves the file alone */
};

/* From now on another process does the work. 0 or a negative errno, not logged. */
int renamer__fork(struct renamer *renamer);
/* Each ends the renamer. 0 or a negative errno, not logged; -ESTALE: `from` is now another file. */
int renamer__rename(struct renamer *renamer);
int renamer__remove(struct renamer *renamer);

#endif
