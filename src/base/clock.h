/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.h: what time is it where programs of ours run? bpf_ktime_get_ns() is the machine's
 * monotonic clock. A process in a time namespace (unshare -T) has one that is shifted: what is
 * compared with the kernel's times is read here, with the shift taken back. Costs one
 * clock_gettime().
 */
#ifndef IOSONAR_BASE_CLOCK_H
#define IOSONAR_BASE_CLOCK_H

#include <stdint.h>

/* How much later the namespace's clocks are than the machine's. */
struct clock_offsets {
	int64_t mono_ns, boot_ns;
};

/*
 * Before a run of this machine, while /proc can be read. A negative errno, said: the process is in
 * a time namespace whose offsets it cannot know.
 */
int clock__look(void);
uint64_t clock__mono_ns(void); /* CLOCK_MONOTONIC of the machine */
uint64_t clock__boot_ns(void); /* CLOCK_BOOTTIME of the machine */
uint64_t clock__wall_ns(void); /* CLOCK_REALTIME, which no namespace has of its own */

/* The text of /proc/PID/timens_offsets. What it does not name is 0. */
void clock_offsets__parse(struct clock_offsets *offsets, const char *text);

#endif
