/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * io_tables.h: what the `io` programs and the `io` collector agree on. Every table is an mmapped
 * ARRAY: the kernel claims cells, user space reads them without a system call and sweeps dead ones.
 */
#ifndef IOSONAR_WIRE_IO_TABLES_H
#define IOSONAR_WIRE_IO_TABLES_H

#include <linux/types.h>
#include "wire/buckets.h"
#include "wire/known.h"
#include "wire/file_id.h"

enum {
	IO_PROBES = 8,	       /* cells looked at before a table counts as full */
	IO_MAX_DEVICES = 4096, /* power of two; a device's number fits its 12 bits of a row key */
	IO_MAX_NAMES = 4096,
	IO_MAX_KEYS = 65536,
	IO_NAME_LEN = 32, /* the kernel's DISK_NAME_LEN */
	IO_COMM_LEN = 16,
	IO_MAX_STACKS = 16384, /* that differ; as many again of those that are unwound by tables */
	IO_STACK_NUMBERS = 2 * IO_MAX_STACKS + 1,
	IO_MAX_RANGES = 4, /* partitions of one disk that -d names */
	IO_MAX_DEPTH = 4,  /* task, softirq, irq, nmi: how deep programs nest on one CPU */
};

/*
 * A command in flight, found by its request's address. Requests are preallocated and reused, so the
 * key stays and only the state changes: no deletion, no ABA. An empty cell ends a search; a cell
 * that user space swept becomes a tomb, which does not.
 */
enum {
	IO_TOMB = 1,	 /* key of a swept cell; a request's address is even */
	IO_SWEEPING = 1, /* added to the key of a cell that may be swept: no program finds it */
};

enum io_state {
	IO_IDLE = 0,
	IO_IGNORED = 1, /* filtered out at submit; its completion ends nothing */
	IO_OPEN = 2,	/* sent, not completed */
	IO_PARKED = 3,	/* completed with an error; retry or end is not known yet */
	IO_RETRY = 4,	/* requeued after an error: its next setup is another attempt */
	IO_REQUEUED =
		5,   /* requeued before it reached the device: its next setup is the same attempt */
	IO_DONE = 6, /* with stages: the driver has its answer, block_rq_complete will end it */
	IO_FAILED = 7, /* like IO_DONE, but the answer is an error that is never retried */
};

struct io_slot {
	__u64 key;	/* struct request *; 0: free; IO_TOMB: swept */
	__u64 first_ns; /* first attempt */
	__u64 last_ns;	/* parked: when the error came */
	__u64 alloc_ns; /* rq->start_time_ns: tells a second setup of a command from the next
			   command */
	__u64 queue;	/* rq->q that the following holds for; 0: for none; of a parked command
			   its status, if failures are wanted and records are not */
	__u32 issued;	/* commands, not attempts; wraps: user space takes differences */
	__u32 completed;
	__u32 bytes;
	__u32 claim;
	/* As in a record, from its cpu on, so that one load and store copy the shared part. */
	__u16 key_nr;	  /* the row key of commands */
	__u8 kind, op;	  /* of this operation on that queue, */
	__u8 sized_shift; /* and their block size, log2, if CDW12 counts blocks; else 0 */
	__u8 flags;	  /* enum record_flag */
	__u8 attempts;
	__u8 state; /* next to attempts: one store sets both */
};
_Static_assert(sizeof(struct io_slot) == 64, "a slot is one cache line");

/*
 * What a record of the command carries in addition. A separate table behind the slots, cell by
 * cell, present only if records are wanted.
 */
struct io_slot_more {
	__u64 last_ns; /* issue of the current attempt */
	__u64 comm[2];
	__u32 cdw10[6];
	__u32 nsid;
	__u32 pid;
	__u16 device; /* as in a record; valid as long as the slot's queue */
	__u16 qid;
	__u16 cid;
	__u16 status; /* of a parked or failed command */
};
_Static_assert(sizeof(struct io_slot_more) == sizeof(struct io_slot), "one offset finds both");

/* A third table behind those, present only if stages are wanted: wire/io_stages.h says what they
 * mean. */
