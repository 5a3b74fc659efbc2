/* SPDX-License-Identifier: BSD-2-Clause */
/* async_source.h: what a view of asynchronous requests can query in its run, on this machine. */
#ifndef IOSONAR_SESSION_ASYNC_SOURCE_H
#define IOSONAR_SESSION_ASYNC_SOURCE_H

#include "collect/async.h"
#include "session/session.h"

void async_source__counts(const struct session *s, struct async_counts *counts);

#endif
