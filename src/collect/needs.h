/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * needs.h: what does a command take from the kernel? Each says it in its struct cmd; doctor looks
 * whether it is here, and says what is lost without. 0: it reads captures, and needs nothing.
 */
#ifndef IOSONAR_COLLECT_NEEDS_H
#define IOSONAR_COLLECT_NEEDS_H

enum need {
	/* without these it cannot run */
	NEED_IO = 1 << 0,	 /* the events of disks, as `latency` */
	NEED_RINGS = 1 << 1,	 /* ring buffers: it keeps every record */
	NEED_PROGRAMS = 1 << 2,	 /* programs of any kind, for any event */
	NEED_FUNCTIONS = 1 << 3, /* probes of the kernel's functions */
	NEED_CALLS = 1 << 11,	 /* of the kernel's or of processes' */
	/* from where on it follows an I/O */
	NEED_STAGES = 1 << 4,
	/* without these it loses a part */
	NEED_FILES = 1 << 5,	     /* the file of direct I/O */
	NEED_STACKS = 1 << 6,	     /* names of functions */
	NEED_CONTROLLERS = 1 << 7,   /* time-outs and states of NVMe controllers */
	NEED_ACCESSES = 1 << 8,	     /* what is asked of the page cache */
	NEED_TRACEPOINTS = 1 << 9,   /* the kernel's list of its tracepoints */
	NEED_ANY_FUNCTION = 1 << 10, /* functions, if a line names one */
};

#endif