struct io_slot_stages {
	__u64 inserted_ns;
	__u64 issued_ns;
	__u64 reaped_ns;
	__u64 result; /* of a command that is done */
	__u32 depth;
	__u16 cpu;
	__u16 pad;
	/* For a command without a bio, or for a write with flushes around it. */
	union {
		struct {
			__u32 kernel_stack, user_stack;
		};
		__u64 flushed_ns;
	};
	__u32 tid;
	__u16 device; /* as in struct io_slot_more */
	__u16 pad2;
	union {
		__u64 cgroup;
		__u64 written_ns;
	};
};
_Static_assert(sizeof(struct io_slot_stages) == sizeof(struct io_slot), "one offset finds both");

/*
 * A bio from its submission to its end, found by its address among eight cells. Addresses are soon
 * reused: a free cell keeps its key until another bio needs it.
 */
enum io_bio_state {
	BIO_ENDED,
	BIO_BUSY,
	BIO_WAITED, /* busy, and the table of waits has an entry of it */
};

struct io_bio {
	/* First: an atomic addition at an offset costs two instructions more. */
	__u32 claim; /* held while a cell changes its bio, or its parts are counted */
	__u8 busy;   /* enum io_bio_state */
	__u8 op;
	__u8 is_part;  /* it was cut off the front of `above` */
	__u8 is_ended; /* it ended, but parts of it have not */
	__u64 key;     /* struct bio * */
	__u64 queued_ns, got_ns;
	/* As in struct io_stages, so that whole words are copied. */
	__u64 cgroup, inode;
	__u32 file_dev, tid;
	__u32 kernel_stack, user_stack;
	__u64 comm[2];
	__u64 sector; /* as it was submitted */
	__u32 bytes;
	__u32 pid;
	__u64 above;	   /* else: the bio that a volume made it from; 0: none */
	__u32 nr_parts;	   /* parts cut off that have not ended */
	__u8 is_of_group;  /* --cgroup selects its owner */
	__u8 file_nth;	   /* as in struct io_stages */
	__u8 stack_losses; /* enum stack_loss: why it has no stack */
	__u8 pad;
	__u64 below_ns; /* of a volume: when the first bio made from it was submitted, */
	__u64 back_ns;	/* when the last one so far ended; 0: none */
};
_Static_assert(sizeof(struct io_bio) == 128, "a power of two");

/* Why a bio has no stack. Counted with the I/O that lacks it: those of other disks do not
 * matter. */
enum stack_loss {
	STACK_KERNEL_TAKEN = 1, /* another stack had its place */
	STACK_KERNEL_FAILED = 2,
	STACK_USER_TAKEN = 4,
	STACK_USER_FAILED = 8,
};

/* Records per CPU: how many were tried, and how many the ring had no room for. */
struct io_cpu {
	__u64 tried;
	__u64 dropped;
	__u64 pad[6];
};

/* What an operation number means. */
enum io_kind {
	IO_NVME = 0,	/* opcode of an I/O queue */
	IO_ADMIN = 1,	/* opcode of the admin queue */
	IO_FABRICS = 2, /* fabrics command type (opcode 0x7f) */
	IO_BLOCK = 3,	/* REQ_OP_*: numbered by this kernel's BTF */
};

#define NVME_FABRICS 0x7f /* opcode */

/*
 * Does CDW12 of this I/O queue command count logical blocks (NLB)? True for write, read, write
 * uncorrectable, compare, write zeroes, verify; and for zone append.
 */
static inline _Bool nvme_is_sized(__u32 opcode)
{
	const __u64 sized = 1ULL << 0x01 | 1ULL << 0x02 | 1ULL << 0x04 | 1ULL << 0x05 |
			    1ULL << 0x08 | 1ULL << 0x0c;

	return opcode < 64 ? sized >> opcode & 1 : opcode == 0x7d;
}

/*
 * The key of a row: word 0 packs the small parts, the others are zero unless --by asks for them.
 * Interned at submit; a row is then found by the key's number.
 */
struct io_key {
	__u64 packed; /* 0: free */
	__u64 cgroup;
	__u64 comm[2];
	__u64 inode;
	__u32 file_dev;
	__u32 pid;
};
_Static_assert(sizeof(struct io_key) == 48, "no holes");

enum io_key_shift {
	IO_KEY_DEVICE = 0, /* 12 bits */
	IO_KEY_OP = 12,	   /* 8 bits */
	IO_KEY_KIND = 20,  /* 2 bits */
	IO_KEY_SIZE = 22,  /* 6 bits: log2 of the size, rounded up, plus 1; 0: none */
	IO_KEY_QUEUE = 28, /* 16 bits */
	IO_KEY_CPU = 44,   /* 12 bits */
	IO_KEY_FILE = 56,  /* 7 bits: which of the files that had its inode */
	IO_KEY_USED = 63,
};

