/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * exemplars.h: which command is the slowest one of a bucket? Its number in the flight recorder, for
 * OpenMetrics: a scraper shows it beside the count, and /api/commands?number=N has the command.
 * Costs two lookups per record. One that was forgotten is replaced by the next one of its bucket.
 * Records have no cgroup, so there are none with labels of tasks.
 */
#ifndef IOSONAR_SERVE_EXEMPLARS_H
#define IOSONAR_SERVE_EXEMPLARS_H

#include "base/index.h"
#include "serve/series.h"
#include "wire/io_record.h"

struct exemplars {
	/* set by the caller */
	struct series_set *set;
	/* The tags that the series set knows such commands by. False: there are none. */
	bool (*tags)(void *arg, const struct io_record *record, struct io_tags *tags);
	void *arg;
	/* inside */
	uint64_t nr; /* records so far: the number of the last one */
	struct exemplar_place *places;
	struct index by_key;
};

/* Every record that the recorder takes, in its order. kept_from: number of the first one kept. */
void exemplars__add(struct exemplars *exemplars, const struct io_record *record,
		    uint64_t kept_from);
/* After series got new numbers. */
void exemplars__forget(struct exemplars *exemplars);
void exemplars__free(struct exemplars *exemplars);

#endif
