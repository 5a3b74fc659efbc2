/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crew.h: work for several CPUs: forked copies of this process, each with a pipe to it. Processes
 * and not threads: a copy sees everything as it was at the fork, and cannot disturb the run. A copy
 * prints nothing, takes no signals, and ends with its parent. The caller decides who does what.
 */
#ifndef IOSONAR_BASE_CREW_H
#define IOSONAR_BASE_CREW_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	CREW_MOST = 8,
	CREW_LENT = 8 << 20, /* bytes that may be lent at once, in each of CREW_PLACES */
	CREW_PLACES = 4,
};

struct crew {
	unsigned int nr;
	struct crew_copy {
		pid_t pid;
		int from, to;	 /* pipes: what it sends, and which places are free again */
		uint8_t *places; /* memory that both see */
		size_t nr_lent;	 /* and returned; the next is in place nr_lent % CREW_PLACES */
	} copies[CREW_MOST];
};

/* The other side: in a copy. */
struct crew_end {
	int to, from;
	uint8_t *places;
	size_t nr_lent, nr_free;
};

/* What copy `number` does; its result is its exit status. */
typedef int (*crew_fn)(void *arg, unsigned int number, struct crew_end *end);

/* As many as this process has CPUs, at most CREW_MOST. */
unsigned int crew__default(void);
/* Some or none may start: crew->nr says how many did. */
void crew__start(struct crew *crew, unsigned int nr, crew_fn fn, void *arg);
/* Ends all, whatever they do. */
void crew__end(struct crew *crew);

/* 0, or -errno: the run has ended. */
int crew__send(struct crew_end *end, const void *bytes, size_t nr);
/* Exactly nr bytes. -EIO: it ended before, or else; said. */
int crew__receive(struct crew *crew, unsigned int number, void *to, size_t nr);

/* For much, which a pipe would copy twice more: at most CREW_LENT bytes. Waits for a free place. */
int crew__lend(struct crew_end *end, const void *bytes, size_t nr);
/* What was lent next; returns it when it is no longer used, before the one after it is taken. */
const uint8_t *crew__borrow(struct crew *crew, unsigned int number);
void crew__return(struct crew *crew, unsigned int number);

#endif
