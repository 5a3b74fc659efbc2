/* SPDX-License-Identifier: BSD-2-Clause */
/* waits_source.h: what a view of waits can query in its run (waits_live.c). */
#ifndef IOSONAR_SESSION_WAITS_SOURCE_H
#define IOSONAR_SESSION_WAITS_SOURCE_H

#include "session/session.h"

/* The functions of a stack, innermost first, as frames__text; NULL: not known. Hostile. */
const char *waits_source__stack(const struct session *s, uint32_t number);
void waits_source__counts(const struct session *s, struct waits_counts *counts);

#endif
