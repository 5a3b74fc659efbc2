/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * openmetrics.h: metrics for Prometheus: families of gauges, counters and histograms in the text
 * format of OpenMetrics. Gauges and histograms read the same in Prometheus' older format; the head
 * of a counter differs. Label values are hostile.
 */
#ifndef IOSONAR_RENDER_OPENMETRICS_H
#define IOSONAR_RENDER_OPENMETRICS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A NULL value omits the label. */
struct openmetrics_label {
	const char *key, *value;
};

/* Either labels, or what openmetrics__pairs made of them: escaping takes its time. */
struct openmetrics_labels {
	const struct openmetrics_label *labels;
	size_t nr;
	const char *pairs; /* NULL: labels */
};
/* Allocated. NULL: out of memory. */
char *openmetrics__pairs(struct openmetrics_labels labels);

/* Buckets by upper bound, each as text in the family's unit and as a number in our unit. */
struct openmetrics_bounds {
	const char *const *texts; /* "1e-06", at most 32 bytes */
	const uint64_t *least;	  /* upper bounds, inclusive */
	size_t nr;
};
/* The first bucket that includes the value; nr: above all bounds. */
size_t openmetrics_bounds__find(const struct openmetrics_bounds *bounds, uint64_t value);

extern const struct openmetrics_bounds openmetrics_seconds; /* of ns, 1 us to 100 s: 1, 2, 5, 10 */
extern const struct openmetrics_bounds openmetrics_bytes;   /* 512 to 16 Mi, powers of two */
enum { OPENMETRICS_BOUNDS = 256 };			    /* none has more */

/* A value that is in a bucket, and the record that it is of. Prometheus' older format has none. */
struct openmetrics_exemplar {
	uint64_t record; /* its number; 0: the bucket has no exemplar */
	uint64_t value, wall_ns;
};

struct openmetrics_histogram {
	uint64_t buckets[OPENMETRICS_BOUNDS + 1]; /* not cumulative; the last is above all bounds */
	uint64_t sum;
	const struct openmetrics_exemplar *exemplars; /* of each bucket; NULL: none */
};

enum openmetrics_format { OPENMETRICS_TEXT_0_0_4, OPENMETRICS_1_0 };

/* type: "gauge" or "histogram"; unit: suffix of the name, or NULL. */
void openmetrics__family(FILE *out, const char *name, const char *type, const char *unit,
			 const char *help);
void openmetrics__gauge(FILE *out, const char *name, struct openmetrics_labels labels,
			uint64_t value);
void openmetrics__gauge_seconds(FILE *out, const char *name, struct openmetrics_labels labels,
				uint64_t ns);
/* The name is without "_total", which its samples have, and in the older format its head, too. */
void openmetrics__counter_family(FILE *out, enum openmetrics_format format, const char *name,
				 const char *unit, const char *help);
void openmetrics__counter(FILE *out, const char *name, struct openmetrics_labels labels,
			  uint64_t value);
void openmetrics__counter_seconds(FILE *out, const char *name, struct openmetrics_labels labels,
				  uint64_t ns);
/* per_unit: our units per unit of the family: 10^9 for ns, 1 for bytes. 0 or -ENOMEM. */
int openmetrics__histogram(FILE *out, const char *name, struct openmetrics_labels labels,
			   const struct openmetrics_bounds *bounds,
			   const struct openmetrics_histogram *histogram, uint64_t per_unit);
void openmetrics__end(FILE *out);

#endif
