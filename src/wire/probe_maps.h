/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * probe_maps.h: what generated programs and user space agree on: the maps of a run and what lies in
 * them. One `cell` per program and CPU holds its counters and, where the key is empty or the same
 * for all hits of the program, the sums as well; else sums are in a hash, a row per key and CPU.
 */
#ifndef IOSONAR_WIRE_PROBE_MAPS_H
#define IOSONAR_WIRE_PROBE_MAPS_H

#include <linux/types.h>

/* Every outcome of a hit, counted where it happens. */
enum probe_counter {
	/* The program ran for a wanted task. Of a pair only the start's task is checked: then an
	 * end without a start is not a hit, as its owner is unknown. */
	PROBE_HITS,
	PROBE_REFUSED,	  /* the condition was not true */
	PROBE_ADDED,	  /* into a row: no program counts it, it is the sum of the rows' counts */
	PROBE_SENT,	  /* a record into a ring */
	PROBE_BEGUN,	  /* pair: a start that was noted */
	PROBE_LOST_KEY,	  /* no room for another key, or for another object to follow */
	PROBE_LOST_RING,  /* the ring was full */
	PROBE_LOST_START, /* pair: no room for another start */
	PROBE_NO_START,	  /* pair: an end whose start was not seen */
	PROBE_RESTARTED,  /* pair: a start whose key was already open: the older one is gone */
	PROBE_DIVISIONS,  /* by zero */
	PROBE_FAULTS,	  /* reads that failed */
	PROBE_DROPPED,	  /* a call of an object that came after too many: see gate */
	PROBE_NO_KSTACK,  /* another stack had its place, or there was no stack */
	PROBE_NO_USTACK,
	PROBE_HELD, /* waits in `held` now: one more there, one less once it is taken up */
	NR_PROBE_COUNTERS = 16,
};
/* HITS = REFUSED + ADDED + SENT + BEGUN + NO_START + DROPPED + HELD + LOST_*, on every run. ADDED
 * is the sum of the rows; where a hit has no other outcome, HITS is, too: program__hits_are_rows.
 */

/*
 * The value in `followed` of an object with records: their number. With the gate closed (--max-
 * rate) an object that is first met, or born, is dropped, and stays so until it is born again.
 */
#define PROBE_IS_DROPPED (1ull << 63)

/* A row of the hash `rows` (key: the plan's key, then a histogram's bucket), or of a cell. */
struct probe_row {
	__u64 count;
	__u64 sum; /* wraps like the kernel's own; signed if the value is */
	__u64 max; /* of a histogram's bucket, with the value's sign; valid if count is not 0 */
};

/*
 * The rows of the keys that a program met first: value of the per-CPU array `fronts`, index =
 * number of the program. A row is in use once its count is not 0; then its key stays. It lies
 * before the key: a reader that goes on from count to key sees the whole key.
 */
enum { PROBE_FRONT_BITS = 6, PROBE_FRONT_ROWS = 1 << PROBE_FRONT_BITS, PROBE_FRONT_WORDS = 5 };
struct probe_front_row {
	struct probe_row row;
	__u64 key[PROBE_FRONT_WORDS];
};
struct probe_front {
	struct probe_front_row rows[PROBE_FRONT_ROWS];
};

/* A cell: value of the per-CPU array `cells`, index = number of the program. Keys and records
 * too large for the stack are built in `scratch`. */
enum { PROBE_SCRATCH = 1536 };
struct probe_cell {
	__u64 counters[NR_PROBE_COUNTERS];
	struct probe_row row;
	__u64 busy; /* is_atomic programs: scratch is in use, by the hit that was interrupted */
	__u8 scratch[PROBE_SCRATCH];
};

/* A record in a ring; the plan's shown values follow. At the end of a pair pid, tid and comm are
 * those of the task that began it. */
struct probe_record {
	__u64 ns;    /* CLOCK_MONOTONIC */
	__u32 probe; /* number in the plan; where one program serves many: see run.h */
	__u32 cpu;
	__u32 pid, tid;
	char comm[16];
	__u64 address; /* of the function, where one program serves many; else 0 */
	union {
		__u64 latency_ns; /* of a pair */
		__u64 nth; /* of a call: number of records so far of the object it follows; 0: none
			    */
	};
};

/* What a pair's start leaves for its end: value of the hash `starts` (key: 8 bytes for each `on`).
 * The plan's saved values follow. */
struct probe_start {
	__u64 ns;
	__u64 address;
	__u32 pid, tid;
	char comm[16];
	__u32 kernel_stack, user_stack; /* numbers + 1; 0: none */
};

/*
 * A hit at the begin of a system call, of which a text is not in memory, waits for the end of the
 * call: by then the kernel has read the text itself. Value of the hash `held` (key: process and
 * thread). What may be another one by then is kept.
 */
enum { PROBE_HELD_RECORD = 64, PROBE_HELD_ARGS = 208 };
struct probe_held {
	__u8 record[PROBE_HELD_RECORD]; /* what the tracepoint gave */
	__u64 ns;
	__u64 who;     /* process and thread, as bpf_get_current_pid_tgid gives them */
	__u64 uid_gid; /* ... bpf_get_current_uid_gid ... */
	__u64 cpu;
	char comm[16];
	char args[PROBE_HELD_ARGS]; /* args(argv), which a new program does not have */
};

/*
 * Returns of user functions: per task the kernel keeps PROBE_NEST_MOST at a time, for all tracers
 * together, and omits the rest uncounted (MAX_URETPROBE_DEPTH in its uprobes.c, since
 * 0dfd0eb8e4a7). A program at the entry does as the kernel does and counts what is omitted: value
 * of the hash `nests` (key: pid and tid). It holds the stack of each kept call, the outermost
 * first.
 */
enum { PROBE_NEST_MOST = 64 };
struct probe_nest {
	__u64 bytes; /* of stacks that are in use */
	__u64 stacks[PROBE_NEST_MOST];
};
/* The one value of the array `omitted`. */
struct probe_omitted {
	__u64 count;
	struct probe_nest none; /* initial value for a task */
};

/* A fine histogram has hist_wide_slot's buckets, of the magnitude; negative values have the same
 * ones with PROBE_NEGATIVE set. LOG2: 1 + position of the highest bit, 0 for 0, with the same
 * flag. LINEAR: 0 below, 1... the steps, the last one above. */
#define PROBE_NEGATIVE 0x80000000u

#endif
