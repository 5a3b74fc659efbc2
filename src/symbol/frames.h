/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.h: the names of a stack's frames, innermost first, as the programs took it: of the kernel
 * and of the process. Our own hooks, which stand before the first frame of interest, are left out.
 */
#ifndef IOSONAR_SYMBOL_FRAMES_H
#define IOSONAR_SYMBOL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "wire/io_stages.h"

struct frames;

/* Whose names will be asked for. user: it forks, so before anything is opened. NULL: no memory. */
struct frames *frames__new(bool kernel, bool user);
/* After the programs were attached, before privileges are dropped. Says what cannot be named. */
void frames__prepare(struct frames *frames);
void frames__free(struct frames *frames);

/*
 * "vfs_read;ksys_read;…", hostile, malloced; NULL if there is no frame, or no memory. pid: whose it
 * is, for a stack in user space.
 */
char *frames__text(struct frames *frames, const struct io_stack *stack, uint32_t pid);

/* The innermost function of such a text, and the text behind it; NULL: there is no more. */
enum { FRAME_NAME = 512 };
const char *frames__next(const char *text, char name[FRAME_NAME]);
/* For people: a line for each, below what the stack is of. text NULL: nothing. */
void frames__put(FILE *out, const char *text);

#endif
