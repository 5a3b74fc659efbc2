/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * attach.h: how does this kernel let a program be attached to a probe? Decided by trial, never by
 * version: fentry or kprobe.multi or kprobe for functions, a perf event or a link of its own for
 * the others. Says what a way can miss. Closing is what takes time: some 100 ms for each fentry,
 * kprobe, uprobe and tracepoint, nothing for the rest.
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
bool attach__is_slow_to_close(enum attach_way way); /* more than a few take seconds */

/* What was tried and found out so far, once for all probes of a run. */
struct attacher;
struct attacher *attacher__new(void); /* NULL: out of memory */
void attacher__free(struct attacher *attacher);
/*
 * From now on functions are traced from entry to return. Programs of kprobe.multi are left out
 * where one of them was interrupted, and so would be the completion of an I/O: functions that end
 * one have fentry each. Returns that only kretprobes see, which lose some silently, are not
 * attached (ATTACH_NONE), unless the user insists.
 */
void attacher__trace_calls(struct attacher *attacher, bool insists);

/*
 * Which way for each of these, all of one kind. Functions: few by fentry, many by kprobe.multi;
 * one that none of the ways takes is ATTACH_NONE. -EOPNOTSUPP: there is none for any, said with the
 * reason.
 */
int attach__choose(struct attacher *attacher, const struct probe *const *probes, size_t nr,
		   enum attach_way *ways);
/* What to try after this way failed for the probe: ATTACH_NONE if there is nothing left. */
enum attach_way attach__instead(struct attacher *attacher, enum attach_way way,
				const struct probe *probe);
/* false: the kernel may skip hits, or lose them, without counting that. */
bool attach__is_exact(struct attacher *attacher, enum attach_way way, const struct probe *probe);
/* What of, and what to ask for instead, for people. */
const char *attach__inexact(enum attach_way way);
/* Another hit may run the same program on the same CPU while this one does. */
bool attach__may_nest(struct attacher *attacher, enum attach_way way, const struct probe *probe);
/* "not traceable": why an attempt failed, for a line that names the probe. */
const char *attach__why(enum attach_way way, int err);

/* A program that is loaded, and where it is attached. */
struct attachment {
	enum attach_way way;
	int prog_fd; /* -1: none */
	int *fds;    /* links, perf events */
	size_t nr_fds;
};

struct attach_load {
	enum attach_way way;
	const struct probe *probe;
	const struct bpf_insn *insns;
	size_t nr;
	int switch_fd; /* an array of one u64: while it is 0 the program does nothing; -1: none */
	char *log;     /* of the verifier, when it refused: "" if it did not speak */
	size_t log_size;
};
/* -errno, not said. The log counts instructions as the program does, without the switch. */
int attachment__load(struct attachment *a, struct attacher *attacher,
		     const struct attach_load *load);
/*
 * One probe, or all that one program serves. errs: of each probe, 0 or -errno. 0 if one at least
 * could be attached.
 */
int attachment__attach(struct attachment *a, struct attacher *attacher,
		       const struct probe *const *probes, size_t nr, int *errs);
/* One program more, of another attachment, at one probe; `a` holds it. */
int attachment__share(struct attachment *a, struct attacher *attacher,
		      const struct attachment *with, const struct probe *probe);
uint64_t attachment__missed(const struct attachment *a); /* recursion_misses of the program */
void attachment__detach(struct attachment *a);		 /* closes what fds hold */
void attachment__close(struct attachment *a);		 /* and the program */

/* A counter without a program, on every CPU, for SOFT and HW that have no period. */
struct attach_task {
	uint32_t pid;	 /* 0: all */
	uint64_t cgroup; /* 0: all */
	bool children;	 /* of pid: also those that it starts from now on */
};
int attach__count(struct attacher *attacher, const struct probe *probe,
		  const struct attach_task *task, int **fds, size_t *nr);
/* Its sum. *is_scaled: counters had to take turns, so that it is an estimate. */
int attach__read_counter(const int *fds, size_t nr, uint64_t *count, bool *is_scaled);

#endif
