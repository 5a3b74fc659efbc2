/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session.h: one run of a view: where its data comes from and goes to, when it ticks, when it ends.
 * A view gives a few functions; signals, -i, -t, -n, the COMMAND, uevents, rings, --out and a
 * closed pipe are seen to here, once for all views.
 */
#ifndef IOSONAR_SESSION_H
#define IOSONAR_SESSION_H

#include <stdbool.h>
#include <stdio.h>
#include "analyse/order.h"
#include "capture/about.h"
#include "collect/io.h"
#include "collect/ledger.h"
#include "options.h"
#include "render/column.h"

struct session {
	FILE *out;
	enum table_format format;
	const struct options *options;
	struct io *io;
	uint64_t start_ns;	      /* CLOCK_MONOTONIC */
	double elapsed_s, interval_s; /* at this tick: since the start, since the last one */
	bool came_true;		      /* a --fail-if did */
	struct ledger ledger;	      /* a view that counts rows fills it in on_end */
	/* private */
	bool output_failed, stopped;
	char *buffer; /* of out */
	struct loop *loop;
	const struct session_view *view;
	void *state;
	struct order order;
	struct capture_about about;	/* its clocks */
	uint64_t last_ns, ticks, ended; /* ended: commands that had a record */
	int record_err;
};

struct session_view {
	struct io_wants (*wants)(void *state, const struct options *options);
	int (*on_start)(void *state, struct session *session); /* attached, nothing counted yet */
	int (*on_tick)(void *state, struct session *session);  /* every interval; may be NULL */
	/* Every record, in order of time; NULL: none are wanted. */
	int (*on_record)(void *state, struct session *session, const struct io_record *record);
	int (*on_end)(void *state, struct session *session); /* detached: everything is final */
};

/* Printed after on_end when the format is JSON: every view's list of objects ends with it. */
extern const struct object session_ledger;

/* The whole run. A negative errno (said), or an exit code. */
int session__run(const struct session_view *view, void *state, const struct options *options,
		 char **argv);
void session__stop(struct session *session); /* -n was reached: no more records, then the end */
/* "nothing yet" for a person who waits; erased by the next one. Only on a terminal. */
void session__status(const struct session *session, const char *text);

/* What a record speaks of; NULL: not known. */
const struct device *session__device(struct session *session, const struct io_record *record);
char *const *session__op_names(const struct session *session); /* of block operations */
uint64_t session__wall_ns(const struct session *session, uint64_t mono_ns); /* 0: not known */

#endif
