/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waits.h: what the programs of `waits` and their collector agree on. One record per call in which
 * a thread waited: its time on a CPU, its time in a run queue, and its sleeps, by the place in the
 * kernel where it slept. These add up to end_ns - start_ns, exactly.
 */
#ifndef IOSONAR_WIRE_WAITS_H
#define IOSONAR_WIRE_WAITS_H

#include <linux/types.h>

enum {
	WAIT_TASKS = 1 << 15, /* threads that can be in a call at a time, by their number */
	WAIT_SLEEPS = 12,     /* different places of one call */
	WAIT_STACKS = 4096,
	WAIT_COMM_LEN = 16,
	WAIT_HELD = 8192, /* bios that limits hold back at a time */
};

enum wait_call {
	WAIT_READ,
	WAIT_WRITE,
	WAIT_FSYNC,
	WAIT_SYNCWRITE, /* write with O_SYNC, O_DSYNC, RWF_SYNC or RWF_DSYNC */
	WAIT_FDATASYNC, /* fdatasync(2), msync(2) */
	WAIT_SYNCRANGE, /* sync_file_range(2) */
	WAIT_FAULT,
	NR_WAIT_CALLS,
};

/* What is known at a sleep about the I/O of the thread in this call. */
enum wait_io {
	WAIT_IO_NONE, /* it has submitted none */
	WAIT_IO_OWN,
	WAIT_IO_HELD, /* a limit of its cgroup holds back some of it (io.max) */
};

/* Sleeps of one call at one place. */
struct wait_sleep {
	__u64 ns;    /* until it was woken */
	__u32 stack; /* its number; 0: not known, or one place too many */
	__u16 nr;
	__u8 io; /* enum wait_io */
	__u8 pad;
};

struct wait_record {
	__u64 start_ns, end_ns;
	__u64 cpu_ns;	   /* running */
	__u64 runnable_ns; /* woken or preempted, but not running */
	__u64 inode;	   /* wire/file_id.h */
	__u64 cgroup;
	__u32 dev;
	__u32 pid, tid;
	__u32 bios; /* that it submitted */
	__u16 nth;
	__u8 call; /* enum wait_call */
	__u8 nr_sleeps;
	__u32 pad;
	char comm[WAIT_COMM_LEN];
	struct wait_sleep sleeps[WAIT_SLEEPS];
};
_Static_assert(sizeof(struct wait_record) == 88 + 16 * WAIT_SLEEPS, "no holes");

struct wait_settings {
	__u64 filter_cgroup;
	__u64 filter_inode;
	__u64 filter_comm[WAIT_COMM_LEN / 8]; /* 0: none */
	__u64 min_ns;			      /* shorter calls are counted only */
	__u32 filter_cgroup_level;
	__u32 filter_pid;
	__u32 self; /* our own process: not counted */
	__u32 filter_dev;
	__u32 calls; /* mask of enum wait_call */
	__u8 filter_file;
	__u8 bio_is_second; /* of the arguments of block_bio_queue */
	__u8 pad[2];
};

/* Of one CPU; they only grow. */
struct wait_counters {
	__u64 begun;
	__u64 ended;
	__u64 waited;	/* of these, with a wait */
	__u64 sent;	/* of these, not shorter than min_ns */
	__u64 lost;	/* the ring was full */
	__u64 no_room;	/* the thread's cell was another's */
	__u64 unclosed; /* the end of a call was not seen */
	__u64 no_stack; /* sleeps whose place is not known */
	__u64 no_file;	/* no place for a name */
	__u64 no_held;	/* bios that may be held back, and no place for them */
};

#endif
