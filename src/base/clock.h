/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clock.h: what time is it on the clock of our BPF programs? bpf_ktime_get_ns() reads the machine's
 * monotonic clock. A process in a time namespace (unshare -T) sees a shifted clock: times to
 * compare with the kernel's are read here, with the shift removed. Costs one clock_gettime().
 */
#ifndef IOSONAR_BASE_CLOCK_H
#define IOSONAR_BASE_CLOCK_H

#include <stdint.h>

/* How far the namespace's clocks are ahead of the machine's. */
struct clock_offsets {
	int64_t mono_ns, boot_ns;
};

/*
 * Call before a live run, while /proc can be read. A negative errno, logged: the process is in a
 * time namespace and its offsets are unknown.
 */
int clock__look(void);
uint64_t clock__mono_ns(void); /* CLOCK_MONOTONIC of the machine */
uint64_t clock__boot_ns(void); /* CLOCK_BOOTTIME of the machine */
uint64_t clock__wall_ns(void); /* CLOCK_REALTIME, which namespaces do not shift */
uint64_t clock__cpu_ns(void);  /* the CPU time of this process */

/* Parses the text of /proc/PID/timens_offsets. A clock that it does not name has offset 0. */
void clock_offsets__parse(struct clock_offsets *offsets, const char *text);

#endif
