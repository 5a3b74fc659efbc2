/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * privilege.h: what may this process do? Asked of the kernel, and read from /proc and /sys (below
 * a root that tests replace): a dozen system calls. What a security module or a seccomp filter
 * would say is not written anywhere: trial.h finds out.
 */
#ifndef IOSONAR_COLLECT_PRIVILEGE_H
#define IOSONAR_COLLECT_PRIVILEGE_H

#include <stdbool.h>
#include <stdint.h>

enum { PRIVILEGE_UNKNOWN = -1 };

struct privilege {
	uint32_t uid;
	uint64_t caps;		       /* effective; bit N is capability number N */
	bool user_namespace;	       /* not the host's: its capabilities do not count for BPF */
	int seccomp;		       /* 0: no filter, 2: a filter */
	uint64_t memlock_bytes;	       /* UINT64_MAX: no limit */
	int unprivileged_bpf_disabled; /* 0, 1, 2; PRIVILEGE_UNKNOWN */
	char lockdown[24];	       /* "none", "integrity", "confidentiality"; "": unknown */
	bool has_sysfs;
	bool has_tracefs; /* and its events can be read */
};

/* root: "" or a test's tree. What cannot be read is unknown, never an error. */
void privilege__read(struct privilege *privilege, const char *root);

/* CAP_SYS_ADMIN stands for both, as it does in the kernel. */
bool privilege__has_bpf(const struct privilege *privilege);
bool privilege__has_perfmon(const struct privilege *privilege);
bool privilege__has_sys_admin(const struct privilege *privilege);

#endif
