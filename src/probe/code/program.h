/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program.h: BPF instructions for one probe of a plan. The emitter is ours: no compiler, no LLVM.
 * The kernel's verifier checks the result; program__blame finds the part of the line that a refusal
 * is about.
 */
#ifndef IOSONAR_PROBE_CODE_PROGRAM_H
#define IOSONAR_PROBE_CODE_PROGRAM_H

#include <linux/bpf.h>
#include <stdio.h>
#include "probe/lang/plan.h"

/* How the probe will be attached decides where a program finds its arguments. */
enum program_ctx {
	CTX_RECORD,  /* classic tracepoint: the record */
	CTX_RAW,     /* raw tracepoint: u64 args[] */
	CTX_TRACING, /* fentry, fexit, tp_btf: u64 args[], followed by ret */
	CTX_REGS,    /* kprobe, uprobe: struct pt_regs of this machine */
	CTX_PERF,    /* perf event: bpf_perf_event_data */
};

/*
 * What a program returns, on every way out, so that no other tracer notices it. The kernel's rules:
 *	tracepoint	its programs stand in one list for the whole machine. Their results are
 *			ANDed; at 0 the event ends there, for every perf stat and perf record too
 *			(perf_trace_run_bpf_submit, perf_syscall_enter). 1 lets it go on.
 *	kprobe, uprobe	the same rule, but perf_event_open made the perf event for us alone; kprobes
 *			and uprobes of other tracers at the same place have lists of their own. 0
 *			ends our event, which has no reader.
 *	kprobe.multi	ignored; only sessions use the result, and we load none.
 *	raw, tp_btf	ignored (__bpf_trace_run).
 *	fentry, fexit	ignored; the verifier accepts only 0. Programs that change what a function
 *			returns are of another kind (fmod_ret).
 *	perf event	0: no sample is written for our own event (bpf_overflow_handler). Those of
 *			other tracers at the same counter are other events.
 */
static inline int program__verdict(enum program_ctx ctx)
{
	return ctx == CTX_RECORD;
}

/*
 * What programs write to; fds; -1: the plan needs none. wire/probe_maps.h says what lies in them:
 *	cells		PERCPU_ARRAY	u32 -> struct probe_cell
 *	rows		PERCPU_HASH	plan__row_key_bytes -> struct probe_row
 *	starts		HASH		plan__start_key_bytes -> plan__start_bytes
 *	stacks		STACK_TRACE	u32 -> addresses
 *	rings		ARRAY_OF_MAPS	u32 (the CPU) -> RINGBUF
 *	tasks		HASH		u64 (process) -> u64: run/children.c keeps it
 *	cgroup		CGROUP_ARRAY	0 -> the cgroup whose tasks, and those below it, are wanted
 *	followed	HASH		u64 -> u64, how many records it has had
 *	gate		ARRAY		0 -> u64: not 0: there are too many records
 *	nests		LRU_HASH	u64 (pid_tgid) -> struct probe_nest
 *	omitted		ARRAY		0 -> struct probe_omitted
 *	fronts		PERCPU_ARRAY	u32 -> struct probe_front
 *	held		HASH		u64 (pid_tgid) -> struct probe_held
 */
struct program_maps {
	int cells, rows, starts, stacks, rings, tasks, cgroup, followed, gate, nests, omitted;
	int fronts, held;
};

/* Of the stack, for those functions: attach.h. */
enum { PROGRAM_BLOCK_STACK = 256 };

/* When a program runs for a hit of a system call: see struct probe_held. */
enum program_turn {
	TURN_FIRST, /* as the call begins */
	TURN_ENDED, /* for a hit that was held, as the call ends */
	TURN_EXEC,  /* ..., once a new program has the place of the one that called */
};

/* One program may serve many functions (kprobe.multi): then it asks the kernel which. */
struct program_wants {
	const struct plan *plan;
	size_t probe;  /* number in the plan */
	uint32_t cell; /* number of the program */
	enum program_ctx ctx;
	bool asks_address; /* bpf_get_func_ip instead of a constant */
	const struct program_maps *maps;
	bool is_atomic; /* another hit may interrupt this one on the same CPU (raw before 6.1) */
	bool has_front; /* rows of the first keys are in `fronts`, of the others in `rows` */
	bool unwinds;	/* user stacks come from the functions that are appended at load, */
	bool no_ustack; /* or are not wanted */
	bool is_direct; /* fentry, fexit: members are loaded without a helper; verifiers may refuse
			 */
	const struct probe_task *task; /* read as plain memory; NULL: by helpers */
	bool is_nested;		       /* the return of a user function: see program__make_nest */
	bool holds;		       /* TURN_FIRST: a hit may be held */
	enum program_turn turn;
};

struct program {
	struct bpf_insn *insns;
	size_t nr;
	/* By instruction: the value it was made for; NULL: none. */
	const struct value **of;
};

/* -EINVAL, -E2BIG: said (program too long, an argument that this ctx cannot provide). */
int program__make(struct program *program, const struct program_wants *wants);
/* For entries of user functions with attached returns: counts the returns that the kernel omits
 * (wire/probe_maps.h). The programs of these returns have is_nested. */
int program__make_nest(struct program *program, const struct program_wants *wants);
void program__free(struct program *program);
void program__print(const struct program *program, FILE *out); /* --emit */
/* The value that the last instruction in the verifier's log is for; NULL: unknown. */
const struct value *program__blame(const struct program *program, const char *log);

/*
 * The program's row is in its cell because its key is constant: writes that key, plan->key_bytes,
 * to key. false: its rows, if any, are in `rows`.
 */
bool program__uses_cell(const struct program_wants *wants, void *key);

/*
 * Hits only become rows, and nothing can fail on the way to them: programs with their rows in
 * `rows` skip their cell, which takes 4 ns of 77, and count a hit only if it did not fit there. The
 * rows have the number of the other hits.
 */
bool program__hits_are_rows(const struct plan *plan);

#endif
