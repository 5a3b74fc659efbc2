/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop.h: one epoll loop over file descriptors, timers, signals and a child. Callbacks run one
 * after another; nothing sleeps and no signal handler sets a flag. SIGINT, SIGTERM and SIGHUP end
 * the loop; SIGPIPE is ignored, a closed pipe is seen where it is written to.
 */
#ifndef IOSONAR_BASE_LOOP_H
#define IOSONAR_BASE_LOOP_H

#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>

struct loop;
/* 0 goes on; a negative errno ends the loop and is its result. */
typedef int (*loop_fn)(void *arg);

struct loop *loop__new(void);	    /* NULL and errno; blocks the signals it takes */
void loop__free(struct loop *loop); /* ends a child that still runs (SIGTERM), restores signals */

int loop__add_fd(struct loop *loop, int fd, loop_fn fn, void *arg);
int loop__every(struct loop *loop, uint64_t ns, loop_fn fn, void *arg); /* on a fixed grid */
int loop__after(struct loop *loop, uint64_t ns, loop_fn fn, void *arg); /* once */
/* Calls fn instead of the signal's default action, until the loop is freed. */
int loop__on_signal(struct loop *loop, int signal, loop_fn fn, void *arg);
/* Forks argv with the signal mask restored, waiting at a gate until loop__run. Its end ends the
 * loop. */
int loop__start_child(struct loop *loop, char **argv);
/* The child's exit status (128 + signal if killed), 0 if there was none. -ENOENT etc. when exec
 * failed */
int loop__child_status(const struct loop *loop);
pid_t loop__child_pid(const struct loop *loop); /* 0: there is none, or it has ended */

int loop__run(struct loop *loop); /* until loop__stop, a signal, the child's end, or an error */
void loop__stop(struct loop *loop);
bool loop__is_interrupted(struct loop *loop); /* by a signal, also while it does not run */

#endif
