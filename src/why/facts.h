/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * facts.h: what do the records of a run hold that can make I/O slow? One pass: each command's time
 * is divided into parts, and added up by device, kind of command and length of the command, so that
 * the slowest 1 % have sums of their own. Memory is bounded: 1024 groups of 27 KiB, and the parties
 * of blame. It cannot see waits above the block layer.
 */
#ifndef IOSONAR_WHY_FACTS_H
#define IOSONAR_WHY_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "analyse/blame.h"
#include "base/index.h"
#include "device/mounts.h"
#include "wire/buckets.h"
#include "why/dirty.h"
#include "why/flushers.h"
#include "why/pages.h"
#include "wire/io_stages.h"

enum fact_class { FACT_READ, FACT_WRITE, FACT_FLUSH, FACT_DISCARD, FACT_OTHER };

/* What a command's time, from its submission to its end, is divided into. */
enum fact_part {
	PART_LIMIT,  /* a limit of its cgroup held it back: io.max, io.cost, io.latency */
	PART_FROZEN, /* the queue was frozen, or its device suspended */
	PART_WBT,    /* writeback throttling held it back */
	PART_TAGS,   /* it waited for a request otherwise */
	PART_SCHED,  /* in the scheduler */
	PART_FLUSH,  /* for flushes around it */
	PART_RETRY,  /* attempts that failed */
	PART_STALL,  /* at the device, while that answered nothing */
	PART_DEVICE, /* at the device */
	PART_DONE,   /* it was answered, and not yet ended */
	NR_PARTS,
};

/* Commands that differ in these have groups of their own. */
enum fact_flag {
	FACT_FUA = 1,
	FACT_ODD = 2, /* it does not begin and end where blocks of the device do */
	FACT_SWAP = 4,
	FACT_FAILED = 8,
	FACT_TIMED_OUT = 16,
	FACT_IN_ORDER = 32,  /* small, and beside the one before of its task */
	FACT_BYSTANDER = 64, /* not of the tasks that are asked about */
};

enum {
	FACT_CELLS = (HIST_CELLS >> 2) + 1, /* 8 an octave */
	FACT_GROUPS = 1024,		    /* commands of further groups are counted only */
	FACT_DEVICES = 256,
	FACT_CPUS = 256,
	FACT_STREAMS = 64,
	FACT_THREADS = 64,
	FACT_GAPS = 4,
	FACT_DUE = 64,
	FACT_SMALL = 16384, /* bytes */
	FACT_ALONE = 20,    /* commands that tell how fast a device is without others */
};

struct fact_sums {
	uint64_t nr, total_ns, parts_ns[NR_PARTS];
};

struct fact_key {
	int32_t device; /* as the caller numbers them */
	uint8_t class, flags, size_class, pad;
};
_Static_assert(sizeof(struct fact_key) == 8, "compared as a number");

struct fact_group {
	struct fact_key key;
	struct fact_sums all, tail;	    /* tail: at the end */
	struct fact_sums cells[FACT_CELLS]; /* by length */
	uint32_t alone[FACT_CELLS];	    /* times at the device with depth <= 2 */
	uint64_t nr_alone, alone_ns;
	uint64_t bytes;
	uint64_t waited[PART_TAGS + 1]; /* commands that waited, by the part before the request */
	uint32_t tail_from;		/* cell, as far as known */
};

/* What the caller knows of a device. */
struct fact_place {
	int32_t station, head; /* station: what is shared; head: of a path, else the device */
	bool is_path, is_nvme;
	uint32_t limit;	     /* commands that it takes at once; 0: not known */
	uint32_t unit_bytes; /* of its blocks; 0: not known */
	uint32_t block_bytes;
	uint32_t number; /* of the device, as in a capture of the page cache; 0: not known */
	uint16_t host;	 /* of several machines: they may number their devices alike */
	bool has_poll_queues;
};

/* A thread, and when its last command ended. */
struct fact_thread {
	uint64_t end_ns;
	uint32_t tid;
};

/*
 * Commands of threads that wait for each command before they send the next, and send that at once.
 * turn_ns: from the end of a command to the next one.
 */
struct fact_turns {
	uint64_t nr, command_ns, turn_ns;
	uint32_t served[FACT_CELLS]; /* times at the device */
	struct fact_thread threads[FACT_THREADS];
};

