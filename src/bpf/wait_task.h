/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait_task.h: the cell of a thread that is in a watched call, found by the thread's number, and
 * the counters. A cell has one writer: the program that runs in its thread, or at its wake-up.
 */
#ifndef IOSONAR_BPF_WAIT_TASK_H
#define IOSONAR_BPF_WAIT_TASK_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "bpf/cell.h"
#include "wire/waits.h"

/*
 * Where the thread is. UNSURE: its call begins or ends at this moment, and our program may itself
 * be preempted: sched_switch leaves the cell alone.
 */
enum wait_state { UNSURE, ON_CPU, SLEEPS, RUNNABLE };

struct wait_task {
	__u64 since_ns, woken_ns;
	__u64 address; /* of the inode */
	__u32 stack;   /* of the sleep under way */
	__u8 state;
	__u8 io; /* enum wait_io, of the sleep under way */
	__u8 by; /* enum wait_function: where the call began, and will end */
	__u8 pad;
	/* Its bios that a limit may hold back: the thread alone counts those held. */
	__u64 released_ns;
	__u64 bio;     /* the limit decides about it, between two programs */
	__u64 context; /* of sched_switch, as a number */
	__u32 nr_held, nr_released;
	__u32 claim;
	/* Bios of its reads that it has not slept for: those of its last call with bios; others. */
	__u32 nr_ahead, nr_before;
	__u32 pad2;
	__u64 ahead_of; /* the inode */
	struct wait_record record;
};

const volatile struct wait_settings settings = { 0 };

TABLE(wait_tasks, struct wait_task, WAIT_TASKS);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} wait_records SEC(".maps");

/* The number + 1 of the thread that has the cell; 0: it is free. Beside the cells, because every
 * switch of any task asks here: an address that is known at load time costs no look-up. */
__u32 wait_owners[WAIT_TASKS] = { 0 };

TABLE(wait_counts, struct wait_counters, 1); /* one for each CPU */

inline_always __u32 *owner_of(__u32 tid)
{
	return &wait_owners[tid & (WAIT_TASKS - 1)];
}

/* Without the asm the compiler has one index for owner and cell, stores it as a key before it is
 * needed, and the verifier forgets its range. */
inline_always struct wait_task *cell_of(__u32 tid)
{
	__u32 at;

	asm volatile("" : "+r"(tid));
	at = tid & (WAIT_TASKS - 1);
	return bpf_map_lookup_elem(&wait_tasks, &at);
}

inline_always struct wait_task *task_of(__u32 tid)
{
	return fresh(*owner_of(tid)) == tid + 1 ? cell_of(tid) : 0;
}

inline_always struct wait_counters *counters(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&wait_counts, &cpu);
}

#define count_in(c, what)                    \
	do {                                 \
		if (c)                       \
			count_up((c)->what); \
	} while (0)

#define count(what)                                    \
	do {                                           \
		struct wait_counters *at = counters(); \
		count_in(at, what);                    \
	} while (0)

inline_always __u64 later(__u64 now, __u64 since)
{
	return now > since ? now : since;
}

#endif
