/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * openmetrics.h: numbers for Prometheus: families of gauges and histograms in the text format of
 * OpenMetrics, which its older format can read as well. Label values are hostile.
 */
#ifndef IOSONAR_RENDER_OPENMETRICS_H
#define IOSONAR_RENDER_OPENMETRICS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A value that is NULL: no such label. */
struct openmetrics_label {
	const char *key, *value;
};

struct openmetrics_labels {
	const struct openmetrics_label *labels;
	size_t nr;
};

/* Buckets by their upper bounds, each in the family's unit as text and as a number of our own. */
struct openmetrics_bounds {
	const char *const *texts; /* "1e-06" */
	const uint64_t *least;	  /* a value that is not above falls into it */
	size_t nr;
};
/* The first bucket that a value falls into; nr: above all. */
size_t openmetrics_bounds__find(const struct openmetrics_bounds *bounds, uint64_t value);

extern const struct openmetrics_bounds openmetrics_seconds; /* of ns, 1 us to 100 s: 1, 2, 5, 10 */
extern const struct openmetrics_bounds openmetrics_bytes;   /* 512 to 16 Mi, powers of two */
enum { OPENMETRICS_BOUNDS = 32 };			    /* none has more */

struct openmetrics_histogram {
	uint64_t buckets[OPENMETRICS_BOUNDS + 1]; /* each by itself; the last: above all bounds */
	uint64_t sum;
};

/* type: "gauge" or "histogram"; unit: what the name ends with, or NULL. */
void openmetrics__family(FILE *out, const char *name, const char *type, const char *unit,
			 const char *help);
void openmetrics__gauge(FILE *out, const char *name, struct openmetrics_labels labels,
			uint64_t value);
/* per_unit: how many of our own make one of the family's unit: 10^9 of ns, 1 of bytes. */
void openmetrics__histogram(FILE *out, const char *name, struct openmetrics_labels labels,
			    const struct openmetrics_bounds *bounds,
			    const struct openmetrics_histogram *histogram, uint64_t per_unit);
void openmetrics__end(FILE *out);

#endif
