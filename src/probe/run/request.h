/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * request.h: turns the words and options of an any-event command into a plan: splits the line,
 * finds the events on this machine, resolves names. Loads nothing.
 */
#ifndef IOSONAR_PROBE_RUN_REQUEST_H
#define IOSONAR_PROBE_RUN_REQUEST_H

#include "base/options.h"
#include "probe/find/find.h"
#include "probe/lang/plan.h"
#include "probe/run/run.h"

/* The operands of an any-event command. */
#define REQUEST_WORDS "EVENT... [CLAUSE...]"
#define REQUEST_WORDS_HELP                                                                    \
	"block:*, raw:NAME, fn:NAME, user:PATH:NAME, profile:HZ, ...; then by, of, show, on " \
	"or if: man 7 iosonar-line"

struct request {
	/* given by the command */
	struct line line;
	struct run_wants wants; /* its plan is filled in here */
	/* made of it */
	struct finder *finder;
	struct probe_list probes, ends; /* ends: of a pair */
	struct probe_list later;	/* events at which texts are read again */
	struct find_misses misses;
	struct plan plan;
};

/* words: the command's operands. 0, or a negative errno (said). */
int request__understand(struct request *request, enum line_action action,
			const struct option_list *words, const struct options *options);
/* Puts the tasks that options select into the line, for callers that make the plan themselves. */
int request__tasks(struct request *request, const struct filter_options *filter);
/* Names the probes of a spec that cannot be attached. */
void request__tell_misses(const struct request *request);
void request__free(struct request *request);

#endif
