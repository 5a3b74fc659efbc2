/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_top.h: part of a report: which processes and files take most of the time? Sums for as many
 * as fit in analyse/top.h; the rest is one row.
 */
#ifndef IOSONAR_VIEW_REPORT_TOP_H
#define IOSONAR_VIEW_REPORT_TOP_H

#include "analyse/top.h"
#include "session/session.h"

struct report_top {
	struct top processes, files;
	uint64_t sum_ns;   /* of all commands */
	uint64_t fileless; /* commands whose record names no file */
};

extern const struct object report_processes, report_files;

int report_top__init(struct report_top *top); /* -ENOMEM */
/* Machines are told apart if captures are of several. */
void report_top__add(struct report_top *top, const struct session *session,
		     const struct io_record *record);
/* At most `most` of each, to a stream, as JSON. -ENOMEM. */
int report_top__put(struct report_top *top, const struct session *session, size_t most, FILE *out);
void report_top__free(struct report_top *top);

#endif
