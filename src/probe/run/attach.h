/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach.h: how does this kernel let a program be attached to a probe? Decided by trial, never by
 * version: fentry or kprobe.multi or kprobe for functions, a perf event or a link of its own for
 * the others. Says which hits a way can miss. Closing is slow: some 100 ms for each fentry, kprobe,
 * uprobe and tracepoint, nothing for the rest.
 */
#ifndef IOSONAR_PROBE_RUN_ATTACH_H
#define IOSONAR_PROBE_RUN_ATTACH_H

#include "probe/code/program.h"

enum attach_way {
	ATTACH_NONE,
	ATTACH_TRACEPOINT,
	ATTACH_RAW,
	ATTACH_TP_BTF,
	ATTACH_FENTRY,	     /* and fexit: one program per function */
	ATTACH_KPROBE_MULTI, /* and kretprobe.multi: one program for all */
	ATTACH_KPROBE,	     /* and kretprobe */
	ATTACH_UPROBE,	     /* and uretprobe, USDT */
	ATTACH_PERF,
	NR_ATTACH_WAYS,
};

enum program_ctx attach__ctx(enum attach_way way);
const char *attach__word(enum attach_way way); /* "fentry", for -v and the summary */
bool attach__serves_many(enum attach_way way);
bool attach__is_slow_to_close(enum attach_way way); /* more than a few of them take seconds */

/* Results of trials so far, shared by all probes of a run. */
struct attacher;
struct attacher *attacher__new(void); /* NULL: out of memory */
void attacher__free(struct attacher *attacher);
/*
 * From now on functions are traced from entry to return. A kprobe.multi program is skipped if it
 * interrupts another one, and so would be the completion of an I/O: functions that end an I/O get a
 * fentry each. Returns that only kretprobes see, which lose some silently, are not attached
 * (ATTACH_NONE), unless the user insists.
 */
void attacher__trace_calls(struct attacher *attacher, bool insists);

/*
 * Chooses a way for each of these probes, all of one kind. Functions: few by fentry, many by
 * kprobe.multi; ATTACH_NONE if no way works for one. -EOPNOTSUPP: no way for any, said with the
 * reason.
 */
int attach__choose(struct attacher *attacher, const struct probe *const *probes, size_t nr,
		   enum attach_way *ways);
/* The way to try after this one failed for the probe: ATTACH_NONE if none is left. */
enum attach_way attach__instead(struct attacher *attacher, enum attach_way way,
				const struct probe *probe);
/* false: the kernel may skip or lose hits without counting them. */
bool attach__is_exact(struct attacher *attacher, enum attach_way way, const struct probe *probe);
/* What it may miss, and what to use instead, as text for users. */
const char *attach__inexact(enum attach_way way);
/* Another hit may run the same program on the same CPU before this one ends. */
/* Programs may load from the task's struct, at these offsets: since bpf_get_current_task_btf
 * (3ca1032ab7ab). */
bool attach__reads_task(struct attacher *attacher, const struct probe_task *task);
bool attach__may_nest(struct attacher *attacher, enum attach_way way, const struct probe *probe);
/* "not traceable": why an attempt failed, for a line that names the probe. */
const char *attach__why(enum attach_way way, int err);

/* A loaded program, and where it is attached. */
struct attachment {
	enum attach_way way;
	int prog_fd; /* -1: none */
	int *fds;    /* links, perf events */
	size_t nr_fds;
};

/*
 * Compiled functions that are appended to a program which calls them (code__call_block calls the
 * first one). The first entry of functions has the type of the program itself; the others begin
 * insn_off instructions behind its end. They take up to PROGRAM_BLOCK_STACK bytes of the stack.
 */
struct attach_block {
	const struct bpf_insn *insns;
	size_t nr;
	const struct bpf_func_info *functions;
	size_t nr_functions;
	int btf_fd;
};

struct attach_load {
	enum attach_way way;
	const struct probe *probe;
	const struct bpf_insn *insns;
	size_t nr;
	const struct attach_block *block; /* NULL: it calls none */
	int switch_fd; /* an array of one u64: while it is 0 the program does nothing; -1: none */
	char *log;     /* the verifier's, after a refusal: "" if it has none */
	size_t log_size;
};
/* -errno, not said. The log numbers instructions as the program does, without the switch. */
int attachment__load(struct attachment *a, struct attacher *attacher,
		     const struct attach_load *load);
/*
 * Attaches to one probe, or to all that one program serves. errs: 0 or -errno per probe. Returns 0
 * if at least one is attached.
 */
int attachment__attach(struct attachment *a, struct attacher *attacher,
		       const struct probe *const *probes, size_t nr, int *errs);
/* Attaches another attachment's program to one probe as well; `a` holds the link. */
int attachment__share(struct attachment *a, struct attacher *attacher,
		      const struct attachment *with, const struct probe *probe);
uint64_t attachment__missed(const struct attachment *a); /* recursion_misses of the program */
void attachment__detach(struct attachment *a);		 /* closes fds */
void attachment__close(struct attachment *a);		 /* and the program */

/* A counter without a program, on every CPU, for SOFT and HW that have no period. */
struct attach_task {
	uint32_t pid;	 /* 0: all */
	uint64_t cgroup; /* 0: all */
	bool children;	 /* of pid: also those that it starts from now on */
};
int attach__count(struct attacher *attacher, const struct probe *probe,
		  const struct attach_task *task, int **fds, size_t *nr);
/* The sum. *is_scaled: counters were multiplexed, so that it is an estimate. */
int attach__read_counter(const int *fds, size_t nr, uint64_t *count, bool *is_scaled);

#endif
