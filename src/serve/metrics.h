/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metrics.h: the page /metrics: families of metrics from the series and the ledger. Pure: it writes
 * what it is given. Names and units are those of iosonar-metrics(7).
 */
#ifndef IOSONAR_SERVE_METRICS_H
#define IOSONAR_SERVE_METRICS_H

#include <stdio.h>
#include "decode/ledger.h"
#include "serve/failures.h"
#include "serve/series.h"

struct metrics {
	const struct series_set *set;
	const struct ledger *ledger; /* its counts must not go down: metrics__raise */
	enum openmetrics_format format;
	const uint64_t *own_ns;		 /* CPU time of our own programs; NULL: not known */
	const struct failures *failures; /* by status */
	uint64_t kept_from;		 /* number of the first record kept: older exemplars go */
	uint64_t wall_ns;		 /* of the time 0 of exemplars */
	bool is_sampled;		 /* not every command is timed */
};

/* 0, or -ENOMEM: what was written is incomplete. */
int metrics__write(const struct metrics *metrics, FILE *out);
/* The later ledger; a count that is lower than before stays. */
void metrics__raise(struct ledger *shown, const struct ledger *now);

#endif
