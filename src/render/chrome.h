/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chrome.h: what ran when? Events with start and duration as Trace Event JSON, for chrome://tracing
 * and Perfetto: a line for each task, with nested events. One JSON object in all, not one per line;
 * it is complete after chrome__end.
 */
#ifndef IOSONAR_RENDER_CHROME_H
#define IOSONAR_RENDER_CHROME_H

#include <stdint.h>
#include <stdio.h>

#define CHROME_NO_DURATION UINT64_MAX /* duration unknown: draws a mark */

enum { CHROME_MAX_ARGS = 8 };

struct chrome_event {
	const char *name, *category;
	uint64_t start_ns, duration_ns;
	uint32_t pid, tid, cpu;
	const char *comm;    /* names the task */
	const char *process; /* name of the process; NULL: that of its task */
	struct {
		const char *key, *text; /* text NULL: left out */
	} args[CHROME_MAX_ARGS];
	size_t nr_args;
};

struct chrome;

/* NULL: out of memory. */
struct chrome *chrome__begin(FILE *out);
struct chrome_counter {
	const char *name, *unit;
	uint64_t time_ns, value;
	uint32_t pid;
};
void chrome__counter(struct chrome *chrome, const struct chrome_counter *counter);
/* Outer events come before inner events. Text is hostile, except keys. -ENOMEM. */
int chrome__put(struct chrome *chrome, const struct chrome_event *event);
void chrome__end(struct chrome *chrome);
void chrome__free(struct chrome *chrome);

#endif
