/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wait_commands.h: the commands of the calls that threads are in. Of each call the longest ones are
 * kept, and the number and the time of all. A command arrives before the record of its call, or, if
 * the call did not wait for it, later: then it is of no call. Pure.
 */
#ifndef IOSONAR_ANALYSE_WAIT_COMMANDS_H
#define IOSONAR_ANALYSE_WAIT_COMMANDS_H

#include <stddef.h>
#include <stdint.h>
#include "analyse/wait_busy.h"
#include "wire/waits.h"

enum { WAIT_COMMANDS = 8 };

struct wait_commands {
	uint64_t start_ns; /* of the call */
	uint32_t tid;
	uint64_t nr, bytes;			    /* of all */
	struct wait_command longest[WAIT_COMMANDS]; /* at most nr, in the order of their issue */
};

/* The time of all commands of a call: no moment is in both. */
struct wait_device_time {
	uint64_t flush_ns; /* a flush was under way */
	uint64_t other_ns; /* other commands were, and no flush */
};

struct wait_thread {
	struct wait_commands commands;
	struct wait_busy flushes, all;
};

struct wait_threads {
	struct wait_thread *calls[WAIT_TASKS]; /* by number of the thread; NULL: none yet */
};

/* op: the word for its operation. -ENOMEM */
int wait_threads__add(struct wait_threads *threads, const struct wait_command *command,
		      const char *op);
/* Of the call of this thread that began then; NULL: it has none. */
const struct wait_commands *wait_threads__find(const struct wait_threads *threads, uint32_t tid,
					       uint64_t start_ns);
/* Of the same call: what of the time up to a moment its commands took. */
struct wait_device_time wait_threads__time(const struct wait_threads *threads, uint32_t tid,
					   uint64_t start_ns, uint64_t end_ns);
void wait_threads__free(struct wait_threads *threads); /* what it contains */

/* Elements of `longest`. */
size_t wait_commands__kept(const struct wait_commands *commands);

#endif
