/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intervals.h: shared by commands that show rows of every interval and of the whole run: a heading
 * from time to time, a message that there was nothing, that the whole run follows, that a --fail-if
 * is true. Each command keeps its table and its count of intervals.
 */
#ifndef IOSONAR_VIEW_INTERVALS_H
#define IOSONAR_VIEW_INTERVALS_H

#include "session/session.h"

enum { INTERVALS_HEADING = 20 }; /* intervals between two headings */

void intervals__say_idle(const struct session *session);
/* "the whole run, 10.0 s:" in text. */
void intervals__say_whole(const struct session *session);
/* The first time, says for which row: title, "interval", up to when. */
void intervals__came_true(struct session *session, const char *fail_if, const char *title,
			  const char *span, double time_s);
/* An on_tick that shows nothing: for views where -n still counts intervals. */
int intervals__pass(void *state, struct session *session);

#endif
