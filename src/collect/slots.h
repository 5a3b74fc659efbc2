/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slots.h: the user side of the commands in flight: how many were issued and completed, which are
 * open, and which cells died. It reads the mapped table; it writes only cells that no request uses.
 */
#ifndef IOSONAR_COLLECT_SLOTS_H
#define IOSONAR_COLLECT_SLOTS_H

#include <stdbool.h>
#include <stdint.h>
#include "wire/io_tables.h"

enum { SLOT_SETTLED_NS = 100000000 }; /* a requeue follows its error within this */

struct slot_table {
	struct io_slot *slots; /* mapped, or a test's own */
	uint32_t nr;
	struct slot_seen *seen;	    /* what each cell had counted at the last scan */
	uint64_t issued, completed; /* since the start; cells wrap, these do not */
	uint64_t sweep_began_ns;    /* 0: no sweep is under way */
};

struct slot_counts {
	uint64_t used;	    /* cells that hold a request */
	uint64_t in_flight; /* sent and not ended, or waiting for another attempt */
	uint64_t parked;    /* ended with an error some time ago: no retry will come */
	uint64_t oldest_ns; /* first attempt of the oldest in flight; 0: none */
};

/* Called for every command that ended with an error and that the kernel has not settled itself. */
typedef void (*slot_parked_fn)(void *arg, uint32_t nr, const struct io_slot *slot);

int slot_table__init(struct slot_table *table, struct io_slot *slots, uint32_t nr);
void slot_table__free(struct slot_table *table);

void slot_table__scan(struct slot_table *table, uint64_t now_ns, struct slot_counts *counts,
		      slot_parked_fn parked, void *arg);

/* The cell of this request, as it is now; false: it has none. *nr is its number. */
bool slot_table__find(const struct slot_table *table, uint64_t request, struct io_slot *slot,
		      uint32_t *nr);

/* Did a command fail so lately that it may still be tried again? */
bool slot_table__is_unsettled(const struct slot_table *table, uint64_t now_ns);

/*
 * Gives back cells whose request has not been used for 10 s, when more than half are taken: an
 * elevator change or an unplugged drive leaves such cells behind. In two steps at least 100 ms
 * apart: first the key is made unfindable, then, if no program had just taken the cell, cleared.
 */
void slot_table__sweep(struct slot_table *table, uint64_t now_ns, uint64_t used);

/* The device behind this queue is gone: no cell may remember it, its address may come back. */
void slot_table__forget_queue(struct slot_table *table, uint64_t queue);

#endif