static inline __u32 io_key_bits(__u64 packed, __u32 shift, __u32 bits)
{
	return (__u32)(packed >> shift) & ((1u << bits) - 1);
}

/* 1 + log2, rounded up: 4096 and 2049 are both 13, "up to 4 KiB". */
static inline __u32 io_size_class(__u32 bytes)
{
	if (!bytes)
		return 0;
	return bytes == 1 ? 1 : hist_log2(bytes - 1) + 2;
}

/*
 * A distribution of one key on one CPU. Its cells are the buckets from 128 ns to 1.07 s: the
 * latencies of nearly all I/O. The others of a key are counted in its far row, which all CPUs share
 * and which exists only if there are any. Cells are half as wide as the counts: user space takes
 * out what is in a cell long before it overflows.
 *
 * The first nr_cpus rows are `other`, used when no row is left; then comes their far row. The pool
 * follows. A CPU takes a chunk of it at once, so that no two CPUs claim the same row.
 */
enum {
	ROW_FROM_BIT = 7,
	ROW_TO_BIT = 30,
	ROW_CELLS = (ROW_TO_BIT - ROW_FROM_BIT) * HIST_SUB,
	ROW_FIRST = (ROW_FROM_BIT - HIST_SUB_BITS + 1) * HIST_SUB, /* bucket of the first cell */
	ROW_FAR_CELLS = HIST_CELLS - ROW_CELLS,
	ROW_SPILL = 1 << 30, /* a cell with more is taken out */
};

struct io_row {
	__u64 sum_ns;
	__u64 bytes;
	__u64 max_ns[IO_MAX_DEPTH]; /* by nesting depth; user space takes and clears them */
	__u16 key_nr;
	__u8 is_far; /* its cells are those of row_far_cell; sums and maxima stay in near rows */
	__u8 depth;  /* nesting depth inside the maximum's update on this CPU */
	__u32 claim;
	__u32 next; /* in a row `other`: the next row of its CPU's chunk; at a boundary: none is
		       left */
	__u32 pad;
	__u32 cells[ROW_CELLS]; /* with the zoom: ZOOM_CELLS of them */
};
_Static_assert(sizeof(struct io_row) % 64 == 0, "rows of two CPUs share no cache line");
_Static_assert((int)ROW_FAR_CELLS <= (int)ROW_CELLS && (int)ZOOM_CELLS <= (int)ROW_CELLS,
	       "a row has room for either");

static inline _Bool row_is_near(__u64 ns)
{
	return ns - (1 << ROW_FROM_BIT) < (1 << ROW_TO_BIT) - (1 << ROW_FROM_BIT);
}

/* As hist_slot, for latencies that are near: without its two limits. */
static inline __u32 row_near_slot(__u64 ns)
{
	__u32 e = hist_octave((__u32)(ns >> HIST_SUB_BITS));

	return (e << HIST_SUB_BITS) + (__u32)(ns >> e);
}

/* The cell of a bucket that is far, and the other way around. */
static inline __u32 row_far_cell(__u32 slot)
{
	return slot < ROW_FIRST ? slot : slot - ROW_CELLS;
}

static inline __u32 row_far_slot(__u32 cell)
{
	return cell < ROW_FIRST ? cell : cell + ROW_CELLS;
}

/* A device as its first command showed it. */
enum io_verdict {
	IO_UNJUDGED = 0, /* user space has not decided yet whether -d selects it */
	IO_WANTED = 1,
	IO_UNWANTED = 2,
};

/* A requested partition; nr 0: none. A disk without ranges is requested as a whole. */
struct io_range {
	__u64 from_sector, nr_sectors;
};

struct io_device {
	__u64 key;     /* its request queue's address; 0: free; odd: it is gone */
	__u64 diskseq; /* 0: none (an admin queue, or before 5.15) */
	struct io_range ranges[IO_MAX_RANGES];
	__u64 unjudged;		/* commands that came before the verdict */
	__u64 in_flight;	/* with depths: commands */
	__u64 flushed_ns;	/* with stages: when its last flush ended */
	char name[IO_NAME_LEN]; /* empty: an admin queue */
	__s32 ctrl;		/* N of nvmeN; -1: not known */
	__u32 block_shift;
	__u8 verdict;
	__u8 kind; /* enum io_kind of its commands: IO_NVME, IO_ADMIN or IO_BLOCK */
	__u8 pad[6];
};

