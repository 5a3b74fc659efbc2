/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * intervals.h: what commands say alike that show rows of every interval and of the whole run: a
 * heading from time to time, that there was nothing, that the whole follows, that a --fail-if is
 * true. Each command keeps its table and its count of intervals.
 */
#ifndef IOSONAR_VIEW_INTERVALS_H
#define IOSONAR_VIEW_INTERVALS_H

#include "session/session.h"

enum { INTERVALS_HEADING = 20 }; /* intervals between two headings */

void intervals__say_idle(const struct session *session);
/* "the whole run, 10.0 s:" in text. */
void intervals__say_whole(const struct session *session);
/* The first time it is said which row it was: title, "interval", up to when. */
void intervals__came_true(struct session *session, const char *fail_if, const char *title,
			  const char *span, double time_s);
/* An on_tick that shows nothing: of a view of which -n counts intervals all the same. */
int intervals__pass(void *state, struct session *session);

#endif
