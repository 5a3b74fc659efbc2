/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * estimate.h: how are all latencies distributed, if only some commands were timed? All are counted,
 * so the number and the bytes are exact. The untimed ones of a span are spread over the buckets as
 * the timed ones of that span are. A span begins when the share of timed commands changes, so that
 * no command weighs more than its share.
 */
#ifndef IOSONAR_ANALYSE_ESTIMATE_H
#define IOSONAR_ANALYSE_ESTIMATE_H

#include "analyse/hist.h"

struct estimate {
	struct hist before; /* what was counted when the span began */
	struct hist all;    /* the estimate of what was counted before; only grows */
};

/*
 * Ends a span. now: what was counted since the start; `count` has all commands, `untimed` those
 * that no bucket has. max_ns is not changed. False: nothing was ever timed, so the span goes on.
 */
_Bool estimate__fold(struct estimate *e, const struct hist *now);

#endif
