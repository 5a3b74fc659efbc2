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
	REPORT_HEATS = 64,	/* maximum of groups with a grid: the first ones, */
	REPORT_HEATS_SHOWN = 8, /* and of grids shown: the largest */
};

struct report_key {
	int32_t device; /* index in the list of devices; for a path, its head; -1: unknown */
	uint8_t kind, op;
};

/* A device and operation. */
struct report_group {
	struct report_key key;
	bool other; /* all that fit in no other group */
	struct hist hist;
	struct heat *heat; /* or NULL */
};

struct report_latency {
	struct report_group **groups;
	size_t nr;
	struct index index; /* of groups */
	struct heat *all;
	int32_t *heads; /* by the index of a device: of itself, or of the head of a path */
	uint64_t failed;
};

extern const struct object report_percentiles, report_moments, report_heat;

/* -ENOMEM. devices: those of all records. */
int report_latency__init(struct report_latency *latency, const struct device_list *devices,
			 uint64_t start_ns);
/* Adds an ended command of the device at this index in the list. -ENOMEM. */
int report_latency__add(struct report_latency *latency, const struct io_record *record,
			int32_t device);
/* Writes all rows to a stream, as JSON. -ENOMEM. */
int report_latency__put(struct report_latency *latency, const struct session *session, FILE *out);
void report_latency__free(struct report_latency *latency);

#endif
