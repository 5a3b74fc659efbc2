/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io_stages.h: where did a command's time go, and who asked for it? Follows a record directly where
 * a view wants more than the command itself. A time of 0 was not seen: this kernel has no such
 * event, or the command did not pass it.
 */
#ifndef IOSONAR_WIRE_IO_STAGES_H
#define IOSONAR_WIRE_IO_STAGES_H

#include "wire/file_id.h"
#include "wire/io_record.h"

/*
 * A wait before the request that the kernel names, as it began: the distance from the submission
 * to its begin in ns << 8 | its cause. It lasts until the next one begins, or until the I/O has a
 * request. IO_WAIT_HELD began before the submission and ended with it.
 */
enum io_wait {
	IO_WAIT_NONE,
	IO_WAIT_HELD,	   /* held back by io.max: blk-throttle */
	IO_WAIT_FROZEN,	   /* the queue was frozen, or its device suspended */
	IO_WAIT_IOCOST,	   /* io.cost */
	IO_WAIT_IOLATENCY, /* io.latency */
	IO_WAIT_WBT,	   /* writeback throttling */
	IO_WAIT_TAG,	   /* all tags were in use */
	NR_IO_WAITS,
};
enum { IO_WAITS = 2 }; /* that a record names; the time of a third is in the one before it */

static inline enum io_wait io_wait__cause(__u64 wait)
{
	return (wait & 0xff) < NR_IO_WAITS ? (enum io_wait)(wait & 0xff) : IO_WAIT_NONE;
}

static inline __u64 io_wait__ns(__u64 wait)
{
	return wait >> 8;
}

struct io_stages {
	__u64 queued_ns;   /* its first bio was submitted: block_bio_queue */
	__u64 got_ns;	   /* that bio got a request: block_getrq */
	__u64 inserted_ns; /* the request went to the scheduler: block_rq_insert */
	/* For a bio that no command carried: the first bio that a volume made of it was
	 * submitted, the last one ended. Else: */
	__u64 issued_ns; /* NVMe: the last attempt went to the driver's queue: block_rq_issue */
	__u64 reaped_ns; /* NVMe over PCI: the driver found its completion: nvme_sq */
	__u64 done_ns; /* NVMe, or after a flush: the request and its bios ended: block_rq_complete
			*/
	__u64 flushed_ns;   /* a write that waited for a flush before it: when the flush ended */
	__u64 written_ns;   /* a write with a flush after it: when its data were written */
	__u64 cgroup;	    /* of the owner; 0: not known */
	__u64 inode;	    /* of the file; 0: none, or not known */
	__u32 file_dev;	    /* of its file system */
	__u32 tid;	    /* thread of the owner */
	__u32 kernel_stack; /* where the bio was submitted: a number in the table of stacks; 0: none
			     */
	__u32 user_stack;
	__u32 depth; /* commands in flight on this device when it was built, itself among them; 0:
			not counted */
	__u16 cpu;   /* that built the command */
	__u16 nr_bios;
	__u8 file_nth; /* among the files that had this inode, from 0; or FILE_UNNAMED */
	__u8 pad[7];
	__u64 waits[IO_WAITS]; /* see enum io_wait, in the order of their begin; 0: none */
};
_Static_assert(sizeof(struct io_stages) == 128, "no holes");

/* The largest record. */
struct record_with_stages {
	struct io_record record;
	struct io_stages stages;
};

/*
 * A command's stages in times alone, of a first attempt that succeeded: a record with stages is
 * made of it where no view needs more. A cell of a ring per CPU that user space maps.
 */
struct io_ladder {
	__u64 queued_ns, got_ns, inserted_ns, issued_ns, reaped_ns, done_ns; /* as above */
	__u64 first_ns, end_ns;						     /* as in a record */
	/* As in a slot, from its key_nr on. */
	__u16 key_nr;
	__u8 kind, op, sized_shift, flags, attempts, state;
	__u32 bytes;
	__u32 device;
	__u64 pad[6];
};
_Static_assert(sizeof(struct io_ladder) == 128, "a power of two");

/* A record without stages takes a cell, too. */
_Static_assert(sizeof(struct io_record) <= sizeof(struct io_ladder), "as large as a cell");

/*
 * The ring's cells follow. The programs have filled those before head, user space has read those
 * before tail; the claim is held while a cell is filled.
 */
struct io_ladders {
	__u32 claim;
	__u32 pad[13];
	__u64 head;
	__u64 tail;
	__u64 pad2[7];
};
_Static_assert(sizeof(struct io_ladders) == sizeof(struct io_ladder), "one cell more");

/* A stack, sent once, before the first record that has its number. */
enum { STACK_FRAMES = 127 }; /* as many as a kernel takes by default */

struct io_stack {
	__u64 frames[STACK_FRAMES]; /* innermost first */
	__u32 number;
	__u16 nr;
	__u8 user;
	__u8 is_truncated; /* frames are missing at its outer end */
};
_Static_assert(sizeof(struct io_stack) == 1024, "no holes");

static inline __u32 io_record__size(const struct io_record *record)
{
	return record->flags & RECORD_STAGES ? sizeof(*record) + sizeof(struct io_stages)
					     : sizeof(*record);
}

/* NULL: it has no stages. */
static inline const struct io_stages *io_record__stages(const struct io_record *record)
{
	return record->flags & RECORD_STAGES ? (const struct io_stages *)(record + 1) : 0;
}

#endif
