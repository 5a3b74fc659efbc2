/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io.h: the `io` collector: every NVMe command and every request of other disks, counted in the
 * kernel. A view says what it wants; the loaded programs do nothing else.
 */
#ifndef IOSONAR_COLLECT_IO_H
#define IOSONAR_COLLECT_IO_H

#include <stdbool.h>
#include <stdint.h>
#include "analyse/breakdown.h"
#include "base/options.h"
#include "collect/kernel.h"
#include "collect/obstacle.h"
#include "collect/unwind.h"
#include "decode/ledger.h"
#include "device/device.h"
#include "wire/io_stages.h"
#include "wire/io_tables.h"

struct io_wants {
	const struct filter_options *filter;
	bool by_size, by_queue, by_cpu, by_pid, by_comm, by_cgroup, by_file, by_path;
	bool zoom; /* cells on nvme_latency's scale */
	uint64_t zoom_min_us;
	uint32_t zoom_shift;
	bool records; /* one per command: io__records */
	bool split;   /* and one when the command is built */
	bool stages;  /* with records: struct io_stages behind each */
	bool waits;   /* with stages: what an I/O waits for before it has a request, by name */
	bool details; /* with stages: task, file and so on; otherwise times alone */
	bool whole;   /* with stages: the submission and the end, not the events between */
	bool owners;  /* tasks are the submitting ones; set when tasks are keys */
	bool files;   /* with stages: the file of the I/O; set by by_file */
	bool kernel_stacks, user_stacks; /* with stages: where they were submitted */
	enum unwind_how unwind;		 /* user stacks */
	bool depths;			 /* with stages: number in flight */
	uint32_t slowest;   /* with records: only of the N slowest and of some others; 0: all */
	bool bios;	    /* with stages: a record per bio, and none per command */
	bool troubles;	    /* with records: also failed attempts and events of controllers */
	bool only_troubled; /* and no records of commands without trouble */
	bool rows;	    /* with records: rows of all commands, not only of dropped records */
	bool drop_rows;	    /* with records: rows of dropped ones by key, not in `other` */
	bool failures;	    /* io__failures; not with records */
	uint32_t kinds;	    /* bits of enum io_kind; 0: all */
	uint64_t reuse_after_ns; /* with records: io__reuse; 0: not called */
	bool reuses_places;	 /* and the caller holds no place in io__devices */
	uint64_t buffer_bytes;	 /* of a CPU's ring; 0: the default */
	bool own_cost;		 /* io__own_cost; not where tasks, files or stages are wanted */
	double budget; /* share of all CPUs' time; with own_cost, without records; 0: none */
};

struct io;

/* For both collectors: */
struct bpf_object;
void io__hush_libbpf(void);	  /* its messages are for -vv */
void io__wait_for_programs(void); /* waits until programs now running on any CPU have ended */
/* How often the kernel skipped a program of it. -errno: unknown. */
int io__count_skipped(const struct bpf_object *object, uint64_t *skipped);

/* How a run without options would start, found out for doctor. */
struct rehearsal {
	struct start start;
	bool direct;   /* the programs got typed pointers */
	int typed_err; /* the kernel's error for typed ones; 0: accepted, or not tried */
};
/*
 * Makes the tables and loads the programs as a run would, attaches empty programs in their place,
 * and undoes it all. Prints nothing.
 */
void io__rehearse(struct rehearsal *rehearsal);

/* Loads and attaches. 0, or -errno after one line that says what is missing and what to do. */
int io__open(struct io **io, const struct io_wants *wants);
void io__free(struct io *io); /* detaches if still attached */

/*
 * All rows as they are now, one call per row and CPU: counts since the start, max_ns since the last
 * read. `part` is valid only during the call.
 */
typedef void (*io_row_fn)(void *arg, const struct io_tags *tags, const struct hist *part);
void io__read(struct io *io, io_row_fn fn, void *arg);

/* From now on io__read also calls fn for every command in flight, before all rows. */
typedef void (*io_open_fn)(void *arg, const struct io_tags *tags);
void io__tell_open(struct io *io, io_open_fn fn, void *arg);

/*
 * Failed commands as of now: how often each kind failed since the start, and when last. A kind may
 * come in parts. At most IO_FAILURES kinds are told apart: the ledger counts all.
 */
