/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lives_view.h: each object's life, step by step, and the summary of all lives: their paths, the
 * time from one function to the next, functions that were never left.
 */
#ifndef IOSONAR_CALLS_LIVES_VIEW_H
#define IOSONAR_CALLS_LIVES_VIEW_H

#include "calls/members.h"
#include "calls/trace.h"
#include "session/condition.h"
#include "session/session.h"

extern const struct object lives_view_life, lives_view_step, lives_view_transition, lives_view_path;

struct lives_view {
	/* given */
	const struct call_trace *trace;
	struct session *session;
	const char *name;		   /* struct of the objects: "bio" */
	const struct option_list *devices; /* -d: their member disk_name */
	uint32_t pid;			   /* -p: born in this process; 0: all */
	const char *condition_text;	   /* --if: true at some step */
	uint64_t most;			   /* -n; 0: all */
	bool is_silent;			   /* the summary only */
	bool has_summary;		   /* print its tables; losses are always said */
	bool is_dot;			   /* a graph of the transitions, for Graphviz */
	/* made */
	struct values *values;
	struct members *members;
	struct column columns[CLASS_MAX_FIELDS + 1]; /* of --if */
	const struct column *fields[CLASS_MAX_FIELDS + 1];
	struct condition *condition;
	struct table *steps, *lives;
	struct column *columns_of[4]; /* of the tables */
	struct lives_summary *summary;
	/* counted */
	uint64_t objects, whole, refused, dropped, dropped_steps;
};

/* Call before attaching, which takes time: an invalid --if is -EINVAL (said). */
int lives_view__prepare(struct lives_view *view, const struct call_trace *trace);
int lives_view__start(struct lives_view *view, struct session *session);
int lives_view__life(struct lives_view *view, const struct life *life);
const char *lives_view__disk(const char *device); /* disk name: "nvme0n1" for "/dev/nvme0n1" */
/* With --calls: does this tree handle an object that the filters select? */
bool lives_view__wants_tree(const struct lives_view *view, const struct call *root);
int lives_view__end(struct lives_view *view); /* the summary */
void lives_view__free(struct lives_view *view);

/* ---- lives_dot.c: functions, and how objects move between them ---- */

void lives_dot__write(const struct lives_view *view);

/* ---- lives_summary.c: what all lives have in common ---- */

struct lives_summary *lives_summary__new(size_t nr_functions); /* NULL: out of memory */
void lives_summary__free(struct lives_summary *summary);
int lives_summary__add(struct lives_summary *summary, const struct life *life); /* -ENOMEM */

struct lives_transition {
	uint32_t from, to; /* functions */
	uint64_t count, p50_ns, p99_ns, max_ns, total_ns;
};
/* Sorted by the time spent; returns how many. Valid until the next call. */
size_t lives_summary__transitions(struct lives_summary *summary,
				  const struct lives_transition **transitions);

struct lives_path {
	const uint32_t *functions;
	size_t nr;
	uint64_t count;
};
size_t lives_summary__paths(struct lives_summary *summary, const struct lives_path **paths);
/* Calls that were entered and not left, although their returns are traced. */
uint64_t lives_summary__open(const struct lives_summary *summary, uint32_t function);

#endif
