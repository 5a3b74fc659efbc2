/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency_rows.h: how long did commands take? The rows of `latency` and their columns, also used by
 * `report` and `top`: the tags of enum breakdown_by, and the measurements of a distribution. Knows
 * nothing of intervals, nor where a distribution comes from.
 */
#ifndef IOSONAR_VIEW_LATENCY_ROWS_H
#define IOSONAR_VIEW_LATENCY_ROWS_H

#include "analyse/breakdown.h"
#include "session/session.h"

/*
 *   time dev     op      count  IO/s  MB/s  size    p50    p90    p99  p99.9 p99.99    max   mean
 *    1.0 nvme0n1 read     5312  5.3k  21.8 4.0Ki  163us  190us  280us  511us  912us 1.02ms  170us
 */
struct latency_row {
	const char *span; /* "interval" or "total" */
	double time_s;
	const char *host, *ctrl, *dev, *op, *size_class, *comm, *cgroup, *unit, *container, *file,
		*path;
	uint64_t nsid, queue, cpu, pid;
	uint64_t count;
	double per_s, mb_per_s;
	uint64_t size_bytes;
	uint64_t p50_ns, p90_ns, p99_ns, p999_ns, p9999_ns, max_ns, mean_ns;
	/* With --budget. */
	uint64_t timed, one_of;
	struct hist_interval p50_interval, p99_interval;
	double share;
	uint64_t failovers;
	uint64_t from_ns, to_ns; /* of a bucket, with its count */
	double cumulative_percent;
	/* Buffers for some texts of this row. */
	char ctrl_text[16], dev_text[320], op_text[16], size_text[16], cgroup_text[256];
	char comm_text[24], unit_text[256], container_text[16];
};

/* All tags; the same if some commands were timed; only device and operation, for a report; the same
 * if some were timed; a bucket of a row's histogram. */
extern const struct object latency_rows, latency_rows_of_some, latency_rows_by_op,
	latency_some_by_op, latency_buckets;

/* Their parts, for rows of another type that begin with a struct latency_row. */
extern const struct column latency_span_columns[], latency_ctrl_columns[], latency_op_columns[],
	latency_more_columns[], latency_measured_columns[];

/* False for a tag column that is not in the mask, of enum breakdown_by. */
bool latency_column__is_asked(const struct column *column, uint32_t mask);
bool latency_column__is_percentile(const struct column *column);
bool latency_column__is_sampling(const struct column *column); /* only with --budget */

void latency_row__label(struct latency_row *row, const struct session *session,
			const struct io_tags *tags, uint32_t mask);
/* seconds: the time that the distribution covers. */
void latency_row__measure(struct latency_row *row, const struct hist *hist, double seconds);
void latency_row__measure_percentiles(struct latency_row *row, const struct hist *hist);
/* If only some commands were timed: where the percentiles lie. */
void latency_row__measure_intervals(struct latency_row *row, const struct hist *hist);
/* "nvme0n1 read": the row's tags in the order of its columns. Returns buf. */
const char *latency_row__title(const struct latency_row *row, uint32_t mask, char *buf,
			       size_t size);

#endif
