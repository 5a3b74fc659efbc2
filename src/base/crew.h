/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crew.h: work for several CPUs: forked copies of this process, each with a pipe to it. Processes
 * and not threads: a copy sees everything as it was at the fork, and cannot disturb the run. A copy
 * prints nothing, takes no signals, and ends with its parent. The caller decides who does what.
 */
#ifndef IOSONAR_BASE_CREW_H
#define IOSONAR_BASE_CREW_H

#include <stddef.h>
#include <sys/types.h>

enum { CREW_MOST = 8 };

struct crew {
	unsigned int nr;
	int fds[CREW_MOST]; /* where each sends to */
	pid_t pids[CREW_MOST];
};

/* What copy `number` does; its result is its exit status. It sends by crew__send(fd, ...). */
typedef int (*crew_fn)(void *arg, unsigned int number, int fd);

/* As many as this process has CPUs, at most CREW_MOST. */
unsigned int crew__default(void);
/* Some or none may start: crew->nr says how many did. */
void crew__start(struct crew *crew, unsigned int nr, crew_fn fn, void *arg);
/* 0, or -errno: the run has ended. */
int crew__send(int fd, const void *bytes, size_t nr);
/* Exactly nr bytes. -EPIPE: it ended before, said; -errno, said. */
int crew__receive(struct crew *crew, unsigned int number, void *to, size_t nr);
/* Ends all, whatever they do. */
void crew__end(struct crew *crew);

#endif
