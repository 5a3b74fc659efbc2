/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/wait_commits.h"

#include <stdlib.h>
#include <string.h>

size_t wait_commit__kept(const struct wait_commit_story *story)
{
	return story->nr_tasks < WAIT_COMMIT_TASKS ? (size_t)story->nr_tasks : WAIT_COMMIT_TASKS;
}

/* Data weighs more than metadata, and that more than handles that changed nothing. */
static int wait_who_compare(const void *a, const void *b)
{
	const struct wait_who *x = a, *y = b;

	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? 1 : -1;
	if (x->blocks != y->blocks)
		return x->blocks < y->blocks ? 1 : -1;
	return (x->handles < y->handles) - (x->handles > y->handles);
}

/* The story of a commit; if it is new, in the place of the oldest. */
static struct wait_commit_story *wait_commits_get(struct wait_commits *c, uint32_t tid,
						  uint64_t start_ns)
{
	struct wait_commit_story *story;

	for (size_t i = 0; i < WAIT_LAST_COMMITS; i++) {
		story = &c->last[i];
		if (story->commit.tid == tid && story->commit.start_ns == start_ns)
			return story;
	}
	story = &c->last[c->next];
	c->next = (c->next + 1) % WAIT_LAST_COMMITS;
	memset(story, 0, sizeof(*story));
	story->commit.tid = tid;
	story->commit.start_ns = start_ns;
	return story;
}

static void wait_who_merge(struct wait_who *into, const struct wait_who *from)
{
	into->bytes += from->bytes;
	into->blocks += from->blocks;
	into->handles += from->handles;
	if (from->last_ns > into->last_ns)
		into->last_ns = from->last_ns;
}

void wait_commits__add_task(struct wait_commits *commits, const struct wait_who *who)
{
	struct wait_commit_story *story = wait_commits_get(commits, who->commit_tid, who->start_ns);
	const size_t kept = wait_commit__kept(story);

	for (size_t i = 0; i < kept; i++)
		if (story->tasks[i].tid == who->tid) {
			wait_who_merge(&story->tasks[i], who);
			return;
		}
	story->nr_tasks++;
	if (kept < WAIT_COMMIT_TASKS) {
		story->tasks[kept] = *who;
		return;
	}
	qsort(story->tasks, kept, sizeof(*who), wait_who_compare);
	if (wait_who_compare(who, &story->tasks[kept - 1]) < 0)
		story->tasks[kept - 1] = *who;
}

void wait_commits__add(struct wait_commits *commits, const struct wait_commit *commit,
		       const struct wait_threads *threads)
{
	struct wait_commit_story *story = wait_commits_get(commits, commit->tid, commit->start_ns);
	const struct wait_commands *commands =
		wait_threads__find(threads, commit->tid, commit->start_ns);

	story->commit = *commit;
	if (commands)
		story->commands = *commands;
	story->time = wait_threads__time(threads, commit->tid, commit->start_ns, commit->end_ns);
	qsort(story->tasks, wait_commit__kept(story), sizeof(story->tasks[0]), wait_who_compare);
}

static uint64_t wait_commit_overlap(const struct wait_commit *c, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from = c->start_ns > from_ns ? c->start_ns : from_ns;
	uint64_t to = c->end_ns < to_ns ? c->end_ns : to_ns;

	return to > from ? to - from : 0;
}

const struct wait_commit_story *wait_commits__find(const struct wait_commits *commits, uint32_t dev,
						   uint64_t from_ns, uint64_t to_ns)
{
	const struct wait_commit_story *found = NULL;
	uint64_t longest = 0, overlap;

	for (size_t i = 0; i < WAIT_LAST_COMMITS; i++) {
		const struct wait_commit_story *story = &commits->last[i];

		overlap = story->commit.dev == dev
				  ? wait_commit_overlap(&story->commit, from_ns, to_ns)
				  : 0;
		if (overlap <= longest)
			continue;
		longest = overlap;
		found = story;
	}
	return found;
}

uint64_t wait_commit__held_ns(const struct wait_commit_story *story, const struct wait_who *who)
{
	return who->last_ns > story->commit.start_ns ? who->last_ns - story->commit.start_ns : 0;
}
