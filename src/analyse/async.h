/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async.h: which step was a request of io_uring or libaio in, and for how long? The moments of a
 * record each begin a step; the steps follow each other without a gap, so they add up to the
 * duration. Their distributions are the groups of waits.h, with steps in place of parts. Pure.
 */
#ifndef IOSONAR_ANALYSE_ASYNC_H
#define IOSONAR_ANALYSE_ASYNC_H

#include "analyse/waits.h"
#include "wire/async.h"

enum async_step {
	STEP_LINK,
	STEP_SUBMIT,
	STEP_PUNT,
	STEP_WORKER,
	STEP_DEVICE,
	STEP_POST,
	STEP_REST,
	NR_ASYNC_STEPS,
};
_Static_assert((int)NR_ASYNC_STEPS <= (int)NR_WAIT_PARTS, "groups have room for steps");

const char *async_step__name(enum async_step step);  /* "punt" */
const char *async_step__words(enum async_step step); /* what it is, in words */

/* "read", "uring_cmd", "aio_read"; "other" for WAIT_OTHER_CALL; "op-99" in buf. */
const char *async_op__name(uint32_t opcode, char *buf, size_t size);

void async__split(const struct async_record *record, uint64_t steps[NR_WAIT_PARTS]);
uint64_t async__whole_ns(const struct async_record *record); /* from submission to completion */

#endif