struct fact_stream {
	uint64_t at_bytes;
	uint32_t pid;
	uint8_t class;
};

struct fact_gap {
	uint64_t from_ns, to_ns;
};

struct fact_device {
	int32_t device;
	struct fact_place place;
	uint64_t count, staged, first_ns, last_ns, busy_ns, flight_ns;
	uint64_t depths, depth_sum, full; /* full: commands at the limit */
	uint32_t deepest;
	uint64_t timeouts, retried;		    /* of judged commands */
	uint64_t stalls, longest_stall_ns, stalled; /* stalled: commands in flight meanwhile */
	uint64_t polled;			    /* commands for whose end their senders poll */
	uint32_t submits[FACT_CPUS], ends[FACT_CPUS];
	struct fact_turns turns; /* of judged data commands that interrupts end */
	struct flushers flushers;
	/* while commands come */
	uint64_t typical_ns; /* median time at the device so far */
	uint32_t recent[FACT_CELLS], nr_recent;
	struct fact_gap gaps[FACT_GAPS];
	uint32_t nr_gaps;
	struct fact_stream streams[FACT_STREAMS];
};

/* A command that timed out and has not ended. */
struct fact_due {
	uint64_t first_ns; /* 0: none */
	int32_t device;
};

/* What observing took, of a run on this machine. */
struct fact_own {
	uint64_t elapsed_ns; /* 0: not known, as in a capture */
	uint64_t cpu_ns;     /* of this process, without its programs in the kernel */
	uint32_t nr_cpus;    /* that are online */
};

typedef void (*fact_describe_fn)(const void *arg, int32_t device, struct fact_place *place);

struct facts {
	struct fact_group *groups[FACT_GROUPS];
	size_t nr;
	struct fact_device *devices[FACT_DEVICES];
	size_t nr_devices;
	struct index index; /* of groups */
	struct blame blame;
	struct fact_due due[FACT_DUE];
	uint32_t nr_due;
	uint64_t left_out; /* commands of further groups and devices */
	fact_describe_fn describe;
	const void *arg;
	const struct dirty *dirty; /* finished; NULL: nothing is known of waits */
	const struct pages *pages; /* finished; NULL: nothing is known of the page cache */
	struct fact_own own;
	const struct mounts *mounts; /* NULL: not known, as in a capture */
	const char *whose;	     /* the judged commands in words; NULL: all commands */
};

/* All zeros but describe, arg and whose before. -ENOMEM. */
int facts__init(struct facts *facts);
void facts__free(struct facts *facts); /* afterwards as before init */
/* In order of time. -ENOMEM. */
int facts__add(struct facts *facts, int32_t device, enum fact_class class,
	       const struct io_record *record);
/*
 * A command of a task that nobody asked about: others may wait for it and are compared with it, but
 * its own time is not judged.
 */
int facts__add_bystander(struct facts *facts, int32_t device, enum fact_class class,
			 const struct io_record *record);
/* The end: tails, and who waited for whom. */
void facts__finish(struct facts *facts);

/* ---- afterwards ---- */

/* Is the group of this device, and of the tasks that are asked about? */
static inline bool fact_group__is_judged(const struct fact_group *group, int32_t device)
{
	return group->key.device == device && !(group->key.flags & FACT_BYSTANDER);
}

/* Which judged groups: of a device, of these classes (a bit each), with any of flags; 0: all. */
struct fact_choice {
	int32_t device;
	uint32_t classes;
	uint8_t flags;
	bool bystanders; /* these as well */
};
enum { FACT_ALL_CLASSES = 0xff, FACT_DATA = 1 << FACT_READ | 1 << FACT_WRITE };
void facts__sum(const struct facts *facts, struct fact_choice choice, struct fact_sums *all,
		struct fact_sums *tail);
/* How long the device takes for a command like those of the group if it has few others; 0: not
 * known. */
double facts__alone_ns(const struct facts *facts, const struct fact_group *group);
/* The length that this part of a distribution does not exceed. */
uint64_t fact_cells__percentile(const uint32_t cells[FACT_CELLS], uint32_t per_10000);
/* Lengths of data commands of a device, in total. */
uint64_t facts__percentile(const struct facts *facts, int32_t device, uint32_t per_10000);
uint64_t fact_cell__ns(uint32_t cell); /* its middle */

#endif