struct io_failed {
	struct io_tags tags;
	uint64_t count, last_ns;
	uint16_t status; /* as in a record */
};
typedef void (*io_failed_fn)(void *arg, const struct io_failed *failed);
void io__failures(struct io *io, io_failed_fn fn, void *arg);

/* To be called once a minute: counters of 32 bits go on where they would wrap unseen. */
void io__keep_counts(struct io *io);

/* Every record now in the rings, CPU by CPU. */
enum io_record_from {
	IO_FROM_RING,
	IO_FROM_SLOT,	    /* it failed, and no program could send it yet */
	IO_FROM_RING_AGAIN, /* now one did */
};
typedef void (*io_record_fn)(void *arg, const struct io_record *record, enum io_record_from from);
int io__records(struct io *io, io_record_fn fn, void *arg);
/* Events of controllers and devices lost to a full ring or a lack of memory. */
uint64_t io__events_missed(const struct io *io);
uint64_t io__bios_missed(const struct io *io); /* bios that found their table full */
/* The stack that a record refers to; NULL: none, or it was not sent. */
const struct io_stack *io__stack(const struct io *io, uint32_t number);
/* The text for a record's inode and io_file_place: malloced, hostile; NULL: no memory. */
char *io__file(const struct io *io, uint64_t inode, uint64_t place);
uint64_t io__waits_missed(const struct io *io); /* named waits that found their table full */
uint64_t io__files_missed(const struct io *io); /* lost to a full table of names */
/* Stacks that could not be taken: another had their place; for other reasons. */
void io__stack_losses(const struct io *io, uint64_t *taken, uint64_t *failed);
struct unwinder *io__unwinder(const struct io *io); /* NULL: no user stacks by tables */
/* A record's device in io__devices, -1: not known. */
int io__device_of(struct io *io, const struct io_record *record);
/*
 * To be called once a second after io__records: other devices may have the numbers of those that
 * are gone since reuse_after_ns, and whose records or events the caller lets go; as numbers in
 * records, of events IO_MAX_DEVICES more than the place in io__devices. Devices with rows keep
 * theirs.
 */
typedef bool (*io_lets_go_fn)(void *arg, uint32_t number, uint64_t gone_ns);
void io__reuse(struct io *io, io_lets_go_fn fn, void *arg);
uint64_t io__records_tried(const struct io *io);   /* so far, by the programs, */
uint64_t io__records_dropped(const struct io *io); /* and lost to full rings */

uint64_t io__start_ns(const struct io *io); /* CLOCK_MONOTONIC: nothing was seen before */
void io__detach(struct io *io);		    /* afterwards io__read is final */
/* Before io__ledger in a run: how often the kernel skipped a program so far. -errno: unknown. */
int io__recount_skipped(struct io *io);
/* As of the last io__read, so that rows and ledger agree. */
void io__ledger(struct io *io, struct ledger *ledger);

/*
 * What the programs themselves have cost, as some of their runs show: about one of 1,024 is
 * measured. The kernel's work around a program is not in it.
 */
struct io_own_cost {
	bool is_known;	   /* the programs of this run measure themselves */
	uint64_t ns;	   /* of all runs, of all CPUs */
	uint64_t measured; /* runs; 0: none so far, ns says nothing */
};
struct io_own_cost io__own_cost(const struct io *io);

/* With a budget, to be called every IO_BUDGET_NS: chooses which commands are timed from now on. */
enum { IO_BUDGET_NS = 250000000 };
void io__keep_budget(struct io *io);

/* The kernel's messages about devices: poll the fd, then have it read. -1: not available. */
int io__uevent_fd(const struct io *io);
int io__on_uevent(void *io);

/* From now on this process opens no file: the scout reads sysfs. */
void io__read_by(struct io *io, const struct scout *scout);
const struct device_list *io__devices(const struct io *io);
const struct kernel *io__kernel(const struct io *io);
bool io__measures(const struct io *io, const struct device *device); /* -d allows it, it is there */
bool io__sees_nvme(const struct io *io);
bool io__sees_block(const struct io *io);
bool io__attaches_later(const struct io *io); /* at the first disk that is not NVMe */

#endif
