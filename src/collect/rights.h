/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rights.h: what may this process do? Asks the kernel, and reads /proc and /sys (below a root that
 * tests replace): a dozen system calls. The policy of a security module or a seccomp filter cannot
 * be read: trial.h finds out by trying.
 */
#ifndef IOSONAR_COLLECT_RIGHTS_H
#define IOSONAR_COLLECT_RIGHTS_H

#include <stdbool.h>
#include <stdint.h>

enum { RIGHTS_UNKNOWN = -1 };

struct rights {
	uint32_t uid;
	uint64_t caps;		       /* effective; bit N is capability number N */
	bool user_namespace;	       /* not the host's: its capabilities do not count for BPF */
	int seccomp;		       /* 0: no filter, 2: a filter */
	int landlock;		       /* version; -errno: not in this kernel */
	uint64_t memlock_bytes;	       /* UINT64_MAX: no limit */
	uint64_t nr_files;	       /* limit of open files; UINT64_MAX: none */
	uint64_t memory_bytes;	       /* limit of addresses; UINT64_MAX: none */
	int unprivileged_bpf_disabled; /* 0, 1, 2; RIGHTS_UNKNOWN */
	char lockdown[24];	       /* "none", "integrity", "confidentiality"; "": unknown */
	bool has_sysfs;
	bool has_tracefs;  /* and its events are readable */
	bool has_kallsyms; /* with addresses, not zeros */
};

/* root: "" or a test's tree. Unreadable values are unknown, never an error. */
void rights__read(struct rights *rights, const char *root);

/* CAP_SYS_ADMIN implies both, as in the kernel. */
bool rights__has_bpf(const struct rights *rights);
bool rights__has_perfmon(const struct rights *rights);
bool rights__has_sys_admin(const struct rights *rights);
bool rights__has_ptrace(const struct rights *rights); /* may inspect other users' processes */

#endif
