/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inflight.h: which commands have been sent and have not come back? Asked of the kernel's own tags,
 * at this moment, so what was sent before we came is there too: about 0.1 us for a tag that is
 * free, 1 us for one in use. Nothing is locked: each command was in flight when it was looked at,
 * not all of them at one moment. It cannot see what waits to be sent for the first time, nor
 * bio-based devices; a process is known of what was sent while the io collector watched.
 */
#ifndef IOSONAR_COLLECT_INFLIGHT_H
#define IOSONAR_COLLECT_INFLIGHT_H

#include "decode/inflight.h"

struct io;
struct inflight;

/* After io__open. 0, or -errno after one line. */
int inflight__open(struct inflight **inflight, struct io *io);
void inflight__free(struct inflight *inflight);
/* What -d, --op and the other filters mean. 0, or -errno after one line. */
int inflight__look(struct inflight *inflight, struct inflight_list *list);
void inflight_list__free(struct inflight_list *list);

#endif
