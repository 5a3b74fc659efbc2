/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * origin.h: the origin that a capture states: machine, kernel, boot, command line, time zone and
 * clock source.
 */
#ifndef IOSONAR_SESSION_ORIGIN_H
#define IOSONAR_SESSION_ORIGIN_H

#include <stdbool.h>
#include <sys/utsname.h>
#include "capture/alias.h"
#include "capture/write.h"

enum { ORIGIN_ID = 40, ORIGIN_HOST = 256 }; /* a UUID as text; a name */

/* What stays the same in all parts of a recording. */
struct origin {
	struct utsname host;
	char name[ORIGIN_HOST]; /* of the machine */
	char id[ORIGIN_ID];	/* no other recording has it */
};

/* Of the machine, as captures have them. */
struct origin_names {
	char host[ORIGIN_HOST], boot_id[64];
};

bool origin__is_name(const char *host);
/*
 * Before privileges are dropped: uname() is not allowed later. host: --host, or NULL: the name of
 * the machine. A container has a name of its own; then it is that of the machine if NODE_NAME or
 * the first process tells it, and a message says so if not.
 */
void origin__init(struct origin *origin, const char *host);
/* alias: --anonymous; NULL: keeps names. */
void origin__names(const struct origin *origin, const struct alias *alias,
		   struct origin_names *names);
/* Likewise. 0 or a negative errno. */
int origin__put(const struct origin *origin, struct capture_writer *writer,
		const struct alias *alias);

#endif
