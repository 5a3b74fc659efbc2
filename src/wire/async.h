/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * async.h: what the programs of `waits --async` and their collector agree on. One record per
 * request of io_uring or libaio, sent when its completion is posted: the moments at which it went
 * from one step to the next.
 */
#ifndef IOSONAR_WIRE_ASYNC_H
#define IOSONAR_WIRE_ASYNC_H

#include <linux/types.h>

enum {
	ASYNC_REQUESTS = 1 << 14, /* in flight at a time */
	ASYNC_BIOS = 1 << 14,	  /* likewise, of these requests */
	ASYNC_ISSUES = 4096,	  /* threads that issue a request at a time */
	ASYNC_COMM_LEN = 16,
};

/* Operations of libaio, in the numbers of io_uring's, which are far from these. */
enum { ASYNC_AIO_READ = 254, ASYNC_AIO_WRITE = 255 };

enum async_flag {
	ASYNC_PUNTED = 1 << 0, /* given to a worker (io-wq) */
	ASYNC_POLLED = 1 << 1, /* IORING_SETUP_IOPOLL */
	ASYNC_SQPOLL = 1 << 2, /* IORING_SETUP_SQPOLL: a thread of the kernel submitted it */
	ASYNC_LINKED = 1 << 3, /* it had to wait for an earlier request */
};

/* All times are CLOCK_MONOTONIC; 0: it did not happen, or is not known. */
struct async_record {
	__u64 submit_ns; /* the kernel took it from the ring */
	__u64 start_ns;	 /* it was issued for the first time, */
	__u64 issue_ns;	 /* for the last time, */
	__u64 return_ns; /* and that returned */
	__u64 punt_ns;	 /* given to a worker for the last time */
	__u64 worker_ns; /* after that, a worker began */
	__u64 queued_ns; /* its first bio; or its command, passed to a driver, was issued */
	__u64 ended_ns;	 /* its last bio, or its command */
	__u64 post_ns;	 /* its completion is in the ring */
	__u64 user_data;
	__u64 inode; /* wire/file_id.h; 0: it has no file, or none of a disk */
	__u64 cgroup;
	__u32 dev;
	__u32 pid, tid;	   /* that submitted it */
	__u32 bios, ended; /* queued, and of these ended; a command is one */
	__u16 nth;
	__u8 opcode; /* IORING_OP_*, or ASYNC_AIO_* */
	__u8 flags;  /* mask of enum async_flag */
	char comm[ASYNC_COMM_LEN];
};
_Static_assert(sizeof(struct async_record) == 136, "no holes");

/* Where an event has the request among its arguments. */
enum async_at { ASYNC_FIRST, ASYNC_SECOND, ASYNC_THIRD };

struct async_settings {
	__u64 filter_cgroup;
	__u64 filter_inode;
	__u64 filter_comm[ASYNC_COMM_LEN / 8]; /* 0: none */
	__u64 min_ns;			       /* shorter requests are counted only */
	__u32 filter_cgroup_level;
	__u32 filter_pid;
	__u32 self;
	__u32 filter_dev;
	__u8 filter_file;
	__u8 submit_at, punt_at, link_at, defer_at; /* enum async_at */
	__u8 complete_is_named; /* io_uring_complete has ring and user_data, not the request */
	__u8 bio_is_second;	/* of the arguments of block_bio_queue */
	__u8 pad;
};

/* Of one CPU; they only grow. */
struct async_counters {
	__u64 submitted;
	__u64 silent;  /* of these, without a completion if they succeed: not followed */
	__u64 refused; /* of these, by libaio: io_submit failed */
	__u64 ended;
	__u64 elsewhere; /* of these, of another file than --file */
	__u64 shorter;	 /* than min_ns */
	__u64 sent;
	__u64 lost;	/* the ring was full */
	__u64 no_room;	/* no place for one more request */
	__u64 twins;	/* in flight with the same user_data, and the kernel tells nothing else */
	__u64 unclosed; /* the completion was not seen */
	__u64 no_issue; /* issues not followed: no place for one more thread */
	__u64 no_bio;	/* bios not followed */
	__u64 no_file;	/* no place for a name */
};

#endif
