/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hosts.h: which captures are of the same machine? Those that name the same host, unless they are
 * of two boots at the same time: then two machines have one name, and the second is "db7#2". Two
 * machines of one name that were never recorded at the same time cannot be told apart.
 */
#ifndef IOSONAR_CAPTURE_HOSTS_H
#define IOSONAR_CAPTURE_HOSTS_H

#include "capture/alias.h"
#include "capture/read.h"

enum { CAPTURE_HOST = 288 }; /* a name with its number */

struct capture_hosts {
	struct capture_host {
		char label[CAPTURE_HOST]; /* hostile */
	} * hosts;
	size_t nr;
	uint16_t *of; /* by capture: the number of its host, from 0 */
};

/* -ENOMEM. */
int capture_hosts__find(struct capture_hosts *hosts, struct capture_reader *const *readers,
			size_t nr);
void capture_hosts__free(struct capture_hosts *hosts);
/* Other names, in place: pointers to labels stay valid. */
void capture_hosts__alias(struct capture_hosts *hosts, const struct alias *alias);

#endif
