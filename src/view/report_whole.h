/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_whole.h: part of a report: which capture is it, how much happened, and on which devices?
 * One row for the whole run, and one for each device that had commands. `serve` has the latter,
 * too.
 */
#ifndef IOSONAR_VIEW_REPORT_WHOLE_H
#define IOSONAR_VIEW_REPORT_WHOLE_H

#include "view/report_latency.h"
#include "view/report_top.h"

/* What was counted. */
struct report_whole {
	const struct report_latency *latency;
	const struct report_top *tops;
	bool *seen; /* devices, by index in the list */
	size_t nr_seen;
	uint64_t staged; /* commands whose record has stages */
};

extern const struct object report_whole_object, report_device_object;

/* As JSON. 0 or -ENOMEM. */
int report_whole__put(const struct report_whole *whole, const struct session *session, FILE *out);
int report_whole__put_devices(const struct report_whole *whole, const struct session *session,
			      FILE *out);

#endif
