/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * printout.h: reads back what `latency -o json` printed: its rows and the buckets of its
 * histograms, line by line, in 64 KiB of memory. Skips lines of other types. A file may be
 * anything: invalid input gives a one-line message.
 */
#ifndef IOSONAR_CAPTURE_PRINTOUT_H
#define IOSONAR_CAPTURE_PRINTOUT_H

#include <stdbool.h>
#include <stdint.h>

/* Texts are good until the next line. Numbers that the file does not have are 0. */
struct printout_line {
	bool is_bucket; /* a bucket; otherwise a row */
	bool is_total;	/* of the whole run; else of an interval that ended at time_s */
	const char *dev, *op;
	double time_s, count;
	double iops, size_bytes, mean_ns; /* of a row */
	uint64_t from_ns;		  /* of a bucket of analyse/hist */
};

/* Does the file begin with a line of JSON? False if it is missing or unreadable. */
bool printout__is_one(const char *path);
/*
 * Calls fn for each line until it returns other than 0, which is returned. Otherwise 0; -EIO, after
 * a message. *lost: events lost according to its ledger.
 */
int printout__read(const char *path, int (*fn)(void *arg, const struct printout_line *line),
		   void *arg, double *lost);

#endif
