/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run.h: a running plan: makes maps, loads and attaches programs, reads rows, takes records from
 * the rings in order. The collector of the any-event commands. A tracepoint's run starts within 50
 * ms; hundreds of functions without kprobe.multi take seconds, which a terminal is told.
 *
 * After privilege__drop it still calls bpf() with BPF_MAP_LOOKUP_ELEM, BPF_MAP_LOOKUP_BATCH and
 * BPF_OBJ_GET_INFO_BY_FD, for run__read, run__open_pairs, run__stack and run__counts; before 5.19
 * these require CAP_BPF where kernel.unprivileged_bpf_disabled is set. run__records and run__detach
 * need nothing: rings and the switch are mapped.
 */
#ifndef IOSONAR_PROBE_RUN_RUN_H
#define IOSONAR_PROBE_RUN_RUN_H

#include "collect/unwind.h"
#include "probe/lang/plan.h"
#include "wire/io_stages.h"
#include "wire/probe_maps.h"

struct run;

struct run_wants {
	const struct plan *plan;
	uint64_t ring_bytes;	     /* per CPU that is online; 0: default */
	uint64_t ring_default_bytes; /* less with many CPUs; 0: 1 MiB */
	uint32_t max_keys;	     /* 0: default */
	bool emit;		     /* print the instructions to stderr */
	uint64_t max_rate; /* of calls: records a second; above it objects are dropped; 0: any */
	enum unwind_how unwind; /* user stacks */
	bool insists;		/* of calls: wants returns even where kretprobes may lose them */
};

/*
 * Loads and attaches everything, ends before starts, so that no start stays open because its end
 * was not attached yet. A probe that cannot be attached is skipped and named; -errno (said) if none
 * can be, or if a program is refused, then with the part of the line.
 */
int run__open(struct run **run, const struct run_wants *wants);
/* Nothing is counted from now on. A child goes on closing what is slow to close. */
void run__detach(struct run *run);
void run__free(struct run *run); /* detaches if needed */

/*
 * All current rows: key (plan->key_bytes), bucket (0 without a histogram), sums over CPUs. A key's
 * `probe` and `func` are numbers of the plan. An empty key has one row. A probe that was never hit
 * has a row too, if the keys are only `probe` or `func`.
 */
typedef void (*run_row_fn)(void *arg, const void *key, uint32_t bucket,
			   const struct probe_row *row);
int run__read(struct run *run, run_row_fn fn, void *arg);

/*
 * Records before until_ns, in order of time; UINT64_MAX: all. Up to 20 ms ago they are in order
 * across all CPUs. A nonzero return of fn ends it; the next call continues with the rest. A
 * record's `probe` is a number of the plan.
 */
typedef int (*run_record_fn)(void *arg, const struct probe_record *record, const void *values);
int run__records(struct run *run, uint64_t until_ns, run_record_fn fn, void *arg);

/* Pairs that have begun and not ended; key: 8 bytes for each `on`. */
typedef void (*run_start_fn)(void *arg, const void *key, const struct probe_start *start);
int run__open_pairs(struct run *run, run_start_fn fn, void *arg);

/* Sums over programs and CPUs, and what the kernel skipped (recursion) if it counts that. */
struct run_counts {
	uint64_t counters[NR_PROBE_COUNTERS];
	uint64_t skipped;
	uint64_t omitted;    /* returns of user functions that were nested too deep: see
				wire/probe_maps.h */
	bool is_exact;	     /* false: some way of attaching may skip hits without counting them */
	const char *inexact; /* name of the way: "tracepoint", "kprobe"; NULL: is_exact */
	const char *why;     /* as a sentence, with the exact way if there is one */
};
void run__counts(struct run *run, struct run_counts *counts);
bool run__is_exact(struct run *run); /* as far as known now; reads no program's counters */

uint64_t run__lost(struct run *run); /* records that no reader will see, up to now */

/* Of a trace of calls: number of records, sent or dropped, of that object or task. */
uint64_t run__followed(struct run *run, uint64_t whom);
/* false: it was left out, and said. */
bool run__is_attached(const struct run *run, size_t probe);

/* A stack by the number in a key; nr 0: none, or a negative number. pid: the process of a user
 * stack; 0: it is the kernel's. */
void run__stack(struct run *run, uint64_t id, uint32_t pid, struct io_stack *stack);
/* Are user stacks unwound by tables? Then symbols reads these, once privileges allow it no other
 * way: call run__unwind every 20 ms from then on. */
bool run__unwinds(const struct run *run);
void run__unwind_with(struct run *run, struct symbols *symbols);
void run__unwind(struct run *run);
void run__tell_unwind(const struct run *run); /* for people: how stacks were taken */
/* The probe of a record or a key. */
const struct probe *run__probe(const struct run *run, uint64_t number);
uint64_t run__start_ns(const struct run *run);

#endif
