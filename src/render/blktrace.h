/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blktrace.h: an event of a request's way as blktrace writes it, 48 bytes and what follows them,
 * little-endian: for blkparse and btt. One stream holds all CPUs; each CPU's events are numbered
 * from 1, and have to be in order.
 */
#ifndef IOSONAR_RENDER_BLKTRACE_H
#define IOSONAR_RENDER_BLKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum blktrace_what {
	BLKTRACE_QUEUE = 1,
	BLKTRACE_GET = 4,
	BLKTRACE_ISSUE = 7,
	BLKTRACE_COMPLETE = 8,
	BLKTRACE_INSERT = 12,
};

/* What the request does. */
enum blktrace_flag {
	BLKTRACE_WRITE = 1, /* else it reads */
	BLKTRACE_FLUSH = 2,
	BLKTRACE_DISCARD = 4,
	BLKTRACE_FUA = 8,
	BLKTRACE_PASSTHROUGH = 16, /* past the file systems */
};

struct blktrace_event {
	uint64_t time_ns, sector;
	uint32_t bytes, pid;
	uint32_t major, minor;
	uint32_t sequence;
	uint16_t cpu;
	uint16_t err; /* errno, positive */
	uint8_t what, flags;
};

enum { BLKTRACE_MOST = 48 + 16 };

/* Each returns how many bytes there are. */
size_t blktrace__event(unsigned char buf[BLKTRACE_MOST], const struct blktrace_event *event);
/* That a process is called so: before its first event. */
size_t blktrace__process(unsigned char buf[BLKTRACE_MOST], uint64_t time_ns, uint32_t pid,
			 const char comm[16]);
/* The wall clock of a moment: before all others. */
size_t blktrace__clock(unsigned char buf[BLKTRACE_MOST], uint64_t time_ns, uint64_t wall_ns);

#endif
