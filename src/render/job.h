/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job.h: a load as a fio job file that reproduces it: mix, sizes, depth, sequential share, number
 * of streams, and location on the device. Comments hold what a job file cannot express. Every name
 * is hostile: a device whose name is not plain gets no job.
 */
#ifndef IOSONAR_RENDER_JOB_H
#define IOSONAR_RENDER_JOB_H

#include <stddef.h>
#include <stdio.h>
#include "analyse/pattern.h"

/* One row of a pattern. */
struct job_part {
	const struct pattern_row *row;
	const char *dev;      /* "nvme0n1" */
	const char *whose;    /* "nvme0n1 fio": for a comment */
	const char *left_out; /* operations that fio lacks: "12 write-zeroes", or "" */
};

struct job {
	const char *from; /* source of the load: "run.cap" */
	double seconds;	  /* its duration */
	const struct job_part *parts;
	size_t nr;
};

/* "/dev/nvme0n1" for "nvme0n1" and for its path nvme0c1n1. False: not usable as a file name. */
enum { JOB_PATH = 64 };
bool job__path(const char *dev, char path[JOB_PATH]);
/* Can it become a job? It needs reads or writes, and a plain name. */
bool job_part__is_fit(const struct job_part *part);
void job__write(FILE *out, const struct job *job); /* writes the parts that are fit */

#endif
