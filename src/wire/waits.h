/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * waits.h: what the programs of `waits` and their collector agree on. One record per call in which
 * a thread waited: its time on a CPU, its time in a run queue, and its sleeps, by the place in the
 * kernel where it slept. These add up to end_ns - start_ns, exactly.
 */
#ifndef IOSONAR_WIRE_WAITS_H
#define IOSONAR_WIRE_WAITS_H

#include <linux/types.h>
#include "wire/known.h"

enum {
	WAIT_TASKS = 1 << 15, /* threads that can be in a call at a time, by their number */
	WAIT_SLEEPS = 12,     /* different places of one call */
	WAIT_STACKS = 4096,
	WAIT_COMM_LEN = 16,
	WAIT_FS_LEN = 16,    /* of the type of a file system; longer ones are cut */
	WAIT_HELD = 8192,    /* bios that limits hold back at a time */
	WAIT_BIOS = 1 << 14, /* bios in flight of watched calls */
	WAIT_FLUSHES = 1024,
	WAIT_DISK_LEN = 32,
	WAIT_COMMITS = 256,   /* journals that commit at a time */
	WAIT_SHARES = 1024,   /* tasks in transactions that are not committed */
	WAIT_DIRTIERS = 8192, /* files whose last writer is known */
	WAIT_WRITERS = 1024,
	WAIT_SYSTEM_CALLS = 512, /* numbers that are looked up */
};

enum wait_call {
	WAIT_READ,
	WAIT_WRITE,
	WAIT_FSYNC,
	WAIT_SYNCWRITE, /* write with O_SYNC, O_DSYNC, RWF_SYNC or RWF_DSYNC */
	WAIT_FDATASYNC, /* fdatasync(2), msync(2) */
	WAIT_SYNCRANGE, /* sync_file_range(2) */
	WAIT_FAULT,
	WAIT_OPEN,
	NR_WAIT_CALLS,
};

/* What a system call is, where functions cannot be probed. */
enum wait_system_call {
	SYSTEM_NONE, /* not followed */
	SYSTEM_READ,
	SYSTEM_WRITE,
	SYSTEM_PWRITEV2, /* its sixth argument has flags */
	SYSTEM_FSYNC,
	SYSTEM_FDATASYNC,
	SYSTEM_SYNC_RANGE,
	SYSTEM_OPEN,
};

/* What is known at a sleep about the I/O of the thread: of this call, or its read-ahead. */
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
	__u64 inode;	   /* wire/file_id.h; 0 with device 0: an open that failed */
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

/*
 * A command that was made of bios of a call, or the flush that one of them had to wait for. It is
 * sent before the record of the call, unless the call does not wait for it.
 */
struct wait_command {
	__u64 start_ns; /* of the call of thread tid */
	__u64 issue_ns, end_ns;
	__u64 sector;
	__u32 bytes;
	__u32 tid;
	__u8 op; /* REQ_OP_* */
	__u8 pad[7];
	char disk[WAIT_DISK_LEN];
};
_Static_assert(sizeof(struct wait_command) == 80, "no holes");

/*
 * A commit of a journal, sent before the records of the calls that waited for it; and before it
 * what each task had in it: one for its handles, one for its data.
 */
struct wait_commit {
	__u64 start_ns;
	__u64 flushing_ns; /* the last open handle has ended; data is written */
	__u64 logging_ns;  /* the log is written */
	__u64 end_ns;
	__u32 dev;
	__u32 transaction;
	__u32 tid; /* of the journal's thread */
	__u32 pad;
};
_Static_assert(sizeof(struct wait_commit) == 48, "no holes");

struct wait_who {
	__u64 start_ns; /* of the commit of thread commit_tid */
	__u64 last_ns;	/* when its last handle ended; 0: none */
	__u64 bytes;	/* of data that it dirtied and the commit wrote */
	__u32 commit_tid;
	__u32 tid, pid;
	__u32 handles;
	__u32 blocks; /* of metadata that it changed */
	__u32 pad;
	char comm[WAIT_COMM_LEN];
};
_Static_assert(sizeof(struct wait_who) == 64, "no holes");

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
	__u8 bio_is_second;	/* of the arguments of block_bio_queue */
	__u8 request_is_second; /* of those of block_rq_issue */
	__u8 commands;		/* are followed */
	__u32 preflush_flag, fua_flag;
	__u32 cast_type; /* a struct of the kernel that begins with an integer; 0: no such call */
};

/* Of one CPU; they only grow. */
struct wait_counters {
	__u64 begun;
	__u64 unwanted; /* of these, opened something that is not followed */
	__u64 ended;
	__u64 waited;	/* of these, with a wait */
	__u64 sent;	/* of these, not shorter than min_ns */
	__u64 lost;	/* the ring was full */
	__u64 no_room;	/* the thread's cell was another's */
	__u64 unclosed; /* the end of a call was not seen */
	__u64 no_stack; /* sleeps whose place is not known */
	__u64 no_file;	/* no place for a name */
	__u64 no_held;	/* bios that may be held back, and no place for them */
	__u64 lost_commands;
	__u64 lost_shares; /* of tasks in commits */
};

#endif
