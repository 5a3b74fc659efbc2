/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits_rows.h: the rows of `waits`: of calls with the same key one row per part of their time, and
 * the total; and the ledger.
 */
#ifndef IOSONAR_VIEW_WAITS_ROWS_H
#define IOSONAR_VIEW_WAITS_ROWS_H

#include "analyse/waits.h"
#include "session/session.h"
#include "view/wait_row.h"

extern const struct object waits_rows, waits_ledger;
extern const struct wait_words waits_rows_words;

enum wait_part waits_rows__part(const struct session *session, const struct wait_sleep *sleep,
				struct wait_place *place);
/* The parts of a call, by the stacks of its sleeps. */
void waits_rows__split(const struct session *session, const struct wait_record *record,
		       uint64_t parts[NR_WAIT_PARTS]);
bool waits_rows__adds_up(const struct wait_record *record); /* the parts, to the duration */
void waits_rows__key(const struct wait_record *record, struct wait_key *key);
/* Of captures of several machines: tells them apart, with the host unless dev does. True: so. */
bool waits_rows__tell_hosts(const struct session *session, uint32_t *by);

/*
 * The ledger: says where all calls went, and whether something was lost. taken: records that the
 * view got; uneven: those whose parts do not add up.
 */
void waits_rows__close(struct session *session, uint64_t taken, uint64_t uneven);

#endif
