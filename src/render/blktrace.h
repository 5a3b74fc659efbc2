/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blktrace.h: one event of a request in blktrace's format, 48 bytes plus payload, little-endian:
 * for blkparse and btt. One stream holds all CPUs; each CPU's events are numbered from 1 and must
 * be in order.
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
	BLKTRACE_PASSTHROUGH = 16, /* bypasses the file systems */
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

/* Each returns the number of bytes. */
size_t blktrace__event(unsigned char buf[BLKTRACE_MOST], const struct blktrace_event *event);
/* The name of a process: before its first event. */
size_t blktrace__process(unsigned char buf[BLKTRACE_MOST], uint64_t time_ns, uint32_t pid,
			 const char comm[16]);
/* The wall clock of a moment: before all others. */
size_t blktrace__clock(unsigned char buf[BLKTRACE_MOST], uint64_t time_ns, uint64_t wall_ns);

#endif
