/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * troubles.h: what went wrong with a command before it ended? Keeps its failed attempts, and
 * whether the driver timed it out, until it ends. A command is identified by its device, its first
 * issue and its address. Bounded: with more than TROUBLES_MOST at once the oldest is forgotten;
 * attempts after TROUBLE_TRIES are only counted.
 */
#ifndef IOSONAR_ANALYSE_TROUBLES_H
#define IOSONAR_ANALYSE_TROUBLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/io_record.h"

enum { TROUBLES_MOST = 1024, TROUBLE_TRIES = 8, TROUBLE_ABORTS = 64 };

struct trouble_try {
	uint64_t start_ns, end_ns;
	uint16_t status, cid;
};

struct trouble {
	uint64_t first_ns, where;
	uint16_t device;
	bool timed_out; /* the driver timed it out, or told the device to abort it */
	uint32_t nr_tries;
	struct trouble_try tries[TROUBLE_TRIES];
};

/* An abort command that was sent: controller, queue and command to abort. */
struct trouble_abort {
	uint64_t sent_ns;
	int ctrl;
	uint16_t qid, cid;
};

struct troubles {
	struct trouble open[TROUBLES_MOST];
	size_t nr;
	struct trouble_abort aborts[TROUBLE_ABORTS]; /* the last ones, in a ring */
	size_t nr_aborts;
};

/* Takes a failed attempt, a cancellation or a time-out; ignores other records. */
void troubles__add(struct troubles *troubles, const struct io_record *record);
/* An abort command of controller ctrl. */
void troubles__abort(struct troubles *troubles, const struct io_record *abort, int ctrl);
/* Returns and forgets what is known of a command that ended; a fresh trouble if nothing is. */
struct trouble troubles__end(struct troubles *troubles, const struct io_record *record, int ctrl);

#endif
