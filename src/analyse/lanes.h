/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lanes.h: where in a picture is room? Spans of time that overlap need lanes of their own; each
 * gets one in which nothing goes on that long. Spans come in the order of their ends; of the lanes
 * that are free by then the one that was busy last is taken, which needs as few as there are.
 */
#ifndef IOSONAR_ANALYSE_LANES_H
#define IOSONAR_ANALYSE_LANES_H

#include <stddef.h>
#include <stdint.h>

enum { LANES_MOST = 4096 };

struct lanes {
	uint64_t *ends; /* of the last span of each */
	size_t nr, room;
};

/* The span's lane, from 0 on; one that is nr before is new. -ENOMEM; -ENOSPC: there are no more. */
int lanes__take(struct lanes *lanes, uint64_t begin_ns, uint64_t end_ns);
void lanes__free(struct lanes *lanes);

#endif
