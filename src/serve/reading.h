/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * reading.h: what `serve` knows at a moment: label sets for scrapers, rows by device and operation
 * for the page, and the ledger, all of one pass over the collector's tables. The maximum of a row
 * is gone once it is read, so there is one reader for all of them.
 */
#ifndef IOSONAR_SERVE_READING_H
#define IOSONAR_SERVE_READING_H

#include "analyse/breakdown.h"
#include "decode/ledger.h"
#include "serve/exemplars.h"
#include "serve/failures.h"
#include "serve/leaving.h"
#include "serve/metrics.h"
#include "serve/pods.h"
#include "serve/series.h"
#include "session/session.h"

enum { READING_KINDS = 4 /* enum io_kind */, READING_USUAL = 2 };

struct reading {
	struct session *session;
	struct series_set series; /* by, most and edges are set by the caller */
	struct breakdown rows;	  /* by device and operation */
	bool counts_records;	  /* rows have dropped records only; set by the caller */
	struct breakdown records; /* those that were not, since the start */
	struct leaving leaving;	  /* devices that went */
	uint64_t nr_left;	  /* records of those that left */
	struct pods pods;
	struct failures failures;
	bool counts_failures;	    /* there are no records of them; set by the caller */
	bool is_sampled;	    /* not every command is timed; set by the caller */
	struct exemplars exemplars; /* with a recorder */
	struct ledger now;
	struct ledger shown;			 /* counts that never go down */
	int usual[READING_USUAL][READING_KINDS]; /* numbers of these operations; -1: not wanted */
	char device_text[48], op_text[16], cgroup_text[1024], id_text[16];
	struct cgroup_names names;
	int err;
};

int reading__init(struct reading *reading); /* 0 or -ENOMEM */
void reading__free(struct reading *reading);
/* Programs are attached: devices and operations are known. */
void reading__start(struct reading *reading, struct session *session);
/* With a recorder: every record that it takes, in its order. 0 or -ENOMEM, said. */
int reading__add_record(struct reading *reading, const struct io_record *record);
/* All counts of this moment. 0 or -ENOMEM. */
int reading__take(struct reading *reading);
/* A second has ended, and the page has it: forgets devices that went, once a scraper has had them.
 */
void reading__forget(struct reading *reading);
/* The same, as the page /metrics. 0 or -ENOMEM. */
int reading__write_metrics(struct reading *reading, enum openmetrics_format format, FILE *out);

#endif
