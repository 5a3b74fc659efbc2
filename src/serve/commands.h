/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * commands.h: which commands are in a cell of the heat map? Those that the flight recorder holds,
 * as lines of `trace -o json`, and how many there are. At most 200 are shown, and a quarter of a
 * million records looked at, which takes about 20 ms: the rings are emptied meanwhile by nobody.
 */
#ifndef IOSONAR_SERVE_COMMANDS_H
#define IOSONAR_SERVE_COMMANDS_H

#include <stdio.h>
#include "serve/query.h"
#include "session/session.h"

enum { COMMANDS_SHOWN = 200, COMMANDS_LOOKED_AT = 1 << 18 };

/* Times of the query count from the start of the run. 0 or -ENOMEM. */
int commands__put(struct session *session, const struct query *query, FILE *out);

#endif
