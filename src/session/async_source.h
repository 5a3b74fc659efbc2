/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async_source.h: what a view of asynchronous requests can query in its run, on this machine
 * (async_live.c) or in captures (async_replay.c).
 */
#ifndef IOSONAR_SESSION_ASYNC_SOURCE_H
#define IOSONAR_SESSION_ASYNC_SOURCE_H

#include "analyse/waits.h"
#include "collect/async.h"
#include "session/session.h"

/* In on_async: as waits_source__fs. */
void async_source__fs(const struct session *s, const struct async_record *record,
		      char fs[WAIT_FS_LEN]);
/* False: not known, a capture is cut or damaged. */
bool async_source__counts(const struct session *s, struct async_counts *counts);
/* Requests of captures that the filters of this run leave out. */
uint64_t async_source__left_out(const struct session *s);

/* ---- for async_live.c and async_replay.c ---- */

struct async_answers {
	/* At most WAIT_FS_LEN characters, or up to a zero. */
	const char *(*fs)(const struct session *s, const struct async_record *record);
	bool (*counts)(const struct session *s, struct async_counts *counts);
	uint64_t (*left_out)(const struct session *s);
};

#endif
