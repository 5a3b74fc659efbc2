/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * browse.h: captures back and forth, for a view that browses them: which time they cover, and the
 * data of any span of it, as often as wanted. A visit costs what a replay of its span costs.
 */
#ifndef IOSONAR_SESSION_BROWSE_H
#define IOSONAR_SESSION_BROWSE_H

#include <stdbool.h>
#include <stdint.h>
#include "session/session.h"

/* The time that there is, inside of --from and --to, on the clock of start_ns. */
void session__extent(const struct session *session, uint64_t *from_ns, uint64_t *to_ns);
/*
 * All data from one moment up to another, with an on_tick at the end of each `every_ns`; the last
 * one ends with the data. A signal ends the visit without a tick.
 */
int session__visit(struct session *session, uint64_t from_ns, uint64_t to_ns, uint64_t every_ns);
bool session__is_damaged(const struct session *session); /* what was visited last */

#endif
