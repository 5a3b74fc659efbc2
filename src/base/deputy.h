/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * deputy.h: a process that works on files for its parent. A run that measures drops its privileges,
 * and without them it cannot change another user's directory, which sudo often writes to. The
 * deputy is forked before that; it keeps only the capabilities that concern files and only the
 * descriptors that it is told to keep. It waits for orders, which are numbers, and ends with its
 * parent.
 */
#ifndef IOSONAR_BASE_DEPUTY_H
#define IOSONAR_BASE_DEPUTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { DEPUTY_FILES = 2 };		   /* most descriptors it can keep */
#define DEPUTY_LAST_ORDER (UINT32_MAX - 1) /* the highest number that is an order */

struct deputy_answer {
	int err;     /* 0 or a negative errno */
	int warning; /* negative errno: the order was carried out, but not exactly as asked */
	int fd;	     /* handed over to the parent; -1: none */
};

/* The deputy's work. All of it runs in the deputy. */
struct deputy_work {
	const char *name;		  /* of the process, at most 15 characters */
	int files[DEPUTY_FILES];	  /* descriptors that stay open, */
	size_t nr_files;		  /* number of them */
	bool has_no_rights;		  /* it keeps no capability, not even those for files */
	void (*confine)(const void *arg); /* gives up what the work does not need; may be NULL */
	/* `answer` is preset to "done, no descriptor". A descriptor is closed after it was sent. */
	void (*obey)(const void *arg, uint32_t order, struct deputy_answer *answer);
	const void *arg;
};

struct deputy {
	pid_t pid; /* 0: no deputy */
	int fd;
};

/* 0 or a negative errno, not logged. */
int deputy__fork(struct deputy *deputy, const struct deputy_work *work);
/* The two halves of deputy__ask: orders are answered in their order. -EAGAIN: no answer yet. */
int deputy__order(const struct deputy *deputy, uint32_t order);
int deputy__answer(const struct deputy *deputy, struct deputy_answer *answer);
int deputy__try_answer(const struct deputy *deputy, struct deputy_answer *answer);
/* Needs only write and recvmsg. 0, or -ECHILD: the deputy is gone, and `answer` has no meaning. */
int deputy__ask(const struct deputy *deputy, uint32_t order, struct deputy_answer *answer);
/* Without a deputy it does nothing. */
void deputy__end(struct deputy *deputy);

/* Bytes over a socket between processes, with a descriptor beside them; fd -1: none. False: the
 * other end is closed. Receiving needs only recvmsg. */
bool deputy__send(int socket, void *bytes, size_t nr, int fd);
bool deputy__receive(int socket, void *bytes, size_t nr, int *fd);

#endif
