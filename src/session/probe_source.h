/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_source.h: what a view of any event, or of calls, asks its run, and the ledger of both: hits
 * = refused + added + sent + begun + without a start + lost.
 */
#ifndef IOSONAR_SESSION_PROBE_SOURCE_H
#define IOSONAR_SESSION_PROBE_SOURCE_H

#include "probe/run/run.h"
#include "session/session.h"

/* What JSON ends with. */
extern const struct object probe_ledger_object;

/* The programs at work; NULL: of a capture. */
struct run *probe_source__run(const struct session *s);
/* At the end: what became of all hits, as JSON and in words. Also of a capture. */
void probe_source__tell_hits(struct session *s, const struct run_counts *counts);

#endif
