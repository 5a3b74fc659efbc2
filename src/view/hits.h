/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hits.h: shared by print and pair --each: a line for each record of any event, ordered by time:
 * when, on which CPU, in which task, how long a pair took, and the requested values; stacks below.
 * A command chooses the columns that lead its lines.
 */
#ifndef IOSONAR_VIEW_HITS_H
#define IOSONAR_VIEW_HITS_H

#include "probe/run/request.h"
#include "session/session.h"
#include "view/values.h"

/* Slots of a line's cells; the values follow. */
enum hit_slot {
	HIT_TIME,
	HIT_CPU,
	HIT_COMM,
	HIT_PID,
	HIT_TID,
	HIT_PROBE,
	HIT_LATENCY,
	HIT_VALUES,
	HIT_FIRST,
};
#define HIT_AT(slot) ((slot) * sizeof(union value_slot))

/* Events differ in their fields: each has its columns, and a table unless it has those of the first
 * one. */
struct hit_event {
	struct plan_part *parts;
	size_t nr;
	struct column *columns;
	const struct column **picked;
	struct table *table; /* NULL: uses the first one */
};

struct hit_view {
	const struct object *object; /* its lines; set by the command */
	struct request *request;
	struct values *values;
	struct hit_event *events; /* by the probe's number in the plan */
	size_t first;		  /* first event that has lines */
	bool in_words;		  /* "dev=vda sector=8": different fields in one column */
	bool is_shared;		  /* all events share one table */
	struct column probe;	  /* as wide as the longest name */
	union value_slot slots[VALUE_SLOTS];
	char comm[17];
	char *words_text;
	size_t words_size;
};

/* Once the programs are attached. 0 or a negative errno (said). */
int hit_view__start(struct hit_view *view, struct session *session);
void hit_view__line(struct hit_view *view, const struct session *session,
		    const struct probe_record *record, const void *values);
void hit_view__free(struct hit_view *view);

#endif
