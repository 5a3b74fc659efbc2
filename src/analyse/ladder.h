/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ladder.h: where did the time of commands go? A command passes events, called rungs; the time
 * between two passed rungs is a step. Each step begins where the one before ended, so the steps of
 * a command add up to its total, whatever rungs it skipped. Per device and operation: a
 * distribution for each step, and its share in the slowest commands.
 */
#ifndef IOSONAR_ANALYSE_LADDER_H
#define IOSONAR_ANALYSE_LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analyse/hist.h"
#include "wire/io_stages.h"

/* In the order in which a command passes them, with blktrace's letters where they exist. */
enum rung {
	RUNG_QUEUED,   /* Q: the bio was submitted */
	RUNG_GOT,      /* G: it got a request */
	RUNG_FLUSHED,  /* F: the flush that it waited for had ended */
	RUNG_INSERTED, /* I: the request went to the scheduler */
	RUNG_SETUP,    /* S: the NVMe command was built, at the first attempt */
	RUNG_AGAIN,    /* A: the last attempt began */
	RUNG_ISSUED,   /* D: it went to the driver's queue */
	RUNG_REAPED,   /* K: the device's answer was found */
	RUNG_ANSWERED, /* N: the driver had the answer */
	RUNG_BELOW,    /* V: volume: the first bio made of it was submitted, */
	RUNG_BACK,     /* E: the last of those bios ended */
	RUNG_WRITTEN,  /* W: its data were written; another flush follows */
	RUNG_DONE,     /* C: the request and its bios ended */
	NR_RUNGS,
};

/* Where an I/O begins and ends. */
enum ladder_at {
	LADDER_REQUEST, /* each request, from its first bio on: Q to C */
	LADDER_COMMAND, /* each command of the driver: S to N, or D to C */
	LADDER_BIO,	/* each bio: Q to C */
};

struct moment {
	enum rung rung;
	uint64_t ns;
};

/* The rungs that this record passed, in order; times never fall. Returns how many; 0: none. */
size_t ladder__moments(const struct io_record *record, enum ladder_at at,
		       struct moment moments[NR_RUNGS]);

char rung__letter(enum rung rung);	 /* 'Q' */
const char *rung__words(enum rung rung); /* "submitted" */
/* "Q submitted; C ended": of a mask of rungs, a bit each. Returns buf. */
enum { RUNG_LEGEND = 512 };
const char *rung__legend(uint32_t rungs, char buf[RUNG_LEGEND]);
static inline uint32_t rung__bits(enum rung from, enum rung to)
{
	return 1u << from | 1u << to;
}

/* "Q2G" into buf[4]; what happens in that step, in words. */
const char *step__name(enum rung from, enum rung to, char buf[4]);
const char *step__words(enum rung from, enum rung to);

enum { LADDER_STEPS = 16 }; /* different steps of one device and operation */

struct ladder_step {
	enum rung from, to;
	struct hist hist;
};

/* One device and operation. */
struct ladder_group {
	int32_t device; /* the caller's number for it */
	uint8_t kind, op;
	enum rung from, to; /* the widest seen */
	struct hist total;
	size_t nr_steps;
	struct ladder_step steps[LADDER_STEPS];
	/* By bucket of the total: the sum of each step in those commands. */
	uint64_t (*tails)[LADDER_STEPS];
};

struct ladder {
	struct ladder_group **groups;
	size_t nr;
};

/* -ENOMEM. Ignores records of other layers. */
int ladder__add(struct ladder *ladder, int32_t device, const struct io_record *record,
		enum ladder_at at);
int ladder__merge(struct ladder *into, const struct ladder *from);
void ladder__clear(struct ladder *ladder); /* empties, keeps the memory */
void ladder__free(struct ladder *ladder);
void ladder__sort(struct ladder *ladder); /* groups by device and operation, steps by their rungs */

/* The step's share in the time of all commands of its group, in percent; */
double ladder_group__share(const struct ladder_group *group, size_t step);
/* and in the time of those beyond a percentile of the total (9900: the slowest 1 %). */
double ladder_group__tail_share(const struct ladder_group *group, size_t step, uint32_t per_10000);

#endif
