/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inflight.h: which commands have been sent and have not completed? Reads the kernel's own tags at
 * this moment, so commands sent before we started are included: about 0.1 us for a free tag, 1 us
 * for one in use. Nothing is locked: each command was in flight when it was read, but not all at
 * the same moment. It cannot see commands that wait to be sent for the first time, nor bio-based
 * devices; the process is known only for commands sent while the io collector watched.
 */
#ifndef IOSONAR_COLLECT_INFLIGHT_H
#define IOSONAR_COLLECT_INFLIGHT_H

#include "decode/inflight.h"

struct io;
struct inflight;

/* After io__open. 0, or -errno after one line. */
int inflight__open(struct inflight **inflight, struct io *io);
void inflight__free(struct inflight *inflight);
/* Applies -d, --op and the other filters. 0, or -errno after one line. */
int inflight__look(struct inflight *inflight, struct inflight_list *list);
void inflight_list__free(struct inflight_list *list);

#endif
