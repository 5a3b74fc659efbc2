/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * trial.h: would the kernel take it? Asked by doing the least of it: a program of two instructions,
 * a map of one page, an empty program attached for a moment. What succeeds is undone at once;
 * nothing is said. It costs a few system calls each, and says nothing about a program that is
 * longer.
 */
#ifndef IOSONAR_COLLECT_TRIAL_H
#define IOSONAR_COLLECT_TRIAL_H

enum trial {
	TRIAL_ARRAY,	   /* a mapped array: every table is one */
	TRIAL_UNLOCKED,	   /* the same where no memory may be locked: tables do not count as such */
	TRIAL_RING,	   /* a ring buffer */
	TRIAL_RAW_TP,	   /* a program for plain pointers */
	TRIAL_READ_KERNEL, /* one that copies kernel memory: lockdown's "confidentiality" forbids */
	TRIAL_TP_BTF,	   /* one for typed pointers */
	TRIAL_TP,	   /* a classic tracepoint, which needs tracefs */
	TRIAL_KPROBE,
	TRIAL_UPROBE, /* who may not attach one to a process's function is told before where */
	TRIAL_FENTRY, /* attached to a function that only self-tests of BPF call */
	NR_TRIALS,
};

enum { TRIAL_NOT_DONE = 1 };

int trial__do(enum trial trial); /* 0: it works; -errno */
/* An empty program on this tracepoint, for a moment. 0; -ENOENT: there is no such event; -errno. */
int trial__attach(const char *event);

#endif
