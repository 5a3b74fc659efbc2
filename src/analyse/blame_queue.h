/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blame_queue.h: who is served and who waits on one device, moment by moment? Commands that were
 * issued are in flight in this order; the first of them, as many as the device has servers, are
 * served. The others, and those that were submitted but not yet issued, wait for these. Time is
 * divided when a command comes or goes: it costs a step for each party that has some in flight
 * then. Used by analyse/blame alone.
 */
#ifndef IOSONAR_ANALYSE_BLAME_QUEUE_H
#define IOSONAR_ANALYSE_BLAME_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BLAME_PARTIES = 768,  /* of all devices */
	BLAME_DEEPEST = 4096, /* commands in flight on a device that are followed */
	BLAME_DEPTHS = 8,
};

/*
 * What a party waited for others, and was served beside them, by the other party. What two parties
 * do to each other is added up when a number of commands of either changes: into the row of that
 * one, so that what is written together is together. Read them by blame_sum__waited and _beside.
 */
struct blame_cells {
	double waited_ns[BLAME_PARTIES];  /* when the number changed of its commands that wait */
	double delayed_ns[BLAME_PARTIES]; /* the others, when that of its commands that are served
					   */
	double beside_ns[BLAME_PARTIES];
	double kept_ns[BLAME_PARTIES]; /* of its wait, without the parties to be left out */
	/* At the end: of its wait, of its service. */
	uint64_t wait_ns[BLAME_PARTIES], stretch_ns[BLAME_PARTIES];
};

/* Services that began beside a number of others: 0, 1, 2, 3, 4 to 7, 8 to 15, 16 to 31, more. */
struct blame_services {
	double nr, sum, squares;
};

/* What one party went through. The sums of commands that ended are complete. */
struct blame_sum {
	uint64_t wait_ns, service_ns;
	uint64_t idle_ns;	    /* not issued while nothing was served */
	uint64_t unseen_ns;	    /* not followed: it came too late, or too many were in flight */
	uint64_t unseen;	    /* such commands */
	uint64_t first_ns, last_ns; /* its first submission, its last end */
	uint32_t peak;		    /* most of its commands in flight */
	struct blame_services services[BLAME_DEPTHS];
	struct blame_services kept; /* those that began beside no party to be left out */
	struct blame_cells *cells;
	bool left_out;
};

static inline double blame_sum__waited(const struct blame_sum *sums, size_t victim, size_t culprit)
{
	return sums[victim].cells->waited_ns[culprit] + sums[culprit].cells->delayed_ns[victim];
}

static inline double blame_sum__beside(const struct blame_sum *sums, size_t one, size_t other)
{
	const double ns = sums[one].cells->beside_ns[other];

	return one == other ? ns : ns + sums[other].cells->beside_ns[one];
}

struct blame_crowd { /* parties, with the number of their commands */
	uint16_t parties[BLAME_PARTIES], at[BLAME_PARTIES];
	uint32_t counts[BLAME_PARTIES];
	uint32_t nr;  /* parties */
	uint32_t all; /* commands */
};

/*
 * Clocks run while commands are served: the time, divided by the number of these, or of the others
 * that each of them has beside it. A victim with w commands that wait, and a culprit with s that
 * are served, add w * s times the difference of two readings.
 */
struct blame_clock {
	double waited, beside;
};

struct blame_flight {
	uint64_t since_ns, wait_ns, service_ns, idle_ns;
	uint64_t idle_mark; /* of the queue's idle_ns, when this was last added up */
	uint16_t party;
	uint8_t depth; /* at the beginning of its service */
	bool is_served, was_served;
	bool is_kept; /* its service began beside no party to be left out */
};

struct blame_queue {
	struct blame_sum *sums; /* by party; the caller's */
	uint64_t now_ns;
	uint64_t idle_ns; /* commands waited, and none was served */
	uint32_t servers;
	struct blame_flight flights[BLAME_DEEPEST];
	uint16_t order[BLAME_DEEPEST]; /* of issue: indexes of flights */
	uint16_t held[BLAME_DEEPEST];  /* not yet issued, in order of submission */
	uint16_t idle[BLAME_DEEPEST];  /* unused flights */
	uint32_t nr, nr_held, nr_idle;
	struct blame_crowd served, waiting;
	struct blame_clock clock;
	/* By party: the clock when the number of its commands changed that are served, that wait.
	 */
	struct blame_clock served_mark[BLAME_PARTIES];
	double waiting_mark[BLAME_PARTIES];
	uint32_t nr_left_out; /* commands in flight of parties to be left out */
	bool leaves_out;      /* some party is to be left out */
};

enum { BLAME_NO_FLIGHT = UINT16_MAX };

/* All zeros before. */
void blame_queue__init(struct blame_queue *queue, struct blame_sum *sums, bool leaves_out);
/* Time goes on: it is divided among those in flight. */
void blame_queue__advance(struct blame_queue *queue, uint64_t to_ns);
void blame_queue__set_servers(struct blame_queue *queue, uint32_t servers);
/* Now. Returns its flight, or BLAME_NO_FLIGHT: too many. It has to be issued. */
uint16_t blame_queue__submit(struct blame_queue *queue, uint16_t party);
void blame_queue__issue(struct blame_queue *queue, uint16_t flight);
/* Both in one. */
uint16_t blame_queue__submit_issued(struct blame_queue *queue, uint16_t party);
void blame_queue__end(struct blame_queue *queue, uint16_t flight);

#endif
