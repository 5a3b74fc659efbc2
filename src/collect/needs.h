/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * needs.h: what does a command require of the kernel? Its struct cmd says so; doctor checks whether
 * it is available, and says what is lost without it. 0: it reads captures, and requires nothing.
 */
#ifndef IOSONAR_COLLECT_NEEDS_H
#define IOSONAR_COLLECT_NEEDS_H

enum need {
	/* required to run */
	NEED_IO = 1 << 0,	 /* the events of disks, as `latency` */
	NEED_RINGS = 1 << 1,	 /* ring buffers: it keeps every record */
	NEED_PROGRAMS = 1 << 2,	 /* programs of any kind, for any event */
	NEED_FUNCTIONS = 1 << 3, /* probes of the kernel's functions */
	NEED_CALLS = 1 << 11,	 /* of the kernel's or of processes' */
	/* where it starts to follow an I/O */
	NEED_STAGES = 1 << 4,
	/* without these, a part is lost */
	NEED_FILES = 1 << 5,	     /* the file of direct I/O */
	NEED_STACKS = 1 << 6,	     /* names of functions */
	NEED_CONTROLLERS = 1 << 7,   /* time-outs and states of NVMe controllers */
	NEED_ACCESSES = 1 << 8,	     /* accesses to the page cache */
	NEED_TRACEPOINTS = 1 << 9,   /* the kernel's list of its tracepoints */
	NEED_ANY_FUNCTION = 1 << 10, /* functions, if an argument names one */
	NEED_WAITS = 1 << 12,	     /* names of the waits before a request */
	NEED_CALL_WAITS = 1 << 13,   /* calls that wait: functions, or all system calls */
};

#endif
