/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wait_commits.c: does a call find the commit that it waited for, with the tasks in it, the largest
 * share first?
 */
#include <stdlib.h>
#include "analyse/wait_commits.h"
#include "tap.h"

static struct wait_commits commits;
static struct wait_threads threads;

static void task(uint32_t tid, uint32_t handles, uint64_t bytes, uint64_t last_ns)
{
	wait_commits__add_task(&commits, &(struct wait_who){ .start_ns = 1000,
							     .last_ns = last_ns,
							     .bytes = bytes,
							     .commit_tid = 5,
							     .tid = tid,
							     .handles = handles,
							     .blocks = handles / 2 });
}

static void commit(uint32_t tid, uint32_t dev, uint64_t start_ns, uint64_t end_ns)
{
	const struct wait_commit c = {
		.tid = tid, .dev = dev, .start_ns = start_ns, .end_ns = end_ns
	};

	wait_commits__add(&commits, &c, &threads);
}

static void test_tasks(void)
{
	const struct wait_commit_story *s;

	task(11, 40, 0, 1007); /* its handles */
	task(12, 2, 0, 900);
	ok(!wait_commits__find(&commits, 0, 1000, 2000),
	   "a commit that has not ended is not found");
	task(12, 0, 4096, 0); /* the data of the same task */
	task(13, 50, 0, 500);
	commit(5, 8, 1000, 2000);
	s = wait_commits__find(&commits, 8, 1500, 2500);
	ok(s && s->nr_tasks == 3, "three tasks");
	if (!s)
		return;
	ok(s->tasks[0].tid == 12 && s->tasks[0].handles == 2 && s->tasks[0].bytes == 4096,
	   "the one with data is first, in one piece");
	ok(s->tasks[1].tid == 13 && s->tasks[2].tid == 11, "then those with more metadata");
	ok(wait_commit__held_ns(s, &s->tasks[2]) == 7, "a handle that ended after the start");
	ok(!wait_commit__held_ns(s, &s->tasks[0]), "one that ended before");
}

static void test_find(void)
{
	const struct wait_commit_story *s;

	commit(5, 8, 3000, 4000);
	commit(6, 9, 3000, 9000);
	s = wait_commits__find(&commits, 8, 1900, 3500);
	ok(s && s->commit.start_ns == 3000, "of two, the one with the longer common time");
	ok(!wait_commits__find(&commits, 8, 2000, 3000), "none between them");
	ok(!wait_commits__find(&commits, 7, 0, 9000), "none of another file system");
	for (uint64_t i = 0; i < WAIT_LAST_COMMITS; i++)
		commit(5, 8, 10000 + i * 10, 10005 + i * 10);
	ok(!wait_commits__find(&commits, 9, 0, 9000), "an old one makes room");
	s = wait_commits__find(&commits, 8, 10000, 10005);
	ok(s && !s->nr_tasks, "and leaves no task behind");
}

static void test_many(void)
{
	const struct wait_commit_story *s;
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < 100; i++)
		task(i + 1, 2 * (i * 37 % 100), 0, 0);
	commit(5, 8, 1000, 2000);
	s = wait_commits__find(&commits, 8, 1000, 2000);
	ok(s && s->nr_tasks == 100 && wait_commit__kept(s) == WAIT_COMMIT_TASKS, "100 tasks");
	for (size_t i = 0; s && i < WAIT_COMMIT_TASKS; i++)
		least = s->tasks[i].handles < least ? s->tasks[i].handles : least;
	ok(least == 2 * (100 - WAIT_COMMIT_TASKS), "those with the largest shares are kept");
}

static void command(uint64_t issue_ns, uint64_t end_ns, const char *op)
{
	const struct wait_command c = {
		.tid = 5, .start_ns = 1000, .issue_ns = issue_ns, .end_ns = end_ns
	};

	if (wait_threads__add(&threads, &c, op))
		abort();
}

/* Nine writes, of which eight are kept; one goes on during the flush, and ends after the commit. */
static void test_time(void)
{
	const struct wait_commit_story *s;

	for (uint64_t i = 0; i < 8; i++)
		command(1010 + 10 * i, 1015 + 10 * i, "write");
	command(1200, 1300, "flush");
	command(1280, 2100, "write");
	commit(5, 8, 1000, 2000);
	s = wait_commits__find(&commits, 8, 1000, 2000);
	ok(s && s->commands.nr == 10 && wait_commands__kept(&s->commands) == 8, "ten commands");
	ok(s && s->time.flush_ns == 100, "the time of the flush");
	ok(s && s->time.other_ns == 8 * 5 + 700, "the time of all others without it, to the end");
	commit(5, 8, 5000, 6000);
	s = wait_commits__find(&commits, 8, 5000, 6000);
	ok(s && !s->time.flush_ns && !s->time.other_ns, "a commit without commands");
}

int main(void)
{
	test_tasks();
	test_find();
	test_many();
	test_time();
	wait_threads__free(&threads);
	return done_testing();
}
