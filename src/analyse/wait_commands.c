/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/wait_commands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

size_t wait_commands__kept(const struct wait_commands *c)
{
	return c->nr < WAIT_COMMANDS ? (size_t)c->nr : WAIT_COMMANDS;
}

static uint64_t wait_command_took(const struct wait_command *c)
{
	return c->end_ns - c->issue_ns;
}

/* The shortest makes room. Returns how many are left. */
static size_t wait_commands_make_room(struct wait_commands *c)
{
	size_t shortest = 0;

	for (size_t i = 1; i < WAIT_COMMANDS; i++)
		if (wait_command_took(&c->longest[i]) < wait_command_took(&c->longest[shortest]))
			shortest = i;
	memmove(&c->longest[shortest], &c->longest[shortest + 1],
		(WAIT_COMMANDS - 1 - shortest) * sizeof(c->longest[0]));
	return WAIT_COMMANDS - 1;
}

static int wait_commands_is_short(const struct wait_commands *c, const struct wait_command *command)
{
	for (size_t i = 0; i < WAIT_COMMANDS; i++)
		if (wait_command_took(&c->longest[i]) < wait_command_took(command))
			return 0;
	return 1;
}

static void wait_commands_add(struct wait_commands *c, const struct wait_command *command)
{
	size_t at = wait_commands__kept(c);

	c->nr++;
	c->bytes += command->bytes;
	if (at == WAIT_COMMANDS) {
		if (wait_commands_is_short(c, command))
			return;
		at = wait_commands_make_room(c);
	}
	for (; at && c->longest[at - 1].issue_ns > command->issue_ns; at--)
		c->longest[at] = c->longest[at - 1];
	c->longest[at] = *command;
}

static void wait_thread_begin(struct wait_thread *t, const struct wait_command *command)
{
	t->commands.tid = command->tid;
	t->commands.start_ns = command->start_ns;
	t->commands.nr = t->commands.bytes = 0;
	wait_busy__clear(&t->flushes);
	wait_busy__clear(&t->all);
}

int wait_threads__add(struct wait_threads *threads, const struct wait_command *command,
		      const char *op)
{
	struct wait_thread **thread = &threads->calls[command->tid & (WAIT_TASKS - 1)], *t;

	if (!*thread)
		*thread = calloc(1, sizeof(**thread));
	t = *thread;
	if (!t)
		return -ENOMEM;
	if (t->commands.tid != command->tid || t->commands.start_ns != command->start_ns)
		wait_thread_begin(t, command);
	wait_commands_add(&t->commands, command);
	if (!strcmp(op, "flush") && wait_busy__add(&t->flushes, command->issue_ns, command->end_ns))
		return -ENOMEM;
	return wait_busy__add(&t->all, command->issue_ns, command->end_ns);
}

static const struct wait_thread *wait_threads_find(const struct wait_threads *threads, uint32_t tid,
						   uint64_t start_ns)
{
	const struct wait_thread *t = threads->calls[tid & (WAIT_TASKS - 1)];

	return t && t->commands.tid == tid && t->commands.start_ns == start_ns ? t : NULL;
}

const struct wait_commands *wait_threads__find(const struct wait_threads *threads, uint32_t tid,
					       uint64_t start_ns)
{
	const struct wait_thread *t = wait_threads_find(threads, tid, start_ns);

	return t ? &t->commands : NULL;
}

struct wait_device_time wait_threads__time(const struct wait_threads *threads, uint32_t tid,
					   uint64_t start_ns, uint64_t end_ns)
{
	const struct wait_thread *t = wait_threads_find(threads, tid, start_ns);
	struct wait_device_time time = { 0 };

	if (!t)
		return time;
	time.flush_ns = wait_busy__within(&t->flushes, start_ns, end_ns);
	time.other_ns = wait_busy__within(&t->all, start_ns, end_ns) - time.flush_ns;
	return time;
}

static void wait_thread_free(struct wait_thread *t)
{
	if (!t)
		return;
	wait_busy__free(&t->flushes);
	wait_busy__free(&t->all);
	free(t);
}

void wait_threads__free(struct wait_threads *threads)
{
	for (size_t i = 0; i < WAIT_TASKS; i++)
		wait_thread_free(threads->calls[i]);
}
