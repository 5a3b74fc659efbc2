/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * program.h: BPF instructions for one probe of a plan. The emitter is ours: no compiler, no LLVM.
 * What it makes is judged by the kernel's verifier; program__blame says which part of the line a
 * refusal is about.
 */
#ifndef IOSONAR_PROBE_CODE_PROGRAM_H
#define IOSONAR_PROBE_CODE_PROGRAM_H

#include <linux/bpf.h>
#include <stdio.h>
#include "probe/lang/plan.h"

/* How the probe will be attached decides how a program finds its arguments. */
enum program_ctx {
	CTX_RECORD,  /* classic tracepoint: the record */
	CTX_RAW,     /* raw tracepoint: u64 args[] */
	CTX_TRACING, /* fentry, fexit, tp_btf: u64 args[], ret behind them */
	CTX_REGS,    /* kprobe, uprobe: struct pt_regs of this machine */
	CTX_PERF,    /* perf event: bpf_perf_event_data */
};

/*
 * What a program returns, on every way out: that nobody else notices it. The kernel's rules:
 *	tracepoint	its programs stand in one list for the whole machine. What they return is
 *			ANDed; at 0 the event ends there, for perf stat and perf record of everybody
 *			(perf_trace_run_bpf_submit, perf_syscall_enter). 1 lets it go on.
 *	kprobe, uprobe	the same rule, but the perf event is one that perf_event_open made for us
 *			alone; kprobes and uprobes of others at the same place have lists of their
 *			own. 0 ends our event, which nobody reads.
 *	kprobe.multi	ignored; only those of sessions have a meaning, and we load none.
 *	raw, tp_btf	ignored (__bpf_trace_run).
 *	fentry, fexit	ignored; the verifier takes 0 only. Programs that change what a function
 *			returns are of another kind (fmod_ret).
 *	perf event	0: no sample is written for our own event (bpf_overflow_handler). Those of
 *			others at the same counter are other events.
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
 */
struct program_maps {
	int cells, rows, starts, stacks, rings, tasks, cgroup, followed, gate, nests, omitted;
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
	bool is_nested; /* the return of a user function: see program__make_nest */
	char *why; /* PROGRAM_WHY bytes: what cannot be made is written there, not said; or NULL */
};
enum { PROGRAM_WHY = 160 };

struct program {
	struct bpf_insn *insns;
	size_t nr;
	/* By instruction: the value it was made for; NULL: none. */
	const struct value **of;
};

/* -EINVAL, -E2BIG: said (too long a program, an argument that this ctx cannot give). */
int program__make(struct program *program, const struct program_wants *wants);
/* For the entries of user functions whose returns are wanted: counts the returns that the kernel
 * omits (wire/probe_maps.h). Programs of these returns have is_nested. */
int program__make_nest(struct program *program, const struct program_wants *wants);
void program__free(struct program *program);
void program__print(const struct program *program, FILE *out); /* --emit */
/* The value whose instructions the verifier's log ends in; NULL: it does not say. */
const struct value *program__blame(const struct program *program, const char *log);

/*
 * Its row is in its cell, since its key is always the same, and that is it: plan->key_bytes are
 * written to key. false: its rows, if there are any, are in `rows`.
 */
bool program__uses_cell(const struct program_wants *wants, void *key);

/*
 * Nothing but rows becomes of a hit, and nothing can fail on the way to them: programs whose rows
 * are in `rows` do without their cell, which takes 4 ns of 77, and count as a hit only what did
 * not fit there. The rows have the number of the others.
 */
bool program__hits_are_rows(const struct plan *plan);

#endif
