/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * job.h: a load as a job file for fio, so that it can be made again: mix, sizes, depth, sequential
 * share, how many streams, and where on the device. What such a file cannot say stands in its
 * comments. Every name is hostile: a device whose name is not plain gets no job.
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
	const char *left_out; /* operations that fio has not: "12 write-zeroes"; "": none */
};

struct job {
	const char *from; /* where the load was seen: "run.cap" */
	double seconds;	  /* and for how long */
	const struct job_part *parts;
	size_t nr;
};

/* "/dev/nvme0n1" of "nvme0n1", and of its path nvme0c1n1. False: the name is none for a file. */
enum { JOB_PATH = 64 };
bool job__path(const char *dev, char path[JOB_PATH]);
/* Can a job be made of it? It has reads or writes, and a name that is a name. */
bool job_part__is_fit(const struct job_part *part);
void job__write(FILE *out, const struct job *job); /* of the parts that are fit */

#endif
