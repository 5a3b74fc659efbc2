/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * saved.h: what `latency -o json` printed, read again: its rows and the buckets of its histograms,
 * line by line, in 64 KiB of memory. Lines of other types are passed over. A file may be anything:
 * what makes no sense is one line that says so.
 */
#ifndef IOSONAR_CAPTURE_SAVED_H
#define IOSONAR_CAPTURE_SAVED_H

#include <stdbool.h>
#include <stdint.h>

/* Texts are good until the next line. Numbers that the file does not have are 0. */
struct saved_line {
	bool is_bucket; /* of a histogram; else a row */
	bool is_total;	/* of the whole run; else of an interval that ended at time_s */
	const char *dev, *op;
	double time_s, count;
	double iops, size_bytes, mean_ns; /* of a row */
	uint64_t from_ns;		  /* of a bucket of analyse/hist */
};

/* Does the file begin as one line of JSON does? No file, or none that can be read: false. */
bool saved__is_one(const char *path);
/*
 * Each line in turn, until fn returns other than 0, which is returned. Else 0; -EIO, said. *lost:
 * events that its ledger says were lost.
 */
int saved__read(const char *path, int (*fn)(void *arg, const struct saved_line *line), void *arg,
		double *lost);

#endif
