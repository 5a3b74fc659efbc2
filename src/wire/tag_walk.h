/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tag_walk.h: what the program that walks the kernel's tags and the collector that runs it agree
 * on. A run looks at one part of one hardware queue and leaves what it found in a page.
 */
#ifndef IOSONAR_WIRE_TAG_WALK_H
#define IOSONAR_WIRE_TAG_WALK_H

#include <linux/types.h>

enum {
	INFLIGHT_CHUNK = 128, /* tags of one run: 10 us without preemption; a power of two */
	INFLIGHT_NAME_LEN = 32,
	INFLIGHT_SQE_WORDS = 8, /* 64 bytes, as the driver wrote it */
};

/* Which directory of sysfs the run is given; the disk or controller is found from it. */
enum inflight_dir {
	INFLIGHT_DISK = 0, /* block/DISK */
	INFLIGHT_NVME = 1, /* block/DISK of an NVMe disk */
	INFLIGHT_CTRL = 2, /* class/nvme/CTRL: its admin queue */
};

enum inflight_tags {
	INFLIGHT_DRIVER = 0,	/* tags of a hardware queue of the driver */
	INFLIGHT_SCHEDULER = 1, /* the directory is block/DISK/mq/N: tags of that queue, if any */
};

/* Arguments of a run, as the program's context holds them. */
struct inflight_ask {
	__u64 fd;	/* of the directory */
	__u64 dir;	/* enum inflight_dir */
	__u64 tags;	/* enum inflight_tags */
	__u64 queue;	/* driver's tags: number of the queue */
	__u64 first;	/* tag */
	__u64 instance; /* of a controller: N of nvmeN */
};

/* How far a run came. */
enum inflight_step {
	INFLIGHT_NOT_RUN = 0,
	INFLIGHT_NO_QUEUE = 1, /* the directory was removed meanwhile, or is not what we think */
	INFLIGHT_NO_TAGS = 2,  /* no such hardware queue, or no scheduler */
	INFLIGHT_LOOKED = 3,
};

/* A request that the driver has, or one that waits to be sent, maybe again. */
struct inflight_entry {
	__u64 request;	   /* struct request * */
	__u64 start_ns;	   /* when the block layer made it; 0: the kernel did not note it */
	__u64 io_start_ns; /* when it was last sent; 0: not noted */
	__u64 deadline;	   /* jiffies: when the driver is asked about it */
	__u64 sector;
	__u64 sqe[INFLIGHT_SQE_WORDS]; /* has_sqe */
	char disk[INFLIGHT_NAME_LEN];  /* empty: an admin queue */
	__u32 timeout;		       /* jiffies, before the deadline */
	__u32 bytes;
	__u32 block_size;
	__u32 cmd_flags;
	__u32 queue; /* hardware queue, from 0 */
	__u32 tag;
	__u8 is_waiting; /* it has no driver tag */
	__u8 has_sqe;
	__u8 nvme_flags, nvme_retries; /* of NVMe, where known */
	__u8 pad[4];
};
_Static_assert(sizeof(struct inflight_entry) == 168, "no holes");

struct inflight_page {
	__u64 now_ns, jiffies; /* of the run */
	__u64 set;	       /* the tag set's address: disks of a controller share one */
	__u64 tags;	       /* address of this queue's tags: queues may share them, too */
	__u32 nr_queues;
	__u32 nr_tags;					   /* of this queue */
	__u32 timeout;					   /* of this request queue, jiffies */
	__u32 step;					   /* enum inflight_step */
	__u32 nr_entries;				   /* of this run */
	__u32 dir;					   /* enum inflight_dir, as it was asked */
	struct inflight_entry entries[2 * INFLIGHT_CHUNK]; /* one has the tag, one may wait */
};

/* What user space knows of nvme_core: offsets from the request; 0: unknown. */
struct inflight_settings {
	__u32 nvme_cmd_at; /* offset of the pointer to its command */
	__u32 nvme_flags_at, nvme_retries_at;
	__u32 nvme_admin_q_at, nvme_instance_at; /* in nvme_ctrl */
};

#endif
