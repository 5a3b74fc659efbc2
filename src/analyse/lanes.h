/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lanes.h: where does a picture have room? Spans that overlap in time need separate lanes; each
 * span gets a lane that is free for its whole length. Spans come in the order of their ends; of the
 * free lanes, the one busy last is taken, which needs as few lanes as possible.
 */
#ifndef IOSONAR_ANALYSE_LANES_H
#define IOSONAR_ANALYSE_LANES_H

#include <stddef.h>
#include <stdint.h>

enum { LANES_MOST = 4096 };

struct lanes {
	uint64_t *ends; /* end of each lane's last span */
	size_t nr, room;
};

/* The span's lane, from 0; equal to the old nr: a new lane. -ENOMEM; -ENOSPC: no more lanes. */
int lanes__take(struct lanes *lanes, uint64_t begin_ns, uint64_t end_ns);
void lanes__free(struct lanes *lanes);

#endif
