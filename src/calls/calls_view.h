/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls_view.h: nested calls, a row each: indented in text, with depth, arguments, ret, object and
 * members as columns of their own in JSON and CSV.
 */
#ifndef IOSONAR_CALLS_CALLS_VIEW_H
#define IOSONAR_CALLS_CALLS_VIEW_H

#include "calls/members.h"
#include "calls/trace.h"
#include "session/session.h"

enum call_slot {
	CALL_TIME,
	CALL_CPU,
	CALL_COMM,
	CALL_PID,
	CALL_TID,
	CALL_DEPTH,
	CALL_DURATION,
	CALL_FUNCTION,
	CALL_ARGUMENTS,
	CALL_RET,
	CALL_OBJECT,
	CALL_DATA,
	CALL_TEXT,
	NR_CALL_SLOTS,
};

extern const struct object calls_view_object; /* "call" */

struct calls_view {
	/* given */
	const struct call_trace *trace;
	struct session *session;
	struct call_limits limits;
	/* Called instead of printing a row, with slots as for JSON. NULL: print rows. */
	int (*on_row)(void *arg, const struct call *call, const union value_slot *slots);
	void *arg;
	/* made */
	struct trace_words words;
	struct table *table;
	union value_slot slots[NR_CALL_SLOTS];
	char *texts[NR_CALL_SLOTS]; /* of the current row */
	struct call_memory *memory; /* members last shown for each object */
	uint64_t shown_calls;
};

int calls_view__start(struct calls_view *view, struct session *session,
		      const struct call_trace *trace);
int calls_view__tree(struct calls_view *view, const struct call *root);
void calls_view__free(struct calls_view *view);

#endif
