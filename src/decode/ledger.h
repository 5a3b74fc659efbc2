/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ledger.h: was everything seen? issued = completed + in flight + never sent + lost, each term
 * counted where it happens, none computed from the others. The remainder is `unaccounted`.
 *
 *	issued 100,003 = completed 100,003 + in flight 0; attached mid-flight 0; nothing lost
 */
#ifndef IOSONAR_DECODE_LEDGER_H
#define IOSONAR_DECODE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>
#include "decode/column.h"

enum lost_reason {
	LOST_NO_SLOT,
	LOST_COMPLETION,
	LOST_START,
	LOST_CLOCK,
	LOST_DEVICE,
	LOST_SKIPPED,
	LOST_ROW,
	LOST_RING,
	LOST_WRITE,
	NR_LOST,
};

struct ledger {
	uint64_t issued, completed, in_flight, never_sent;
	uint64_t mid_flight, refused, retries, requeues, failed;
	uint64_t lost[NR_LOST];
	uint64_t oldest_ns; /* age of the oldest in flight at the end */
	uint64_t counted;   /* commands in the rows, where no filter hides some */
	bool counted_known;
	uint64_t timed;	 /* commands whose latency was measured, */
	bool is_sampled; /* if not all are */
};

/* Not zero: a defect of ours or a program that ran unseen. Positive: more issued than ended. */
int64_t ledger__unaccounted(const struct ledger *ledger);
uint64_t ledger__lost(const struct ledger *ledger);
bool ledger__is_whole(const struct ledger *ledger); /* nothing lost, nothing unaccounted */
void ledger__print(const struct ledger *ledger);    /* to people */
extern const struct column ledger_columns[];	    /* to JSON */

/* Its numbers by name, to and from a capture. */
struct ledger_term {
	const char *name;
	uint64_t value;
};
enum { LEDGER_TERMS = 24 }; /* at most */
size_t ledger__terms(const struct ledger *ledger, struct ledger_term terms[LEDGER_TERMS]);
/* The counts of several captures are added. Unknown (newer) names are ignored. */
void ledger__add_term(struct ledger *ledger, const struct ledger_term *term);

#endif
