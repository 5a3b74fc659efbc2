/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interval.h: what happened in the last interval, and since the start, as lines of JSON for the
 * page and for /api: how it went, each device, each operation of a device, the ledger. Names are
 * those of `latency -o json`. Cells of a heat map: four per octave of latency, from 1 us to 17 s.
 */
#ifndef IOSONAR_SERVE_INTERVAL_H
#define IOSONAR_SERVE_INTERVAL_H

#include <stdio.h>
#include "serve/edges.h"
#include "serve/failures.h"
#include "serve/reading.h"
#include "serve/who.h"

struct interval {
	struct edges edges; /* of cells */
	char run[24];	    /* other in every run: a page sees that the server is a new one */
	uint64_t number;    /* of the last one, from 1 */
	uint64_t kept_ns;   /* --keep; 0: no recorder */
	uint64_t start_ns, last_ns;
	struct ledger before;
	struct who *who; /* NULL: not known */
	/* scratch of one row: too large for a stack */
	struct hist hist, sum;
	char cells[EDGES_MOST * 24];
};

extern const struct object interval_object, interval_device;

void interval__init(struct interval *interval);
/* wall_ns makes the run's name. */
void interval__start(struct interval *interval, uint64_t now_ns, uint64_t wall_ns);
/* After reading__take: writes the interval that ends now, and begins the next. -ENOMEM. */
int interval__end(struct interval *interval, struct reading *reading, uint64_t now_ns, FILE *out);

/* Since the start, as of the last reading. -ENOMEM. */
int interval__put_latency(struct interval *interval, const struct reading *reading, uint64_t now_ns,
			  FILE *out);
int interval__put_devices(const struct reading *reading, FILE *out);
int interval__put_ledger(const struct reading *reading, FILE *out);

#endif
