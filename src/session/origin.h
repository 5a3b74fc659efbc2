/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * origin.h: the origin that a capture states: machine, kernel, boot, command line, time zone and
 * clock source.
 */
#ifndef IOSONAR_SESSION_ORIGIN_H
#define IOSONAR_SESSION_ORIGIN_H

#include <sys/utsname.h>
#include "capture/alias.h"
#include "capture/write.h"

/* alias: --anonymous; NULL: keeps names. 0 or a negative errno. */
int origin__put(struct capture_writer *writer, const struct utsname *host,
		const struct alias *alias);

#endif
