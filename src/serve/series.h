/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * series.h: the label sets that are served, and their counts. Rows of the collector whose labels
 * are equal are added up: a scraper refuses two series with one label set. What does not fit into
 * the limit is added up in `other`, and stays there. Counts never go down. About 4 KiB a series.
 */
#ifndef IOSONAR_SERVE_SERIES_H
#define IOSONAR_SERVE_SERIES_H

#include "analyse/breakdown.h"
#include "base/index.h"
#include "serve/edges.h"

/* In the order in which they are written. */
enum series_label {
	SERIES_DEVICE,
	SERIES_MODEL,
	SERIES_OP,
	SERIES_PATH,
	SERIES_CGROUP,
	SERIES_UNIT,
	SERIES_NAMESPACE,
	SERIES_POD,
	SERIES_CONTAINER,
	NR_SERIES_LABELS,
};
extern const char *const series_keys[NR_SERIES_LABELS]; /* "device", "model", ... */
/* Those that follow from the cgroup of a task. */
#define SERIES_OF_CGROUP                                                                       \
	(1u << SERIES_CGROUP | 1u << SERIES_UNIT | 1u << SERIES_NAMESPACE | 1u << SERIES_POD | \
	 1u << SERIES_CONTAINER)

struct series_sum {
	struct openmetrics_histogram latency;
	uint64_t bytes;
	uint64_t timed; /* commands whose latency was measured; others are estimated */
};

/* A command that stands for its bucket. */
struct exemplar {
	uint64_t number; /* of its record; 0: none */
	uint64_t lat_ns, end_ns;
};

struct series {
	char *labels[NR_SERIES_LABELS]; /* NULL: it has no such label. Hostile */
	char *pairs;			/* the same, as they are written */
	struct series_sum now, shown;
	int32_t device;		  /* as in struct io_tags; 0: `other` */
	uint8_t scrapes_gone;	  /* since its device is gone: 0, 1 or 2 */
	struct exemplar *slowest; /* of each bucket; NULL: none */
};

enum {
	SERIES_WAITS_S = 5, /* for names that appear late; then the labels are those there are */
};

/* Names tags: sets texts, which are copied before the next call. Others stay NULL. false: there may
 * be better names soon. */
typedef bool (*series_label_fn)(void *arg, const struct io_tags *tags,
				const char *labels[NR_SERIES_LABELS]);

struct series_set {
	/* set by the caller */
	uint32_t by; /* 1 << SERIES_PATH, and any of SERIES_OF_CGROUP */
	size_t most; /* series, without `other` */
	const struct edges *edges;
	series_label_fn label;
	void *arg;
	/* read by the caller */
	struct series **all; /* the first one is `other` */
	size_t nr;
	uint64_t nr_dropped; /* label sets that are in `other` */
	uint64_t counted;    /* commands of this reading, as the collector counts them */
	/* inside */
	struct series_row *rows;
	uint64_t now_ns;
	struct index rows_by_tags, all_by_labels;
};

int series_set__init(struct series_set *set); /* 0 or -ENOMEM */
void series_set__free(struct series_set *set);
/* For a scrape: looks which devices are gone. Their series are in one more scrape, with their last
 * counts, and have ended then. */
void series_set__retire(struct series_set *set, bool (*is_gone)(void *, int32_t));
bool series__has_ended(const struct series *series);
/* A reading: begin, add every part, end. */
void series_set__begin(struct series_set *set, uint64_t now_ns);
int series_set__add(struct series_set *set, const struct io_tags *tags, const struct hist *part);
void series_set__end(struct series_set *set); /* `shown` is what may be written */
/* The number of the series that counts these; -EAGAIN: not yet decided; -ENOMEM. */
int series_set__find(struct series_set *set, const struct io_tags *tags);
uint64_t series__count(const struct series *series, const struct edges *edges);

#endif
