/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * events.h: what is sent to pages that watch: server-sent events, the last minutes of them, in
 * bounded memory. Each reader has a place of its own; one that falls behind what is kept loses its
 * connection, and delays nobody. Pure.
 */
#ifndef IOSONAR_SERVE_EVENTS_H
#define IOSONAR_SERVE_EVENTS_H

#include <stdint.h>
#include <stddef.h>
#include <sys/types.h>

enum {
	EVENTS_MOST = 300,	     /* kept: five minutes */
	EVENTS_MOST_BYTES = 8 << 20, /* and not more than this */
};

struct events {
	struct event_text {
		char *text;
		size_t len;
	} kept[EVENTS_MOST]; /* by number, modulo */
	uint64_t first, end; /* numbers of those kept: first <= number < end */
	size_t bytes;
};

struct events_reader {
	uint64_t number; /* of the event being sent */
	size_t at;	 /* bytes of it that were */
};

void events__free(struct events *events);
/*
 * One event of these lines, named "RUN-NUMBER". 0 or -ENOMEM: then it is left out, and the others
 * stay.
 */
int events__add(struct events *events, const char *run, const char *lines);
/* Where to begin: after the event with this name, if it is one of this run, or at the oldest. */
struct events_reader events__begin(const struct events *events, const char *run, const char *last);
/* The next bytes. 0: there are none yet. -1: what it was reading is gone. */
ssize_t events__read(const struct events *events, struct events_reader *reader, char *buf,
		     size_t size);

#endif