/* What -d said about a name, before or after the device appeared. */
struct io_name {
	char name[IO_NAME_LEN]; /* empty: free */
	struct io_range ranges[IO_MAX_RANGES];
	__u32 verdict;
	__u32 pad;
};

static inline __u32 io_name_hash(const __u64 words[IO_NAME_LEN / 8])
{
	__u64 h = 0;

	for (int i = 0; i < IO_NAME_LEN / 8; i++)
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ULL;
	return (__u32)(h >> 32);
}

/* Admin queues have no disk: they use this name, which no disk can have. */
static inline void io_ctrl_name(__u64 words[IO_NAME_LEN / 8], __s32 instance)
{
	words[0] = (__u64)(__u32)instance;
	words[1] = 1;
	words[2] = words[3] = 0;
}

static inline __u32 io_hash(__u32 low)
{
	return low * 0x9e3779b1u;
}

/*
 * Where the search for a key begins. A bit of a product depends only on the bits below it:
 * operation, size and queue are high in a key, so the product's highest bits must be used.
 */
static inline __u32 io_key_home(__u32 key)
{
	__u32 hash = io_hash(key);

	return hash >> 24 ^ hash >> 12;
}

/*
 * Constants of programs that user space completes before load: the upper half is one of these
 * marks. For a table the lower half is its number, and the map's address replaces it; for a
 * setting, its offset in struct io_settings and its size, and its value replaces it.
 */
#define IO_MARK_TABLE	0x10ca7ab1ULL
#define IO_MARK_SETTING 0x10ca5e77ULL

enum io_table_nr {
	IO_TABLE_SLOTS,
	IO_TABLE_ROWS,
	IO_TABLE_BIOS,
	IO_TABLE_LADDERS,
	IO_TABLE_SAMPLED, /* struct io_sampled, then struct io_untimed */
	IO_NR_TABLES,
};

#define IO_MARKED_SETTING(at, size) (IO_MARK_SETTING << 32 | (at) << 8 | (size))

static inline __u32 io_marked_at(__u32 lower)
{
	return lower >> 8;
}

static inline __u32 io_marked_size(__u32 lower)
{
	return lower & 0xff;
}

/*
 * What user space decides before the programs are loaded: read-only then, so an option that is off
 * costs no branch. One struct, so that one address serves all settings.
 */
