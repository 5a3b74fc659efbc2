/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop.h: what else the loop of a run waits for, for a view of a live run, or one that browses
 * captures: added in on_start. See base/loop.h; fn may call session__stop_loop.
 */
#ifndef IOSONAR_SESSION_LOOP_H
#define IOSONAR_SESSION_LOOP_H

#include <stdint.h>
#include "base/loop.h"
#include "session/session.h"

int session__watch(struct session *session, int fd, loop_fn fn, void *arg);
int session__every(struct session *session, uint64_t ns, loop_fn fn, void *arg);
int session__on_signal(struct session *session, int signal, loop_fn fn, void *arg);
void session__stop_loop(struct session *session); /* the run ends as if its time were up */

#endif
