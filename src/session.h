/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * session.h: one run of a view: where its data comes from and goes to, when it ticks, when it ends.
 * A view gives a few functions; signals, -i, -t, -n, the COMMAND, uevents, rings, -w, -r, --out and
 * a closed pipe are seen to here, once for all views. Of this machine (session_live.c) or of
 * captures (session_replay.c): a view need not know which.
 */
#ifndef IOSONAR_SESSION_H
#define IOSONAR_SESSION_H

#include <stdbool.h>
#include <stdio.h>
#include "collect/io.h"
#include "collect/ledger.h"
#include "options.h"
#include "render/column.h"

struct session_inside;

struct session {
	FILE *out;
	enum table_format format;
	const struct options *options;
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	/* At this tick: since the start of the run, of what is shown (--from), of the interval. */
	double elapsed_s, span_s, interval_s;
	bool came_true;	      /* a --fail-if did */
	bool ledger_known;    /* at the end; a capture that was cut has none */
	struct ledger ledger; /* likewise */
	struct session_inside *inside;
};

struct session_view {
	struct io_wants (*wants)(void *state, const struct options *options);
	int (*on_start)(void *state, struct session *session); /* attached, nothing counted yet */
	int (*on_tick)(void *state, struct session *session);  /* every interval; may be NULL */
	/* Every record, in order of time; NULL: none are wanted. */
	int (*on_record)(void *state, struct session *session, const struct io_record *record);
	/* SIGUSR1; NULL: it does what it does elsewhere. */
	int (*on_signal)(void *state, struct session *session);
	int (*on_end)(void *state, struct session *session); /* detached: everything is final */
	void (*on_flush)(void *state); /* the output is about to be flushed; may be NULL */
	bool counts_records; /* -n is about them, and the view stops itself; else about intervals */
	bool only_keeps;     /* without its capture the run is pointless */
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
/* The stack that a record names; NULL: none. Of this machine: a capture has names instead. */
const struct io_stack *session__stack(const struct session *session, uint32_t number);
/* How many could not be taken: another had their place; for other reasons. */
void session__stack_losses(const struct session *session, uint64_t *taken, uint64_t *failed);
const struct device_list *session__devices(const struct session *session);
char *const *session__op_names(const struct session *session); /* of block operations */
uint64_t session__wall_ns(const struct session *session, uint64_t mono_ns); /* 0: not known */
/* As cgroup__path, but of the machine that the data is from. */
char *session__cgroup_path(const struct session *session, uint64_t id, char *buf, size_t size);
bool session__sees_nvme(const struct session *session);
bool session__sees_block(const struct session *session);

/* As io__read: all rows as they are now. */
void session__read(struct session *session, io_row_fn fn, void *arg);
/* At the end, after the last read: fills the ledger. counted: commands in the view's rows. */
#define SESSION_NOT_COUNTED UINT64_MAX
void session__take_ledger(struct session *session, uint64_t counted);

/* What -w keeps so far; NULL: nothing is kept. */
struct recorder *session__recorder(const struct session *session);

#endif
