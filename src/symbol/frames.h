/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.h: the names of a stack's frames, innermost first, as the programs took it, for the kernel
 * and for processes. Our own hooks, which come before the first frame of interest, are left out.
 */
#ifndef IOSONAR_SYMBOL_FRAMES_H
#define IOSONAR_SYMBOL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "wire/io_stages.h"

struct frames;
struct symbols;

/* Which names will be needed. user forks, so call it before anything is opened. NULL: no memory. */
struct frames *frames__new(bool kernel, bool user);
/* Call after programs are attached, before privileges are dropped. Logs what cannot be named. */
void frames__prepare(struct frames *frames);
void frames__free(struct frames *frames);

/*
 * "vfs_read;ksys_read;…", hostile, malloced; NULL: no frame, or no memory. pid: the process of a
 * user stack. A ';' in a name, which would end it, becomes ':'. A truncated stack ends with
 * "[truncated]".
 */
char *frames__text(struct frames *frames, const struct io_stack *stack, uint32_t pid);

bool frames__is_truncated(const char *text); /* NULL: no */
struct symbols *frames__symbols(struct frames *frames);

/* Copies the innermost function of the text; returns the text after it; NULL: there is no more. */
enum { FRAME_NAME = 512 };
const char *frames__next(const char *text, char name[FRAME_NAME]);
/* For people: one line per frame, below what the stack belongs to. text NULL: prints nothing. */
void frames__put(FILE *out, const char *text);

#endif
