/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session.h: one run of a live view: where its data goes, when it ticks, when it ends. A view gives
 * three functions; signals, -i, -t, -n, the COMMAND, uevents, --out and a closed pipe are seen to
 * here, once for all views.
 */
#ifndef IOSONAR_SESSION_H
#define IOSONAR_SESSION_H

#include <stdbool.h>
#include <stdio.h>
#include "collect/io.h"
#include "collect/ledger.h"
#include "options.h"
#include "render/column.h"

struct session {
	FILE *out;
	enum table_format format;
	const struct options *options;
	struct io *io;
	double elapsed_s, interval_s; /* at this tick: since the start, since the last one */
	bool came_true;		      /* a --fail-if did */
	struct ledger ledger;	      /* on_end fills it: io__read, then io__ledger */
	/* private */
	bool output_failed;
	char *buffer; /* of out */
	struct loop *loop;
	const struct session_view *view;
	void *state;
	uint64_t start_ns, last_ns, ticks;
};

struct session_view {
	struct io_wants (*wants)(void *state, const struct options *options);
	int (*on_start)(void *state, struct session *session); /* attached, nothing counted yet */
	int (*on_tick)(void *state, struct session *session);  /* every interval */
	int (*on_end)(void *state, struct session *session);   /* detached: everything is final */
};

/* Printed after on_end when the format is JSON: every view's list of objects ends with it. */
extern const struct object session_ledger;

/* The whole run. A negative errno (said), or an exit code. */
int session__run(const struct session_view *view, void *state, const struct options *options,
		 char **argv);
/* "nothing yet" for a person who waits; erased by the next one. Only on a terminal. */
void session__status(const struct session *session, const char *text);

#endif
