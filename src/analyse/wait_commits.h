/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wait_commits.h: the last commits of journals, with the tasks that had a share in each, and its
 * longest commands. What a task has in a commit arrives before the commit, in one or two pieces;
 * the commit arrives before the calls that waited for it. Pure.
 */
#ifndef IOSONAR_ANALYSE_WAIT_COMMITS_H
#define IOSONAR_ANALYSE_WAIT_COMMITS_H

#include "analyse/wait_commands.h"

enum { WAIT_COMMIT_TASKS = 16, WAIT_LAST_COMMITS = 64 };

struct wait_commit_story {
	struct wait_commit commit;		  /* end_ns is 0: it has not arrived */
	uint64_t nr_tasks;			  /* of all */
	struct wait_who tasks[WAIT_COMMIT_TASKS]; /* at most nr_tasks, the largest first */
	struct wait_commands commands;
	struct wait_device_time time; /* of all its commands, within the commit */
};

struct wait_commits {
	struct wait_commit_story last[WAIT_LAST_COMMITS];
	size_t next; /* the oldest */
};

void wait_commits__add_task(struct wait_commits *commits, const struct wait_who *who);
/* Joined with the commands of its thread. */
void wait_commits__add(struct wait_commits *commits, const struct wait_commit *commit,
		       const struct wait_threads *threads);
/* The commit of this file system that ran longest between two moments; NULL: none. */
const struct wait_commit_story *wait_commits__find(const struct wait_commits *commits, uint32_t dev,
						   uint64_t from_ns, uint64_t to_ns);

size_t wait_commit__kept(const struct wait_commit_story *story); /* elements of `tasks` */
/* How long a commit waited for the end of the last handle of this task; 0: not at all. */
uint64_t wait_commit__held_ns(const struct wait_commit_story *story, const struct wait_who *who);

#endif
