/* SPDX-License-Identifier: BSD-2-Clause */
/* waits_source.h: what a view of waits can query in its run (waits_live.c). */
#ifndef IOSONAR_SESSION_WAITS_SOURCE_H
#define IOSONAR_SESSION_WAITS_SOURCE_H

#include "analyse/wait_commits.h"
#include "session/session.h"

/* The functions of a stack, innermost first, as frames__text; NULL: not known. Hostile. */
const char *waits_source__stack(const struct session *s, uint32_t number);
/* In on_wait: the commands of this call; NULL: none, or they are not followed. */
const struct wait_commands *waits_source__commands(const struct session *s,
						   const struct wait_record *record);
/* Likewise: the commit of its file system's journal that ran longest during the call; or NULL. */
const struct wait_commit_story *waits_source__commit(const struct session *s,
						     const struct wait_record *record);
/* "write", or "op-0x93" in buf. */
const char *waits_source__op(const struct session *s, uint8_t op, char *buf, size_t size);
void waits_source__counts(const struct session *s, struct waits_counts *counts);

#endif
