/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trial.h: would the kernel accept it? Tries the smallest case: a program of two instructions, a
 * map of one page, an empty program attached for a moment. Successful trials are undone at once;
 * nothing is printed. Each costs a few system calls, and says nothing about longer programs.
 */
#ifndef IOSONAR_COLLECT_TRIAL_H
#define IOSONAR_COLLECT_TRIAL_H

enum trial {
	TRIAL_ARRAY,	   /* a mapped array: every table is one */
	TRIAL_UNLOCKED,	   /* an array with no lockable memory: tables do not count as locked */
	TRIAL_RING,	   /* a ring buffer */
	TRIAL_RAW_TP,	   /* a program for plain pointers */
	TRIAL_READ_KERNEL, /* copies kernel memory: lockdown's "confidentiality" forbids it */
	TRIAL_TP_BTF,	   /* one for typed pointers */
	TRIAL_TP,	   /* a classic tracepoint, which needs tracefs */
	TRIAL_KPROBE,
	TRIAL_UPROBE, /* fails for lack of rights before the path is checked */
	TRIAL_FENTRY, /* attached to a function that only self-tests of BPF call */
	NR_TRIALS,
};

enum { TRIAL_NOT_DONE = 1 };

struct btf;

int trial__do(enum trial trial);	      /* 0: it works; -errno */
int trial__fentry(const struct btf *vmlinux); /* TRIAL_FENTRY, for one who has read the types */
/* Attaches an empty program to this tracepoint for a moment. 0; -ENOENT: no such event; -errno. */
int trial__attach(const char *event);

#endif
