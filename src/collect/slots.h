/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slots.h: the user side of the commands in flight: how many were issued and completed, which are
 * open, which slots are dead. Reads the mapped table; writes only slots that no request uses.
 */
#ifndef IOSONAR_COLLECT_SLOTS_H
#define IOSONAR_COLLECT_SLOTS_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/io_tables.h"

enum { SLOT_SETTLED_NS = 100000000 }; /* a requeue follows its error within this time */

struct slot_table {
	struct io_slot *slots; /* mapped, or a test's own */
	uint32_t nr;
	struct slot_seen *seen;	    /* the counts of each slot at the last scan */
	uint64_t issued, completed; /* since the start; slots wrap, these do not */
	uint64_t sweep_began_ns;    /* 0: no sweep is running */
	bool some_are_dead;	    /* slots of devices that went: the next sweep begins at once */
};

struct slot_counts {
	uint64_t used;	    /* slots that hold a request */
	uint64_t in_flight; /* sent and not ended, or waiting for another attempt */
	uint64_t parked;    /* ended with an error a while ago: no retry will come */
	uint64_t oldest_ns; /* first attempt of the oldest in flight; 0: none */
};

typedef void (*slot_fn)(void *arg, uint32_t nr, const struct io_slot *slot);

/* Which commands a scan tells of; NULL: of none. */
struct slot_tells {
	slot_fn parked; /* ended with an error, and no program has settled it */
	slot_fn open;	/* in flight */
	void *arg;
};

int slot_table__init(struct slot_table *table, struct io_slot *slots, uint32_t nr);
void slot_table__free(struct slot_table *table);

void slot_table__scan(struct slot_table *table, uint64_t now_ns, struct slot_counts *counts,
		      const struct slot_tells *tells);

/* The slot of this request, as it is now; false: it has none. *nr is its number. */
bool slot_table__find(const struct slot_table *table, uint64_t request, struct io_slot *slot,
		      uint32_t *nr);

/* Did a command fail so recently that it may still be retried? */
bool slot_table__is_unsettled(const struct slot_table *table, uint64_t now_ns);

/* Ended with an error, and no program has settled it: as __scan tells. Searches all of them. */
void slot_table__tell_parked(const struct slot_table *table, uint64_t now_ns, slot_fn fn,
			     void *arg);

/*
 * Frees slots whose request has not been used for 10 s, when more than half are taken: an elevator
 * change leaves them behind; and those of a device that went. In two steps at least 100 ms apart:
 * first the key is made unfindable; then the slot is cleared, unless a program had just taken it.
 */
void slot_table__sweep(struct slot_table *table, uint64_t now_ns, uint64_t used);

/* The device of this queue is gone: no slot may keep it, as its address may be reused. They are
 * swept as soon as no command is in them. */
void slot_table__forget_queue(struct slot_table *table, uint64_t queue);

#endif
