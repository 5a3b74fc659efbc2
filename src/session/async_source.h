/* SPDX-License-Identifier: BSD-2-Clause */
/* async_source.h: what a view of asynchronous requests can query in its run, on this machine. */
#ifndef IOSONAR_SESSION_ASYNC_SOURCE_H
#define IOSONAR_SESSION_ASYNC_SOURCE_H

#include "analyse/waits.h"
#include "collect/async.h"
#include "session/session.h"

/* As waits_source__fs. */
void async_source__fs(const struct session *s, const struct async_record *record,
		      char fs[WAIT_FS_LEN]);
void async_source__counts(const struct session *s, struct async_counts *counts);

#endif
