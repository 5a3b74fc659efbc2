/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits_source.h: what a view of waits can query in its run, on this machine (waits_live.c) or in
 * captures (waits_replay.c).
 */
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
/* In on_wait: the type of the file system of this call, "ext4", "bdev" for a device itself; "". */
void waits_source__fs(const struct session *s, const struct wait_record *record,
		      char fs[WAIT_FS_LEN]);
/* "write", or "op-0x93" in buf. */
const char *waits_source__op(const struct session *s, uint8_t op, char *buf, size_t size);
/* False: not known, a capture is cut or damaged. */
bool waits_source__counts(const struct session *s, struct waits_counts *counts);
/* Calls of captures that the filters of this run leave out. */
uint64_t waits_source__left_out(const struct session *s);

/* ---- for waits_live.c and waits_replay.c ---- */

/* What calls waited for, on one machine, until their records come. */
struct waits_stories {
	struct wait_threads threads;
	struct wait_commits commits;
};

/* op: the word for its operation. */
int waits_stories__command(struct waits_stories *stories, const struct wait_command *command,
			   const char *op);
void waits_stories__commit(struct waits_stories *stories, const struct wait_commit *commit);

struct waits_answers {
	const char *(*stack)(const struct session *s, uint32_t number);
	const struct waits_stories *(*stories)(const struct session *s);
	char *const *(*op_names)(const struct session *s);
	/* At most WAIT_FS_LEN characters, or up to a zero. */
	const char *(*fs)(const struct session *s, const struct wait_record *record);
	bool (*counts)(const struct session *s, struct waits_counts *counts);
	uint64_t (*left_out)(const struct session *s);
};

#endif
