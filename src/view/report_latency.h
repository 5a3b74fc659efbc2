/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_latency.h: of a report: how long did commands take, by device and operation, and when?
 * Rows as `latency` has them, percentiles for curves, and grids of time by latency for heat maps.
 * Bounded: operations of devices beyond REPORT_GROUPS share a row, and the most frequent ones alone
 * have a grid of their own.
 */
#ifndef IOSONAR_VIEW_REPORT_LATENCY_H
#define IOSONAR_VIEW_REPORT_LATENCY_H

#include "analyse/heat.h"
#include "analyse/hist.h"
#include "base/index.h"
#include "session/session.h"

enum {
	REPORT_GROUPS = 2048,
	REPORT_HEATS = 64,	/* groups whose grid is kept: the first ones, */
	REPORT_HEATS_SHOWN = 8, /* and shown: the largest ones */
};

/* A device and operation. */
struct report_group {
	int32_t device; /* place in the list of devices; of a path its head; -1: not known */
	uint8_t kind, op;
	bool other; /* of what found no group */
	struct hist hist;
	struct heat *heat; /* or NULL */
};

struct report_latency {
	struct report_group **groups;
	size_t nr;
	struct index index; /* of groups */
	struct heat *all;
	uint64_t failed;
};

extern const struct object report_percentiles, report_moments, report_heat;

int report_latency__init(struct report_latency *latency, uint64_t start_ns); /* -ENOMEM */
/* A command that ended, of the device at this place in the list. -ENOMEM. */
int report_latency__add(struct report_latency *latency, const struct session *session,
			const struct io_record *record, int32_t device);
/* All rows, to a stream, as JSON. -ENOMEM. */
int report_latency__put(struct report_latency *latency, const struct session *session, FILE *out);
void report_latency__free(struct report_latency *latency);

#endif
