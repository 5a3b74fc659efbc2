/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * privilege.h: what may this process still do once its programs are attached? Count, read /sys and
 * write to open files: no capabilities, no gain by exec, no files created or changed where the
 * kernel has Landlock, and a list of allowed system calls. Costs some 50 system calls once; a call
 * that is not on the list fails with EPERM. The kernel restricts each thread separately: drop while
 * there is only one.
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
	PRIVILEGE_LOOKS,  /* opens and reads files for another process, and writes none */
	PRIVILEGE_KEEPS,  /* creates, syncs, renames and removes the files of a directory */
};

/* The role, and what the process does beyond it. */
struct privilege_needs {
	enum privilege_role role;
	pid_t child;	    /* the one process it may signal; 0: none */
	bool attaches;	    /* loaded programs, to devices that appear later */
	bool runs;	    /* a loaded program, by BPF_PROG_TEST_RUN */
	bool reads_maps;    /* maps that cannot be mmapped, by bpf() */
	bool opens_in_root; /* files in other processes' roots, by openat2() */
	bool serves;	    /* accepts connections to a socket that is open, and answers */
	bool opens_nothing; /* no path at all: a scout reads files for it */
	bool draws;	    /* sets the modes of its terminal */
};

/* Cannot be undone; children inherit it. One line reports what cannot be dropped. */
void privilege__drop(const struct privilege_needs *needs);

/* Only the list of system calls, for a process that keeps capabilities; requires no_new_privs.
 * Returns 0 also where there is no list. */
int privilege__filter_calls(const struct privilege_needs *needs);

/*
 * Does this kernel attach a loaded program for a process without capabilities? Before 5.19
 * (c8644cd0efe7) kernel.unprivileged_bpf_disabled forbids all of bpf(), after it only load and
 * create.
 */
bool privilege__can_attach_without(void);

/*
 * For a process that works for another: keeps no output, no program's descriptor, no directory that
 * could not be unmounted. Only these descriptors stay, from PRIVILEGE_KEPT_FD on. The process ends
 * if that fails.
 */
enum { PRIVILEGE_KEPT_FD = 3, PRIVILEGE_KEPT_MAX = 2 };
void privilege__keep_descriptors(const int *fds, int nr);
/* A hostile file can exhaust memory and time: allows only this much more, and no core dump. */
void privilege__limit(uint64_t memory_bytes, unsigned int cpu_s);

/* The list as a seccomp program; returns its length, or 0 if this machine has no list. */
enum { PRIVILEGE_FILTER_MAX = 512 };
size_t privilege__filter(const struct privilege_needs *needs, struct sock_filter *insns);

#endif
