/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.h: the names of a stack's frames, innermost first, as the programs took it: of the kernel
 * and of the process. Our own hooks, which stand before the first frame of interest, are left out.
 */
#ifndef IOSONAR_FRAMES_H
#define IOSONAR_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "wire/stage.h"

struct frames;

/* user: names of processes, too; then it forks, so before anything is opened. NULL: no memory. */
struct frames *frames__new(bool user);
/* After the programs were attached, before privileges are dropped. Says what cannot be named. */
void frames__prepare(struct frames *frames);
void frames__free(struct frames *frames);

/* Looks at a process before it ends, whose frames will be named later. */
void frames__see(struct frames *frames, uint32_t pid);

struct frame {
	const char *name; /* hostile; kept until frames__free */
	uint64_t address;
};
/* Returns how many. stack may be NULL: none. pid: whose it is, for a stack in user space. */
size_t frames__name(struct frames *frames, const struct io_stack *stack, uint32_t pid,
		    struct frame named[STACK_FRAMES]);
/* "vfs_read;ksys_read;…": malloced; NULL if there is no frame, or no memory. */
char *frames__text(struct frames *frames, const struct io_stack *stack, uint32_t pid);

#endif
