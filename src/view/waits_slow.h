/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits_slow.h: the slowest calls of `waits`, each with its parts, the places where it slept, and
 * the commands that its bios became. Goes with the command waits.
 */
#ifndef IOSONAR_VIEW_WAITS_SLOW_H
#define IOSONAR_VIEW_WAITS_SLOW_H

#include "session/session.h"

extern const struct object waits_slow;

struct waits_story; /* of one call */

/* Slowest first, at most `most`. */
struct waits_slowest {
	struct waits_story **stories;
	size_t nr, most;
};

int waits_slowest__init(struct waits_slowest *slowest, size_t most); /* -ENOMEM */
/* In on_wait: keeps the call if it is slow enough. -ENOMEM */
int waits_slowest__add(struct waits_slowest *slowest, const struct session *session,
		       const struct wait_record *record);
/* In text with lines for each part and command, and the stacks of long sleeps. */
void waits_slowest__put(const struct waits_slowest *slowest, struct table *table,
			struct session *session);
void waits_slowest__free(struct waits_slowest *slowest);

#endif
