/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * calls.h: which call was inside which, and how long did it take? Entries and returns of functions,
 * in order of time, become calls, nested by task; what an interrupt calls is nested in what it
 * interrupted. A task that runs on no thread of its own, the idle one, is its CPU's.
 */
#ifndef IOSONAR_ANALYSE_CALLS_H
#define IOSONAR_ANALYSE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call {
	uint64_t start_ns, end_ns; /* end: 0 if its return was not seen */
	uint64_t number;	   /* from 0, as they are entered */
	uint32_t function;	   /* the caller's number for it */
	uint32_t cpu, end_cpu;
	uint32_t pid, tid;
	uint32_t depth; /* calls that it is in */
	char comm[17];
	struct call *parent;	   /* NULL: it is in none */
	struct call *first, *next; /* the first one inside it; the one after it */
	void *entered, *left;	   /* what the records held; NULL: there was none */
	struct life *life;	   /* lives.h: whose it is, until it is left */
	/* the maker's */
	struct call *last;
	struct call *outer; /* of the same function and task, open around this one; NULL: none */
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
	bool is_user; /* likewise: of a program; CALLS_MOST_KEPT holds for it */
	const void *values;
	size_t bytes;
};

struct calls;

struct calls_wants {
	/* The call that an event entered or left; NULL: a return whose entry was before the first
	 * event, or was lost. 0, or a negative errno. */
	int (*on_call)(void *arg, struct call *call, const struct call_event *event);
	/* A call that was in no other is over, with all that were inside. They are gone afterwards,
	 * but for those that somebody holds. */
	int (*on_tree)(void *arg, const struct call *root);
	void *arg;
};

struct calls *calls__new(const struct calls_wants *wants); /* NULL: out of memory */
void calls__free(struct calls *calls);
/* Both return what those return but 0; -ENOMEM. */
int calls__take(struct calls *calls, const struct call_event *event);
int calls__finish(struct calls *calls); /* trees that are still open are handed on */
void call__hold(struct call *call);
void call__let_go(struct call *call);

/* What is shown of a tree. */
struct call_limits {
	uint64_t max_depth; /* calls inside fewer others; 0: all */
	uint64_t min_ns;    /* shorter ones are left out, with what is inside */
};
bool call__is_within(const struct call *call, const struct call_limits *limits);
/* A walk through a tree without recursion, for a file says how deep it is: what is inside, then
 * what is beside, then what is beside those around it. NULL: that was all. */
const struct call *call__next(const struct call *call, const struct call *root);
const struct call *call__next_beside(const struct call *call, const struct call *root);

/* Calls inside CALLS_MOST_KEPT others: their returns are not seen. */
uint64_t calls__unkept(const struct calls *calls);

#endif