struct io_settings {
	__u64 filter_cgroup;	   /* 0: none */
	__u64 filter_comm[2];	   /* 0: none */
	__u64 wanted_ops[4][4];	   /* a bit per operation, by kind */
	__u64 min_ns;		   /* --min */
	__u64 senders[NR_SENDERS]; /* 0: not known, or not there */
	__u64 qos_wake;		   /* what wakes a task that rq_qos_wait lets wait; 0: unknown */
	__u64 iolatency_asks;	   /* what it calls for io.latency; 0: this kernel has none */
	__u64 dm_end;		   /* what ends a bio that dm made; 0: not needed */
	__u64 zoom_min_us;
	__u64 user_mask;  /* bits of a user address; those above sign it */
	__u64 stack_seed; /* of the hash of unwound stacks */
	__u32 task_bytes; /* of a task's kernel stack; the registers are at its end */
	__u32 page_bytes;
	__u32 zoom_shift;
	__u32 slot_mask;   /* of byte offsets: (nr - 1) * sizeof(struct io_slot) */
	__u32 row_of_at;   /* byte offset of the row numbers behind the slots */
	__u32 row_of_mask; /* of their byte offsets */
	__u32 key_mask;
	__u32 nr_cpus;
	__u32 chunk_mask;   /* of row numbers: rows that a CPU takes at once, less one */
	__u32 rows_end;	    /* in bytes, less one row: the highest offset of a row */
	__u32 far_of_at;    /* byte offset of the numbers of far rows behind those */
	__u32 far_of_mask;  /* of their byte offsets */
	__u32 more_at;	    /* byte offset of struct io_slot_more's from the slots */
	__u32 stages_at;    /* byte offset of struct io_slot_stages' from the slots */
	__u32 bio_mask;	    /* of byte offsets: (nr - 1) * sizeof(struct io_bio) */
	__u32 cpu_at;	    /* byte offset of the struct io_cpu's */
	__u32 cpu_mask;	    /* of their byte offsets */
	__u32 ladder_cpus;  /* the first ones, which have large rings of cells: */
	__u32 ladder_bytes; /* of each ring, for ladders or records */
	__u32 ladder_mask;  /* of byte offsets of its cells */
	__u32 late_ladders_at, late_ladder_bytes, late_ladder_mask; /* of the other CPUs' */
	__u32 untimed_mask; /* of byte offsets of struct io_untimed, behind the struct io_sampled */
	__u32 filter_pid;   /* 0: none */
	__u32 slowest_nr;   /* how many of the slowest are wanted */
	/* Bits of rq->cmd_flags, numbered by this kernel's BTF; rare: these or passthrough. */
	__u32 integrity_flag, fua_flag, polled_flag, rare_flags;
	__u32 preflush_flag, flush_flags; /* of bios; flush_flags: preflush or FUA */
	__u32 noretry_flags;		  /* with any of them an error ends the command */
	__u32 swap_flag, metadata_flag;
	__u32 filter_cgroup_level;
	__u32 wanted_nsid, wanted_qid;
	__s32 wanted_ctrl;
	/* Offsets in nvme_core of what no tracepoint carries, read from its BTF; 0: unknown. */
	__u32 cast_type;      /* a struct of the kernel that begins with an integer: its number */
	__u32 nvme_status_at; /* from the request to nvme_request.status */
	__u32 nvme_result_at, nvme_flags_at;	 /* .result and .flags */
	__u32 nvme_ctrl_at;			 /* from the request to nvme_request.ctrl */
	__u32 nvme_instance_at, nvme_admin_q_at; /* in nvme_ctrl */
	__u32 dm_clone_at, dm_io_at, dm_bio_at;	 /* in dm_target_io, twice, and in dm_io */
	__u8 follow_all;			 /* no -d: unnamed devices are wanted */
	__u8 by_size, by_queue, by_cpu, by_pid, by_comm, by_cgroup, by_file;
	__u8 filter_op, filter_nsid, filter_qid, filter_ctrl, filter_sectors;
	__u8 not_rows_alone; /* --min, --failed or records */
	__u8 only_failed;
	__u8 zoom;	     /* nvme_latency's scale instead of the log-linear one */
	__u8 queue_argument; /* block_rq_* events have the queue as their first argument */
	__u8 records;	     /* one record per command into the rings, */
	__u8 record_cells;   /* and cells, which hold those without stages, */
	__u8 rows_too;	     /* also counted in the command's row */
	__u8 drop_rows;	     /* or there only if the record is dropped */
	__u8 split;	     /* another record at submit */
	__u8 stages;	     /* records have stages, */
	__u8 owners;	     /* tasks are those that submitted the first bio, where known */
	__u8 waits;	     /* and name waits before the request, */
	__u8 tag_event;	     /* of which the kernel tells those for tags */
	__u8 details;	     /* stages tell who asked for what; else times alone */
	__u8 kernel_stacks, user_stacks; /* where bios are submitted */
	__u8 depths;			 /* commands in flight are counted by device */
	__u8 slowest;			 /* records only of I/O above slow.from_ns */
	__u8 files_at_end;		 /* the file of those alone, when they end */
	__u8 bios;			 /* records of bios, not of commands */
	__u8 troubles;			 /* records of attempts that failed */
	__u8 only_troubled;		 /* no record of a command without trouble */
	__u8 failures;			 /* struct io_failure */
	__u8 bio_queue_argument;	 /* events of bios have the queue as their first argument */
	__u8 task_pointer;		 /* bpf_get_current_task_btf is there (5.11), */
	__u8 task_registers;		 /* and bpf_task_pt_regs (5.15) */
	__u8 unwind;			 /* user stacks by tables, where a process needs them */
	__u8 measures;			 /* the programs' own time: struct io_cost */
	__u8 sampled;			 /* only some commands are timed: bpf/sample.h */
};

/*
 * The slowest so far: how many were sent in each bucket from `bucket` on, and how many in total.
 * Once enough lie above the lowest bucket, that is no longer needed: the threshold rises.
 */
