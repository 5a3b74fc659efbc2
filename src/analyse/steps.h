/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * steps.h: where did the time of commands go? A command passes events, called stages; the time
 * between two passed stages is a step. Each step begins where the one before ended, so the steps of
 * a command add up to its total, whatever stages it skipped. Waits before the request that the
 * kernel names are steps of their own, cut out of Q2G. Per device and operation: a
 * distribution for each step, and its share in the slowest commands.
 */
#ifndef IOSONAR_ANALYSE_STEPS_H
#define IOSONAR_ANALYSE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analyse/hist.h"
#include "wire/io_stages.h"

/* In the order in which a command passes them, with blktrace's letters where they exist. */
enum stage {
	STAGE_HELD,	/* H: io.max held the bio back */
	STAGE_QUEUED,	/* Q: the bio was submitted */
	STAGE_GOT,	/* G: it got a request */
	STAGE_FLUSHED,	/* F: the flush that it waited for had ended */
	STAGE_INSERTED, /* I: the request went to the scheduler */
	STAGE_SETUP,	/* S: the NVMe command was built, at the first attempt */
	STAGE_AGAIN,	/* A: the last attempt began */
	STAGE_ISSUED,	/* D: it went to the driver's queue */
	STAGE_REAPED,	/* K: the device's answer was found */
	STAGE_ANSWERED, /* N: the driver had the answer */
	STAGE_BELOW,	/* V: volume: the first bio made of it was submitted, */
	STAGE_BACK,	/* E: the last of those bios ended */
	STAGE_WRITTEN,	/* W: its data were written; another flush follows */
	STAGE_DONE,	/* C: the request and its bios ended */
	NR_STAGES,
};

/* Where an I/O begins and ends. */
enum steps_at {
	STEPS_OF_REQUEST, /* each request, from its first bio on: Q to C */
	STEPS_OF_COMMAND, /* each command of the driver: S to N, or D to C */
	STEPS_OF_BIO,	  /* each bio: Q to C */
};

struct moment {
	enum stage stage;
	uint64_t ns;
};

/* The stages that this record passed, in order; times never fall. Returns how many; 0: none. */
size_t stage__moments(const struct io_record *record, enum steps_at at,
		      struct moment moments[NR_STAGES]);

char stage__letter(enum stage stage);	    /* 'Q' */
const char *stage__words(enum stage stage); /* "submitted" */
/* "Q submitted; C ended": of a mask of stages, a bit each. Returns buf. */
enum { STAGE_LEGEND = 512 };
const char *stage__legend(uint32_t stages, char buf[STAGE_LEGEND]);
static inline uint32_t stage__bits(enum stage from, enum stage to)
{
	return 1u << from | 1u << to;
}

/* "Q2G" into buf[4]; what happens in that step, in words. */
const char *step__name(enum stage from, enum stage to, char buf[4]);
const char *step__words(enum stage from, enum stage to);
/* The same of a wait that the kernel names, which is a part of Q2G: "tag", "waits for a tag". */
const char *wait__name(enum io_wait wait);
const char *wait__words(enum io_wait wait);
/* How long each wait of Q2G lasted, from the last to the first: until the next one begins. Waits
 * that cannot be in it are left out. Returns their number; *rest_ns: before the first. */
struct wait_part {
	enum io_wait wait;
	uint64_t ns;
};
size_t wait__divide(const struct io_stages *stages, uint64_t q2g_ns,
		    struct wait_part parts[IO_WAITS], uint64_t *rest_ns);

enum { STEPS_PER_GROUP = 24 }; /* different steps of one device and operation */

struct step {
	enum stage from, to;
	enum io_wait wait; /* what a part of it waited for; IO_WAIT_NONE: the rest, or all of it */
	struct hist hist;
};

/* One device and operation. */
struct steps_group {
	int32_t device; /* the caller's number for it */
	uint8_t kind, op;
	enum stage from, to; /* the widest seen */
	struct hist total;
	size_t nr_steps;
	struct step steps[STEPS_PER_GROUP];
	/* By bucket of the total: the sum of each step in those commands. */
	uint64_t (*tails)[STEPS_PER_GROUP];
};

struct steps {
	struct steps_group **groups;
	size_t nr;
};

/* -ENOMEM. Ignores records of other layers. */
int steps__add(struct steps *steps, int32_t device, const struct io_record *record,
	       enum steps_at at);
/* That of a device and operation, made if it is new; NULL: out of memory. */
struct steps_group *steps__group(struct steps *steps, int32_t device, uint8_t kind, uint8_t op);
int steps__merge(struct steps *into, const struct steps *from);
void steps__clear(struct steps *steps); /* empties, keeps the memory */
void steps__free(struct steps *steps);
void steps__sort(struct steps *steps); /* groups by device and operation, steps by their stages */

/* The step's share in the time of all commands of its group, in percent; */
double steps_group__share(const struct steps_group *group, size_t step);
/* and in the time of those beyond a percentile of the total (9900: the slowest 1 %). */
double steps_group__tail_share(const struct steps_group *group, size_t step, uint32_t per_10000);

#endif
