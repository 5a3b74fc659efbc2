/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * line.h: the words of `iosonar hist EVENT of VALUE by KEY, KEY if CONDITION`, taken apart. Pure:
 * it knows the grammar and no event.
 *
 *	count  EVENT...           [by KEYS] [if CONDITION]
 *	sum    EVENT... of VALUE  [by KEYS] [if CONDITION]
 *	hist   EVENT... of VALUE  [by KEYS] [if CONDITION]
 *	print  EVENT... [show VALUES] [if CONDITION]
 *	stacks EVENT... [by KEYS] [if CONDITION]
 *	pair   START END on KEYS  [by KEYS] [if CONDITION]     KEYS may be "a = b": a at START, b at
 *END
 *
 * Clauses come in any order, each once; what stands in one may be one word or several.
 */
#ifndef IOSONAR_PROBE_LANG_LINE_H
#define IOSONAR_PROBE_LANG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum line_action { LINE_COUNT, LINE_SUM, LINE_HIST, LINE_PRINT, LINE_STACKS, LINE_PAIR };
enum line_buckets { BUCKETS_FINE, BUCKETS_LOG2, BUCKETS_LINEAR };

enum { LINE_MAX_EVENTS = 16 };

struct line {
	enum line_action action;
	const char *events[LINE_MAX_EVENTS];
	size_t nr_events;
	/* Texts of the clauses; NULL: not given. Owned: words are joined by a space. */
	char *of, *by, *show, *on, *condition;
	/* From options. */
	bool each;
	enum line_buckets buckets;
	int64_t linear_from, linear_to, linear_step;
	bool kernel_stack, user_stack; /* STACKS, --stack */
	bool is_call; /* some value is the latency: from a function's entry to its return */
	uint32_t pid;
	bool children; /* and its children */
	uint64_t cgroup;
};

/* words: nr words, owned by the caller. -EINVAL: said in one line. */
int line__read(struct line *line, enum line_action action, const char *const *words, size_t nr);
void line__free(struct line *line);
bool line__opens(const char *word); /* a clause: "by" */

#endif
