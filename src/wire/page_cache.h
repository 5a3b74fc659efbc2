/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page_cache.h: what the page cache's programs and their collector agree on: what is counted, for
 * which key, and what is asked. Counters only grow; a page is a base page.
 */
#ifndef IOSONAR_WIRE_PAGE_CACHE_H
#define IOSONAR_WIRE_PAGE_CACHE_H

#include <linux/types.h>

enum { CACHE_COMM_LEN = 16, CACHE_DEVS = 64, CACHE_PROBES = 8, CACHE_AHEAD_WAYS = 4 };

/* What asked for pages. */
enum cache_op {
	CACHE_READ = 0,
	CACHE_WRITE = 1,
	CACHE_MMAP = 2,
	CACHE_READAHEAD = 3, /* fadvise(2), madvise(2), readahead(2): no task waits for the pages */
	CACHE_NO_OP = 4,     /* the kernel for itself: metadata, writeback, reclaim */
	NR_CACHE_OPS = 5,
};

/*
 * accesses = hits - hits_back + ra_hits + misses
 * added = demanded + readahead + other
 * removed = evicted + truncated
 */
enum cache_count {
	CACHE_ACCESSES,
	CACHE_HITS,
	CACHE_HITS_BACK, /* counted as hits before the page had to be read */
	CACHE_RA_HITS,	 /* first uses of pages that were read ahead */
	CACHE_MISSES,
	CACHE_ALLOCATED, /* those misses that a write made */
	CACHE_ADDED,
	CACHE_DEMANDED, /* added for an access; not yet a miss while the request is under way */
	CACHE_RA,	/* added ahead of any access */
	CACHE_OTHER,	/* added for no known access */
	CACHE_DIRTIED,
	CACHE_WRITTEN,
	CACHE_REMOVED,
	CACHE_EVICTED,
	CACHE_TRUNCATED, /* the file now ends before them, or was removed */
	CACHE_UNUSED,	 /* removed pages that were read ahead and never used */
	NR_CACHE_COUNTS,
};

/* One row for each key and CPU. */
struct cache_row {
	__u64 counts[NR_CACHE_COUNTS];
};
_Static_assert(sizeof(struct cache_row) == 128, "two lines of a CPU's cache");

/* What a row counts; a member that --by does not name is 0. Key 0: everything, or no room. */
struct cache_key {
	__u64 inode; /* or FILE_METADATA, as wire/file_id.h has it: a block device's own cache */
	__u64 cgroup;
	char comm[CACHE_COMM_LEN];
	__u32 dev; /* of its file system, or the block device itself */
	__u32 pid;
	__u32 what; /* cache_key_what: 0 is a free key */
	__u32 claim;
};
_Static_assert(sizeof(struct cache_key) == 48, "no holes");

/* op: enum cache_op + 1; nth: which of the files that had its inode, as wire/file_id.h has it. */
static inline __u32 cache_key_what(__u32 op, __u32 nth)
{
	return op | nth << 8;
}

static inline __u32 cache_key_op(const struct cache_key *key)
{
	return key->what & 0xff;
}

static inline __u32 cache_key_nth(const struct cache_key *key)
{
	return key->what >> 8;
}

struct cache_settings {
	__u64 filter_inode; /* with filter_file */
	__u64 filter_cgroup;
	__u64 filter_comm[CACHE_COMM_LEN / 8]; /* 0: none */
	__u32 filter_cgroup_level;
	__u32 filter_pid, filter_tid;
	__u32 filter_dev; /* of the file */
	__u32 nr_devs;	  /* devices of -d: any of these */
	__u32 devs[CACHE_DEVS];
	__u32 page_shift;
	__u32 nr_cpus;
	__u32 key_mask; /* keys - 1 */
	__u32 ra_mask;	/* sets of cells of pages read ahead - 1 */
	__u8 filter_file;
	__u8 by_pid, by_comm, by_file, by_cgroup, by_dev, by_op;
	__u8 any_by, tells_files; /* set if anything needs it */
	__u8 sees_ends;	     /* of functions; else a request ends where its access time is set */
	__u8 write_iocb;     /* generic_perform_write gets a kiocb, not a file and a position */
	__u8 sees_accesses;  /* of any kind; else all added pages are `other` */
	__u8 events;	     /* each miss is sent */
	__u8 then_io;	     /* each command that reads pages, too */
	__u8 queue_argument; /* request events: the queue comes first */
	__u8 bio_queue_argument; /* bio events: the queue comes first */
	__u8 is_plain;		 /* no filter, no key, no event: reads have a shorter way */
	__u8 sees_around_ends;	 /* filemap_map_pages returns whether the fault was served */
	__u8 pad[6];
};

/* Losses, each counted where it happens. */
struct cache_counters {
	__u64 no_task;	/* no place for a request: neither its accesses nor its misses are known */
	__u64 no_key;	/* counted in key 0 */
	__u64 unclosed; /* a request whose end was not seen */
	__u64 ra_lost;	/* pages read ahead without a place: their first use is a hit */
	__u64 no_file;	/* no place for a name */
	__u64 events, events_lost; /* tried; dropped, as the ring was full */
	__u64 no_cause;		   /* a bio without a place, or too far behind in its command */
};

enum cache_told {
	CACHE_TOLD_MISS = 0,
	CACHE_TOLD_COMMAND = 1,
};

/* A request that missed; or the pages that a command read, see below. */
struct cache_event {
	__u64 start_ns; /* when its first missing page was added; when the bio was submitted */
	__u64 end_ns;	/* when it ended, with all pages there; 0: its end is not seen */
	__u64 inode;	/* as in a key */
	__u64 page;	/* the first page that was missing; that was read */
	__u32 dev;
	__u32 pages; /* how many were */
	__u32 pid, tid;
	__u32 op;   /* enum cache_op: the request at that time */
	__u16 nth;  /* as in a key */
	__u16 told; /* enum cache_told */
	char comm[CACHE_COMM_LEN];
};
_Static_assert(sizeof(struct cache_event) == 72, "no holes");

/* A bio that filled pages, and its command. One command may carry several bios. */
struct cache_command {
	struct cache_event event;
	__u64 sector;	      /* of the disk: where this part begins */
	__u64 issued_ns;      /* when the driver got it; 0: not seen */
	__u64 command_sector; /* where the command begins */
	__u32 disk;	      /* device number */
	__u32 bytes;	      /* of this part */
	__u32 command_bytes;
	__u32 missed; /* pages that were asked for; the others were read ahead */
	__u32 failed;
	__u32 pad;
};
_Static_assert(sizeof(struct cache_command) == 120, "no holes");

#endif
