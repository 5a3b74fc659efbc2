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
	int32_t device, path;	  /* as in struct io_tags; path 0: of any; both 0: `other` */
	bool has_ended;		  /* no scrape has it any more; it may begin again */
	struct exemplar *slowest; /* of each bucket; NULL: none */
};

enum {
	SERIES_WAITS_S = 5, /* for names that appear late; then the labels are those there are */
};

/* Names tags: sets texts, which are copied before the next call. Others stay NULL. false: there may
 * be better names soon. */
typedef bool (*series_label_fn)(void *arg, const struct io_tags *tags,
				const char *labels[NR_SERIES_LABELS]);

/* Did this device, or path, go so long ago that nothing is said of it any more? */
typedef bool (*series_has_left_fn)(void *arg, int32_t device);

struct series_set {
	/* set by the caller */
	uint32_t by; /* 1 << SERIES_PATH, and any of SERIES_OF_CGROUP */
	size_t most; /* series, without `other` */
	const struct edges *edges;
	series_label_fn label;
	series_has_left_fn has_left; /* NULL: none ever leaves */
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
	struct series_sum left_in_other;
};

int series_set__init(struct series_set *set); /* 0 or -ENOMEM */
void series_set__free(struct series_set *set);
/* For a scrape: which series have ended, as their device or path has. */
void series_set__retire(struct series_set *set, bool (*has_ended)(void *, int32_t));
/* Forgets the series whose device or path has left: their places are free. What the collector still
 * counts of these is only in `counted`; what was in `other` stays there. */
void series_set__forget(struct series_set *set);
/* Adds a part that no later reading will have: it stays in `other` if it was there. */
void series_set__keep_last(struct series_set *set, const struct io_tags *tags,
			   const struct hist *part);
/* A reading: begin, add every part, end. */
void series_set__begin(struct series_set *set, uint64_t now_ns);
int series_set__add(struct series_set *set, const struct io_tags *tags, const struct hist *part);
void series_set__end(struct series_set *set); /* `shown` is what may be written */
/* The number of the series that counts these; -EAGAIN: not yet decided, or it has left; -ENOMEM. */
int series_set__find(struct series_set *set, const struct io_tags *tags);
uint64_t series__count(const struct series *series, const struct edges *edges);

#endif
