/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * class_trace.h: a run of `class`: attaches its functions, tells objects apart, shows each life or
 * each call.
 */
#ifndef IOSONAR_CALLS_CLASS_TRACE_H
#define IOSONAR_CALLS_CLASS_TRACE_H

#include "calls/capture.h"
#include "calls/lives_view.h"
#include "calls/tree_view.h"

struct class_trace {
	/* options */
	struct option_list fields, devices;
	struct option_number pid, buffer, min_ns, depth, max_rate;
	const char *condition; /* --if */
	const char *source;    /* --source */
	bool all, calls, graph, summary, returns, emit, addresses;
	/* state */
	struct session *session;
	const struct class_wants *wants;
	struct call_trace trace;
	struct class class;
	struct lives_view lives;
	struct tree_view tree;
	struct call_trace_writer writer; /* -w */
	struct call_trace_reader reader; /* -r */
};

/* 0, a negative errno (said), or an exit code. */
int class_trace__run(struct class_trace *trace, const struct class_wants *wants,
		     const struct options *options, char **argv);

#endif
