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

int wait_threads__add(struct wait_threads *threads, const struct wait_command *command)
{
	struct wait_commands **call = &threads->calls[command->tid & (WAIT_TASKS - 1)], *c;

	if (!*call)
		*call = calloc(1, sizeof(**call));
	c = *call;
	if (!c)
		return -ENOMEM;
	if (c->tid != command->tid || c->start_ns != command->start_ns) {
		c->tid = command->tid;
		c->start_ns = command->start_ns;
		c->nr = c->bytes = 0;
	}
	wait_commands_add(c, command);
	return 0;
}

const struct wait_commands *wait_threads__find(const struct wait_threads *threads, uint32_t tid,
					       uint64_t start_ns)
{
	const struct wait_commands *c = threads->calls[tid & (WAIT_TASKS - 1)];

	return c && c->tid == tid && c->start_ns == start_ns ? c : NULL;
}

void wait_threads__free(struct wait_threads *threads)
{
	for (size_t i = 0; i < WAIT_TASKS; i++)
		free(threads->calls[i]);
}
