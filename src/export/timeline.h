/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * timeline.h: when was which command where? Shared by all time-line formats: a device's queues have
 * lanes, so that overlapping commands lie side by side; the steps of a command lie inside it;
 * commands in flight and latency are counters. A format provides a pen that draws these.
 */
#ifndef IOSONAR_EXPORT_TIMELINE_H
#define IOSONAR_EXPORT_TIMELINE_H

#include "analyse/steps.h"
#include "export/exporter.h"

enum timeline_counter { TIMELINE_DEPTH, TIMELINE_LATENCY };
enum { TIMELINE_NOTES = 12 };

/* A note on a command; text NULL: use the number. */
struct timeline_note {
	const char *key, *text;
	uint64_t number;
};

struct timeline_io {
	uint32_t device;	   /* index in the list + 1; 0: unknown */
	const char *device_name;   /* with its machine, if that is known */
	uint32_t track, qid, lane; /* tracks are numbered from 1 */
	bool is_new_track;
	const char *op;
	struct moment moments[NR_STAGES];
	size_t nr_moments; /* at least one */
	struct timeline_note notes[TIMELINE_NOTES];
	size_t nr_notes;
	uint16_t cpu;
};

struct timeline_pen {
	int (*begin)(void **pen, struct session *session);
	/* Called first for each device; NULL: its commands name it. */
	int (*device)(void *pen, uint32_t device, const char *name);
	int (*command)(void *pen, const struct timeline_io *io);
	int (*counter)(void *pen, uint32_t device, enum timeline_counter counter, uint64_t ns,
		       uint64_t value);
	int (*end)(void *pen);	 /* NULL: nothing to do */
	void (*free)(void *pen); /* likewise */
};

struct timeline;

int timeline__new(const struct timeline_pen *pen, struct session *session, void **timeline);
int timeline__put(void *timeline, struct session *session, const struct io_record *record);
int timeline__finish(void *timeline, struct session *session);
void timeline__free(void *timeline);

/* "D2K device" into buf: the step that ends with this moment of the command. */
enum { TIMELINE_STEP = 48 };
const char *timeline__step(const struct timeline_io *io, size_t moment, char buf[TIMELINE_STEP]);

#endif
