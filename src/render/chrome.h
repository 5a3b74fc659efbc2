/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chrome.h: what ran when? Events with a beginning and a duration as Trace Event JSON, which
 * chrome://tracing and Perfetto show: a line for each task, one inside the other. One JSON object
 * in all, not one a line; it is whole when chrome__end was called.
 */
#ifndef IOSONAR_RENDER_CHROME_H
#define IOSONAR_RENDER_CHROME_H

#include <stdint.h>
#include <stdio.h>

#define CHROME_NO_DURATION UINT64_MAX /* how long it took is not known: a mark */

enum { CHROME_MAX_ARGS = 8 };

struct chrome_event {
	const char *name, *category;
	uint64_t start_ns, duration_ns;
	uint32_t pid, tid, cpu;
	const char *comm;    /* of the task; it gets its name from there */
	const char *process; /* what the process is called; NULL: as its task */
	struct {
		const char *key, *text; /* text: NULL: it is left out */
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
/* Who is outside comes before who is inside. Text is hostile, but for keys. -ENOMEM. */
int chrome__put(struct chrome *chrome, const struct chrome_event *event);
void chrome__end(struct chrome *chrome);
void chrome__free(struct chrome *chrome);

#endif
