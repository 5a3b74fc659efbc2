/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/rights.h"

#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/landlock.h"
#include "base/text.h"
#include "symbol/kallsyms.h"

#ifndef CAP_PERFMON /* missing in headers of 5.7 and before */
#define CAP_PERFMON 38
#define CAP_BPF	    39
#endif

enum { PRIVILEGE_TEXT = 256 };

/* The file's first line; "" if it cannot be read. */
static const char *rights_text(const char *root, const char *path, char text[PRIVILEGE_TEXT])
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", root, path);
	text__read_line(full, text, PRIVILEGE_TEXT);
	return text;
}

static int rights_number(const char *root, const char *path)
{
	char text[PRIVILEGE_TEXT], *end;
	long n = strtol(rights_text(root, path, text), &end, 10);

	return end == text || n < 0 || n > INT_MAX ? RIGHTS_UNKNOWN : (int)n;
}

static uint64_t rights_caps(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data))
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

/* The host's namespace maps every id to itself: "0 0 4294967295". */
static bool rights_in_user_namespace(const char *root)
{
	char text[PRIVILEGE_TEXT];
	unsigned long inside = 0, outside = 0, nr = UINT32_MAX;

	if (sscanf(rights_text(root, "/proc/self/uid_map", text), "%lu %lu %lu", &inside, &outside,
		   &nr) != 3)
		return false;
	return inside || outside || nr != UINT32_MAX;
}

/* "none [integrity] confidentiality": the word in brackets. */
static void rights_read_lockdown(struct rights *p, const char *root)
{
	char text[PRIVILEGE_TEXT];
	const char *open = strchr(rights_text(root, "/sys/kernel/security/lockdown", text), '[');
	size_t len = open ? strcspn(open + 1, "]\n") : 0;

	if (len >= sizeof(p->lockdown))
		len = 0;
	memcpy(p->lockdown, open ? open + 1 : "", len);
	p->lockdown[len] = 0;
}

static bool rights_sees(const char *root, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return !access(full, R_OK);
}

static bool rights_sees_addresses(const char *root)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s/proc/kallsyms", root);
	return kallsyms__shows(full);
}

static uint64_t rights_limit(int resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

void rights__read(struct rights *p, const char *root)
{
	memset(p, 0, sizeof(*p));
	p->uid = geteuid();
	p->caps = rights_caps();
	p->seccomp = prctl(PR_GET_SECCOMP);
	p->landlock = landlock__version();
	rights_read_lockdown(p, root);
	p->user_namespace = rights_in_user_namespace(root);
	p->memlock_bytes = rights_limit(RLIMIT_MEMLOCK);
	p->nr_files = rights_limit(RLIMIT_NOFILE);
	p->memory_bytes = rights_limit(RLIMIT_AS);
	p->unprivileged_bpf_disabled =
		rights_number(root, "/proc/sys/kernel/unprivileged_bpf_disabled");
	p->has_sysfs = rights_sees(root, "/sys/block");
	p->has_tracefs =
		rights_sees(root, "/sys/kernel/tracing/events/block/block_rq_issue/id") ||
		rights_sees(root, "/sys/kernel/debug/tracing/events/block/block_rq_issue/id");
	p->has_kallsyms = rights_sees_addresses(root);
}

bool rights__has_sys_admin(const struct rights *p)
{
	return p->caps >> CAP_SYS_ADMIN & 1;
}

bool rights__has_bpf(const struct rights *p)
{
	return p->caps >> CAP_BPF & 1 || rights__has_sys_admin(p);
}

bool rights__has_perfmon(const struct rights *p)
{
	return p->caps >> CAP_PERFMON & 1 || rights__has_sys_admin(p);
}

bool rights__has_ptrace(const struct rights *p)
{
	return p->caps >> CAP_SYS_PTRACE & 1;
}
