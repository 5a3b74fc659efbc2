/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.h: which call was inside which, and how long did it take? Turns entries and returns of
 * functions, in order of time, into calls, nested by task; calls of an interrupt are nested in the
 * call it interrupted. The idle task, which has no thread of its own, is nested by CPU.
 */
#ifndef IOSONAR_ANALYSE_CALLS_H
#define IOSONAR_ANALYSE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call {
	uint64_t start_ns, end_ns; /* end: 0 if its return was not seen */
	uint64_t number;	   /* from 0, in order of entry */
	uint32_t function;	   /* the caller's number for it */
	uint32_t cpu, end_cpu;
	uint32_t pid, tid;
	uint32_t depth; /* number of calls around it */
	char comm[17];
	struct call *parent;	   /* NULL: outermost */
	struct call *first, *next; /* first call inside it; next sibling */
	void *entered, *left;	   /* values of the two records; NULL: no record */
	struct life *life;	   /* lives.h: its object's, until its return */
	/* the maker's */
	struct call *last;
	struct call *outer; /* the open call around it of the same function and task; NULL: none */
	uint32_t holders;
	uint32_t kept; /* open calls of user functions, with this one, whose returns will be seen */
};

/* The kernel reports the returns of this many nested user functions of a task, the outermost ones
 * (MAX_URETPROBE_DEPTH); it omits the others and does not count them. */
enum { CALLS_MOST_KEPT = 64 };

struct call_event {
	uint64_t ns;
	uint32_t function, cpu, pid, tid;
	const char *comm; /* 16 bytes, not always terminated */
	bool is_return;
	bool returns; /* of an entry: its return will be seen */
	bool is_user; /* entry: user function; CALLS_MOST_KEPT applies */
	const void *values;
	size_t bytes;
};

struct calls;

struct calls_wants {
	/* The call that an event entered or left; NULL: a return whose entry was before the first
	 * event, or was lost. 0, or a negative errno. */
	int (*on_call)(void *arg, struct call *call, const struct call_event *event);
	/* An outermost call is over, with all calls inside it. They are freed afterwards, except
	 * those that a caller holds. */
	int (*on_tree)(void *arg, const struct call *root);
	void *arg;
};

struct calls *calls__new(const struct calls_wants *wants); /* NULL: out of memory */
void calls__free(struct calls *calls);
/* Both pass on what a callback returns if not 0; -ENOMEM. */
int calls__take(struct calls *calls, const struct call_event *event);
int calls__finish(struct calls *calls); /* passes on the trees still open */
void call__hold(struct call *call);
void call__let_go(struct call *call);

/* Which calls of a tree are shown. */
struct call_limits {
	uint64_t max_depth; /* calls with fewer around them; 0: all */
	uint64_t min_ns;    /* shorter calls are left out, with those inside */
};
bool call__is_within(const struct call *call, const struct call_limits *limits);
/* A walk through a tree without recursion, as the depth comes from a file: children, then
 * siblings, then siblings of the calls around. NULL: the end. */
const struct call *call__next(const struct call *call, const struct call *root);
const struct call *call__next_beside(const struct call *call, const struct call *root);

/* Calls of user functions inside CALLS_MOST_KEPT others: their returns are not seen. */
uint64_t calls__unkept(const struct calls *calls);

#endif
