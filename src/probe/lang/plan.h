/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.h: the request with every name resolved: for each probe its condition, its keys, and the
 * values that are added up or shown. Made from the line (line.h) and the probes (find.h); program.h
 * makes instructions of it, run.h reads the counts. Pure: nothing is loaded here.
 */
#ifndef IOSONAR_PROBE_LANG_PLAN_H
#define IOSONAR_PROBE_LANG_PLAN_H

#include "expr/expr.h"
#include "probe/find/probe.h"
#include "probe/lang/line.h"
#include "probe/lang/value.h"

/* A part of a key or of a record: its offset there and its shape. */
struct plan_part {
	const char *text; /* as written: heading of its column; not terminated */
	size_t text_len;
	struct value_shape shape;
	uint32_t at; /* bytes from the start of the key, or of the record's values */
};

enum {
	PLAN_MAX_PARTS = 24,
	PLAN_MAX_ON = 4,
	PLAN_MAX_KEY = 504,    /* bytes: the kernel's hash takes 512, of which a bucket needs 8 */
	PLAN_MAX_SAVED = 1024, /* bytes of what a start saves */
	PLAN_MAX_SHOWN = 8192, /* bytes of a record's values */
};

/* A part of a record. Without `show`, events show different parts. */
struct plan_shown {
	struct value *value;
	struct plan_part part;
};

/* One probe of the plan: its trees are parallel to the plan's parts. Starts come before ends. */
struct plan_probe {
	const struct probe *probe;
	bool is_end;		 /* ends what another probe began */
	struct value *condition; /* NULL: always */
	struct value *follows;	 /* trace of calls: the object or task of the call */
	bool is_birth;		 /* the address is a new object from here on */
	/* The begin of a system call with texts: the event of its end, and of a new program if it
	 * may be execve. NULL: texts are only read as it begins. */
	const struct probe *ended, *execed;
	struct value *of; /* SUM, HIST, PAIR: the value to add up */
	struct value *keys[PLAN_MAX_PARTS];
	struct value *on[PLAN_MAX_ON];	     /* the values that start and end share */
	struct value *saved[PLAN_MAX_PARTS]; /* of a start: values that the end needs (entry.x) */
	struct plan_shown *shown;	     /* PRINT, --each */
	size_t nr_shown;
	uint32_t shown_bytes; /* a multiple of 8 */
};

struct plan {
	enum line_action action;
	struct plan_probe *probes;
	size_t nr_probes;
	struct plan_part keys[PLAN_MAX_PARTS];
	/* `at` counts from the end of struct probe_start. */
	struct plan_part saved[PLAN_MAX_PARTS];
	size_t nr_keys, nr_on, nr_saved;
	uint32_t key_bytes, saved_bytes; /* multiples of 8 */
	enum value_unit of_unit;	 /* how the aggregated value is shown */
	struct type of_type;		 /* VALUE_ENUM: which */
	bool of_is_signed;
	/* Starts and ends: PAIR, or the latency of functions, which end with their returns:
	 * those run in the task of the start, so that a filter on tasks holds for both. */
	bool has_ends, is_same_task;
	bool is_latency; /* the value to add up is the time between */
	bool each;	 /* PAIR: a record for each pair */
	enum line_buckets buckets;
	int64_t linear_from, linear_to, linear_step;
	bool kernel_stack, user_stack;		   /* some key or record holds a stack */
	bool start_kernel_stack, start_user_stack; /* these stacks are of a pair's start */
	/* Selected tasks; 0: all. A process includes its threads. */
	uint32_t pid;
	bool children;		/* and its children */
	uint64_t cgroup;	/* and the cgroups below it */
	struct probe_task task; /* where programs find its name and numbers; 0: unknown */
	/* Entries and returns of functions: see plan__make_calls. */
	bool is_calls;
	/* Texts that values point into: parts of `on`, saved values, values shown by calls. */
	char *texts[2 * PLAN_MAX_ON], *saved_texts[PLAN_MAX_PARTS], *syscalls;
	char **call_texts;
	size_t nr_call_texts;
};

/*
 * Types every text of the line for every probe. -EINVAL with one message on stderr that points at
 * the character: an unknown name with the nearest right one, a text that is added, keys that differ
 * in kind between two events. ends: of a PAIR, or the returns of function probes (`of latency`);
 * else none. The plan points into the line and the probes.
 */
int plan__make(struct plan *plan, const struct line *line, const struct probe_list *probes,
	       const struct probe_list *ends);
void plan__free(struct plan *plan);

/* One place of a trace of calls: a function's entry or its return. */
struct plan_call {
	const struct probe *probe;
	/* Expressions: the call's object, "arg0"; what is shown after its arguments or its ret,
	 * "arg0->bi_opf, arg0->bi_status". NULL: its task's; nothing is shown. */
	const char *follows, *shown;
	bool is_birth;	       /* the object it follows is born here */
	uint32_t behind_bytes; /* offset from the object to the struct that `shown` reads */
};
/*
 * A record for every entry and return, with a count of earlier records of the same object or task,
 * so that a reader knows which lack records. Values of arguments are 0 where they are gone: at a
 * return that no fentry sees. tasks: the selected ones, from a line's options. -EINVAL (said).
 */
int plan__make_calls(struct plan *plan, const struct line *tasks, const struct plan_call *calls,
		     size_t nr);

/* Texts of this probe, the begin of a system call, can be read once more as the call ends. */
bool plan__may_read_again(const struct plan *plan, const struct plan_probe *probe);

/* Programs read the name of the task: then it is worth to know where it is. */
bool plan__has_comm(const struct plan *plan);

/* The rows are a histogram's. */
static inline bool plan__has_buckets(const struct plan *plan)
{
	return plan->action == LINE_HIST || (plan->action == LINE_PAIR && !plan->each);
}

/* Hits go into the rings, not into rows. */
static inline bool plan__has_records(const struct plan *plan)
{
	return plan->action == LINE_PRINT || (plan->action == LINE_PAIR && plan->each);
}

uint32_t plan__row_key_bytes(const struct plan *plan);	 /* `rows`, with the bucket; 0: no rows */
uint32_t plan__start_key_bytes(const struct plan *plan); /* of `starts` */
uint32_t plan__start_bytes(const struct plan *plan);
uint32_t plan__record_bytes(const struct plan_probe *probe);

/* One program can serve both probes: it only has to ask the kernel which one was hit. */
bool plan__is_alike(const struct plan_probe *a, const struct plan_probe *b);

#endif
