/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * privilege.h: what may this process still do once its programs are attached? Count, read /sys and
 * write to what it has open: no capability, nothing gained by exec, no file to create or change
 * where the kernel has Landlock, and a list of allowed system calls. Costs some 50 system calls
 * once; a call that is not on the list fails with EPERM. The kernel judges each thread for itself:
 * drop while there is only one.
 */
#ifndef IOSONAR_BASE_PRIVILEGE_H
#define IOSONAR_BASE_PRIVILEGE_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Which list of system calls. */
enum privilege_role {
	PRIVILEGE_RUNS,	  /* the loop of a run */
	PRIVILEGE_PARSES, /* reads hostile files: only descriptors that it has or is handed */
	PRIVILEGE_OPENS,  /* opens files to read and hands them on: it reads none */
	PRIVILEGE_MAKES,  /* creates files and hands them on: it reads and writes none */
};

/* What a process will do beyond that. */
struct privilege_needs {
	enum privilege_role role;
	pid_t child;	    /* the one process it may signal; 0: none */
	bool attaches;	    /* programs that are loaded, at a device that is not there yet */
	bool runs;	    /* a program that is loaded, by BPF_PROG_TEST_RUN */
	bool reads_maps;    /* that cannot be mapped, by bpf() */
	bool opens_in_root; /* of other processes, by openat2() */
};

/* Cannot be undone, and children inherit it. What cannot be dropped is said in one line. */
void privilege__drop(const struct privilege_needs *needs);

/* The list of system calls alone, for who keeps capabilities; no new privileges come first. 0 also
 * where there is no list. */
int privilege__filter_calls(const struct privilege_needs *needs);

/*
 * Does this kernel attach a loaded program for a process without capabilities? Before 5.19
 * (c8644cd0efe7) kernel.unprivileged_bpf_disabled forbids all of bpf(), after it only load and
 * create.
 */
bool privilege__can_attach_without(void);

/*
 * For a process that works for another: no output, no program's descriptor, no folder that could
 * not be unmounted. These descriptors are all it has, from PRIVILEGE_KEPT_FD on. It ends if that
 * fails.
 */
enum { PRIVILEGE_KEPT_FD = 3, PRIVILEGE_KEPT_MAX = 2 };
void privilege__keep_descriptors(const int *fds, int nr);
/* A file can be made to take all memory and all time of who unpacks it: so much more, and no core.
 */
void privilege__limit(uint64_t memory_bytes, unsigned int cpu_s);

/* The list as a seccomp program; its length, or 0 where there is none for this machine. */
enum { PRIVILEGE_FILTER_MAX = 512 };
size_t privilege__filter(const struct privilege_needs *needs, struct sock_filter *insns);

#endif
