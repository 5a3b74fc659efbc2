/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load.h: a load (analyse/pattern.h) for people and programs: one row of columns for an interval or
 * the whole run, the parts of the summary as separate rows, and the summary as text.
 */
#ifndef IOSONAR_RENDER_LOAD_H
#define IOSONAR_RENDER_LOAD_H

#include <stdint.h>
#include <stdio.h>
#include "analyse/pattern.h"
#include "decode/column.h"
#include "render/chart.h"

/*
 *  time dev       count  IO/s  MB/s   read  write   rest  size    seq strm    4Ki   unit depth gap
 * 1.000 nvme0n1    5312  5.3k  21.8  70.1%  29.9%   0.0% 4.0Ki  12.1%    3 100.0%  98.2%   7.9
 * 101us
 */
struct load_row {
	/* the caller's */
	const char *span; /* "interval" or "total" */
	double time_s;
	const char *host, *dev, *comm, *cgroup;
	uint64_t pid;
	/* load_row__fill */
	uint64_t count;
	double per_s, mb_per_s;
	double read, write, discard, flush, other, rest;
	uint64_t size_bytes, read_bytes, write_bytes;
	double seq, read_seq, write_seq;
	uint64_t streams, read_streams, write_streams;
	double aligned, in_units;
	uint64_t misaligned_reads, misaligned_writes, unit_bytes;
	double depth_mean;
	uint64_t depth_p50, depth_p99, depth_max;
	uint64_t gap_p50_ns, gap_p99_ns, gap_mean_ns;
	uint64_t first_sector, after_sector, late;
	/* a part of the whole, with its count */
	const char *op;
	double share;
	uint64_t from, to;
};

extern const struct object load_rows;
/* Does the column fit in a line of text? */
bool load_column__is_for_text(const struct column *column);

void load_row__fill(struct load_row *row, const struct pattern_row *of,
		    const struct pattern_sum *sum, double seconds);

/* Parts of the whole, in the order of load_parts. */
enum load_part { LOAD_OPS, LOAD_SIZES, LOAD_GAPS, LOAD_DEPTHS, LOAD_HEAT, NR_LOAD_PARTS };
extern const struct object load_parts[NR_LOAD_PARTS];

/* A row of a pattern, and the meaning of its numbers. */
struct load {
	const struct pattern *pattern;
	const struct pattern_row *row;
	char *const *op_names; /* of block operations */
};

/* Calls fn for each bucket that is not empty, with row; the caller sets its tags. */
typedef void (*load_fn)(void *arg, const struct load_row *row);
void load__each(const struct load *load, enum load_part part, struct load_row *row, load_fn fn,
		void *arg);

/* How many cells of a heat map fit into a line. */
uint32_t load__nr_cells(struct chart_style style);
/* The whole below its title: mix, order, alignment, depth, gaps, sizes, heat. */
void load__put_text(FILE *out, const struct load *load, struct chart_style style);

#endif
