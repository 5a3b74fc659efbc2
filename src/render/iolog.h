/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iolog.h: a log that fio replays, version 3: file, action, offset, length, and time in us. Files
 * are added first and closed last; actions come in order of time. Paths are written unchanged:
 * job__path makes one that fio reads as one word.
 */
#ifndef IOSONAR_RENDER_IOLOG_H
#define IOSONAR_RENDER_IOLOG_H

#include <stdint.h>
#include <stdio.h>

enum iolog_action { IOLOG_READ, IOLOG_WRITE, IOLOG_TRIM, IOLOG_SYNC, NR_IOLOG_ACTIONS };

/* The action for a block operation's word, "discard"; NR_IOLOG_ACTIONS: fio has none. */
enum iolog_action iolog__action(const char *op);

/* fio forgets all times if the first action is at 0. */
enum { IOLOG_FIRST_US = 1 };

struct iolog_io {
	uint64_t time_us;
	const char *path;
	enum iolog_action action;
	uint64_t offset_bytes, bytes;
};

void iolog__begin(FILE *out);
void iolog__open(FILE *out, const char *path);
void iolog__io(FILE *out, const struct iolog_io *io);
void iolog__close(FILE *out, const char *path, uint64_t time_us);

#endif
