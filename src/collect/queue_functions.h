/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * queue_functions.h: functions of the block layer that tell what an I/O waits for before it has a
 * request: those that the programs of layers attach to, and signs of what this kernel can do.
 */
#ifndef IOSONAR_COLLECT_QUEUE_FUNCTIONS_H
#define IOSONAR_COLLECT_QUEUE_FUNCTIONS_H

enum queue_function {
	/* called only if an I/O has to wait */
	QUEUE_SLEEPS, /* for a tag, writeback throttling, io.latency */
	QUEUE_IOCOST,
	QUEUE_HELD,	 /* by io.max, */
	QUEUE_HELD_ELSE, /* if that one is inlined */
	QUEUE_FROZEN,
	/* always there, if the kernel can do this */
	QUEUE_HAS_WBT,
	QUEUE_HAS_IOLATENCY,
	QUEUE_HAS_IOMAX,
	QUEUE_HAS_ZONES, /* writes to a zone wait for each other */
	NR_QUEUE_FUNCTIONS,
	NO_QUEUE_FUNCTION = NR_QUEUE_FUNCTIONS,
};

extern const char *const queue_functions[NR_QUEUE_FUNCTIONS];

#endif