struct io_slow {
	__u64 from_ns;
	__u32 bucket;
	__u32 claim;
	__u32 nr;
	__u32 pad;
	__u32 sent[HIST_CELLS + 1];
};

/* What some runs of our own programs took, of those without stages. */
enum { IO_COST_EVERY = 1024 };

enum io_cost_of {
	COST_OF_START,
	COST_OF_END,
	COST_OF_UNTIMED_START, /* of a command that is not timed */
	COST_OF_UNTIMED_END,
	NR_COSTS,
};

struct io_cost {
	__u64 runs[NR_COSTS];
	__u64 ns[NR_COSTS];	  /* with one reading of the clock too many, which takes */
	__u64 clock_ns[NR_COSTS]; /* this */
};

/* Commands that ended with an error, by row key and status. A kind may have two cells. */
struct io_failure {
	__u64 key; /* number of the row key << 32 | status; 0: free */
	__u64 count;
	__u64 last_ns; /* end of the last of them */
};
enum { IO_FAILURES = 64 };

/* Counted where it happens; only ever grows. */
struct io_counters {
	__u64 mid_flight;     /* completions of commands issued before we attached */
	__u64 no_start;	      /* completions without a start that we should have seen */
	__u64 no_slot;	      /* commands that found the table full */
	__u64 overwritten;    /* commands whose completion was never seen */
	__u64 never_sent;     /* setups that ended before the device: neither attempt nor loss */
	__u64 clock_backward; /* completions that seem to precede their start */
	__u64 unknown_device; /* commands of a device that the table had no cell for */
	__u64 retries;	      /* attempts after the first */
	__u64 refused;	      /* commands the driver ended itself: its controller was not ready */
	__u64 requeues;	      /* commands handed back before they reached the device */
	__u64 failed;	      /* commands that ended with an error */
	__u64 stack_taken;    /* records without a stack, since another stack had its place */
	__u64 stack_failed;   /* or because the stack could not be taken */
	__u64 no_bio;	      /* bios that found no cell: commands without stages */
	__u64 parked;	      /* errors that a retry may follow; counted with records only */
	__u64 no_file;	      /* bios of files whose names did not fit */
	__u64 no_wait;	      /* waits that found the table of waits full: they have no name */
};

/*
 * Which reads and writes are timed, if --budget lets us time only some: one in 2^N of a queue and
 * direction. The others are counted when they end. A queue has the cell that its address leads to;
 * of two that share one, the second is not sampled.
 */
enum {
	IO_SAMPLED = 4096,     /* cells, a power of two */
	IO_MAX_SAMPLED = 1024, /* queues that have one */
	IO_MAX_SAMPLE_SHIFT = 10,
};

struct io_sampled_way {
	__u64 since_ns; /* of an older request, the start may have used another limit */
	/* io_sample_limit(N), for the start of a command and for its end. They differ only while
	 * commands are in flight that started with the limit before. */
	__u32 start_limit, end_limit;
};

struct io_sampled {
	__u64 queue;		       /* rq->q; 0: none */
	struct io_sampled_way ways[2]; /* reads, writes */
	__u32 nr;		       /* of its struct io_untimed */
	__u16 key_nr[2];	       /* row keys of the ways */
	__u64 pad[2];
};
_Static_assert(sizeof(struct io_sampled) == 64, "one cache line");

/* Commands of a queue that were not timed, for each CPU. */
struct io_untimed {
	__u64 count[2], bytes[2]; /* reads, writes */
};

/* Addresses by their lower halves, which programs may use as numbers. */
static inline __u32 io_sampled_home(__u32 queue)
{
	return io_hash(queue >> 4) >> 20;
}
_Static_assert(IO_SAMPLED == 1 << (32 - 20), "as many as there are");

/*
 * Is this command timed? By chance, not every 2^Nth: loads have patterns. Start and end agree, as
 * the time of a request's allocation does not change; those of a batch may be the same, so its
 * address is mixed in. A command that is timed at one limit is timed at every higher one. Requests
 * without a time are timed.
 */
static inline _Bool io_sample_takes(__u64 alloc_ns, __u32 request, __u32 limit)
{
	return io_hash((__u32)alloc_ns ^ request >> 6) <= limit || !alloc_ns;
}

/* One in 2^shift. */
static inline __u32 io_sample_limit(__u32 shift)
{
	return 0xffffffffu >> shift;
}

#endif
