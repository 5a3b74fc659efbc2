/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/latency_order.h"

#include <stdlib.h>

const char *const latency_sort_words[] = { "keys", "count", "bytes", "time", "mean",
					   "p50",  "p99",   "max",   NULL };

/* The keys and headings of the columns. Rows by bytes are rows by MB/s: all have the same time. */
const char *const latency_sort_also[] = { NULL,	    "iops IO/s", "mb_per_s MB/s", NULL, "mean_ns",
					  "p50_ns", "p99_ns",	 "max_ns",	  NULL };

static uint64_t latency_sort_value(enum latency_sort sort, const struct hist *hist)
{
	switch (sort) {
	case LATENCY_SORT_KEYS: return 0;
	case LATENCY_SORT_COUNT: return hist->count;
	case LATENCY_SORT_BYTES: return hist->bytes;
	case LATENCY_SORT_TIME: return hist->sum_ns;
	case LATENCY_SORT_MEAN: return hist__mean_ns(hist);
	case LATENCY_SORT_P50: return hist__percentile(hist, 5000);
	case LATENCY_SORT_P99: return hist__percentile(hist, 9900);
	case LATENCY_SORT_MAX: return hist->max_ns;
	}
	return 0;
}

static int latency_rank_compare(const void *left, const void *right)
{
	const struct latency_rank *a = left, *b = right;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return breakdown_row__compare(&a->row, &b->row);
}

size_t latency_ranks__make(const struct breakdown *breakdown, bool whole, enum latency_sort sort,
			   struct latency_rank *ranks)
{
	struct hist hist;
	size_t nr = 0;

	for (size_t i = 0; i < breakdown->nr; i++) {
		const struct breakdown_row *row = breakdown->rows[i];

		if (whole)
			hist = row->total;
		else
			breakdown_row__interval(row, &hist);
		if (hist.count)
			ranks[nr++] = (struct latency_rank){ row, latency_sort_value(sort, &hist) };
	}
	qsort(ranks, nr, sizeof(*ranks), latency_rank_compare);
	return nr;
}
