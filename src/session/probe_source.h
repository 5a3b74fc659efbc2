/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_source.h: what a view of any event, or of calls, can query in its run, and the ledger of
 * both: hits = refused + added + sent + begun + without a start + lost.
 */
#ifndef IOSONAR_SESSION_PROBE_SOURCE_H
#define IOSONAR_SESSION_PROBE_SOURCE_H

#include "probe/run/run.h"
#include "session/session.h"

/* The last object of JSON. */
extern const struct object probe_ledger_object;

/* The running programs; NULL: a capture. */
struct run *probe_source__run(const struct session *s);
/* At the end: the ledger of all hits, as JSON and as text. Also of a capture. */
void probe_source__tell_hits(struct session *s, const struct run_counts *counts);

#endif
