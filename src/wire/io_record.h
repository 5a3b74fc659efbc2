/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io_record.h: one command, from its first issue to its end: what programs send through a ring per
 * CPU, what a capture keeps, what every view of single commands reads. It carries first issue, last
 * issue and end, so that later views need no other record.
 */
#ifndef IOSONAR_WIRE_IO_RECORD_H
#define IOSONAR_WIRE_IO_RECORD_H

#include <linux/types.h>

enum record_what {
	RECORD_END = 0,	      /* the command ended */
	RECORD_SUBMIT = 1,    /* --split: it was built, with troubles each attempt; last_ns is now,
				 end_ns, status and result are 0 */
	RECORD_BIO = 2,	      /* a bio ended; first_ns and last_ns are when it was submitted */
	RECORD_ATTEMPT = 3,   /* an attempt failed with this status at end_ns; another follows */
	RECORD_CANCELLED = 4, /* the driver stopped waiting; the command's end follows */
	RECORD_TIMEOUT = 5,   /* the driver's wait timed out at end_ns; it is still in flight */
	RECORD_EVENT = 6, /* not a command: op is an enum record_event, cdw10[0] its value, end_ns
			     its time */
};

/* What happens to controllers and disks. */
enum record_event {
	EVENT_ASYNC = 1,     /* an asynchronous event of its controller: completion dword 0 */
	EVENT_STATE = 2,     /* the controller's new state, as the kernel numbers them */
	EVENT_TIMEOUT = 3,   /* the driver waited too long for this command */
	EVENT_GONE = 4,	     /* it was removed */
	EVENT_APPEARED = 5,  /* it is new */
	EVENT_CONNECTED = 6, /* the controller was reset and works again */
};

enum { RECORD_NO_DEVICE = 0xffff };

enum record_flag {
	RECORD_PASSTHROUGH = 1, /* an ioctl or io_uring sent it past the block layer */
	RECORD_USER = 2,	/* and a user sent it, not the driver itself */
	RECORD_POLLED = 2,	/* the same bit without PASSTHROUGH: its sender polls for its end */
	RECORD_METADATA = 4,	/* it carries metadata */
	RECORD_NO_STATUS = 8,	/* this kernel hides the status: 0 or "failed" only */
	RECORD_FUA = 16,	/* other disks: to stable storage; NVMe has it in CDW12 */
	RECORD_STAGES = 32,	/* a struct io_stages follows: wire/io_stages.h */
	RECORD_OWNED = 64,	/* pid and comm are of the task that submitted the first bio */
	RECORD_TROUBLED = 128,	/* it was handed back before the device saw it, or cancelled */
};

/* A status as the programs send it; user space converts the second kind to errnos. */
enum {
	NVME_HOST_ABORTED = 0x371, /* command aborted by host */
	NVME_DNR = 0x4000,	   /* do not retry */
	BLOCK_EIO = 5,
	BLOCK_STATUS = 0x8000, /* a blk_status_t follows */
};

struct io_record {
	__u64 first_ns; /* CLOCK_MONOTONIC */
	__u64 last_ns;	/* issue of the attempt that ended it */
	__u64 end_ns;
	__u64 result;	/* NVMe: completion queue entry, dwords 0 and 1; 0 if it failed. For a bio
			   that a volume made: when the original bio was submitted */
	__u32 cdw10[6]; /* NVMe: command dwords 10 to 15; other disks: first sector in [0], [1] */
	__u32 nsid;	/* NVMe */
	__u32 bytes;
	__u32 pid; /* task that built the command, at its first attempt */
	__u32 seq; /* per CPU, taken before the ring was asked: a gap is a loss */
	char comm[16];
	__u16 device;	/* number in the device table */
	__u16 qid;	/* NVMe: 0 is the admin queue; other disks: hardware queue */
	__u16 cid;	/* NVMe: as sent, with its generation; of the last attempt so far */
	__u16 status;	/* NVMe: status field without phase; other disks: errno, positive */
	__u16 cpu;	/* that sent this record */
	__u8 kind, op;	/* enum io_kind and its number */
	__u8 cmd_flags; /* NVMe: fused, PRP or SGL; 0 as long as no program sees them before the
			   driver sets them */
	__u8 flags;	/* enum record_flag */
	__u8 attempts;	/* 1: the first attempt ended it */
	__u8 what;	/* enum record_what */
};
_Static_assert(sizeof(struct io_record) == 104, "no holes");

static inline _Bool io_record__is_polled(const struct io_record *record)
{
	return (record->flags & (RECORD_PASSTHROUGH | RECORD_POLLED)) == RECORD_POLLED;
}

/* The time of a record: when the command ended, or was built. */
static inline __u64 io_record__time_ns(const struct io_record *record)
{
	return record->what == RECORD_SUBMIT ? record->last_ns : record->end_ns;
}

#endif
