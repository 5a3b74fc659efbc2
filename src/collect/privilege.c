/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/privilege.h"

#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON /* headers of 5.7 and before */
#define CAP_PERFMON 38
#define CAP_BPF	    39
#endif

enum { PRIVILEGE_TEXT = 256 };

/* The file's beginning; "" if it cannot be read. */
static const char *privilege_text(const char *root, const char *path, char text[PRIVILEGE_TEXT])
{
	char full[PATH_MAX];
	size_t len = 0;
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	file = fopen(full, "re");
	if (file) {
		len = fread(text, 1, PRIVILEGE_TEXT - 1, file);
		fclose(file);
	}
	text[len] = 0;
	return text;
}

static int privilege_number(const char *root, const char *path)
{
	char text[PRIVILEGE_TEXT], *end;
	long n = strtol(privilege_text(root, path, text), &end, 10);

	return end == text || n < 0 || n > INT_MAX ? PRIVILEGE_UNKNOWN : (int)n;
}

static uint64_t privilege_caps(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (syscall(SYS_capget, &header, data))
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

/* The host's own maps every id to itself: "0 0 4294967295". */
static bool privilege_in_user_namespace(const char *root)
{
	char text[PRIVILEGE_TEXT];
	unsigned long inside = 0, outside = 0, nr = UINT32_MAX;

	if (sscanf(privilege_text(root, "/proc/self/uid_map", text), "%lu %lu %lu", &inside,
		   &outside, &nr) != 3)
		return false;
	return inside || outside || nr != UINT32_MAX;
}

/* "none [integrity] confidentiality": the one in brackets. */
static void privilege_read_lockdown(struct privilege *p, const char *root)
{
	char text[PRIVILEGE_TEXT];
	const char *open = strchr(privilege_text(root, "/sys/kernel/security/lockdown", text), '[');
	size_t len = open ? strcspn(open + 1, "]\n") : 0;

	if (len >= sizeof(p->lockdown))
		len = 0;
	memcpy(p->lockdown, open ? open + 1 : "", len);
	p->lockdown[len] = 0;
}

static bool privilege_sees(const char *root, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return !access(full, R_OK);
}

void privilege__read(struct privilege *p, const char *root)
{
	struct rlimit limit;

	memset(p, 0, sizeof(*p));
	p->uid = geteuid();
	p->caps = privilege_caps();
	p->seccomp = prctl(PR_GET_SECCOMP);
	privilege_read_lockdown(p, root);
	p->user_namespace = privilege_in_user_namespace(root);
	p->memlock_bytes = UINT64_MAX;
	if (!getrlimit(RLIMIT_MEMLOCK, &limit) && limit.rlim_cur != RLIM_INFINITY)
		p->memlock_bytes = limit.rlim_cur;
	p->unprivileged_bpf_disabled =
		privilege_number(root, "/proc/sys/kernel/unprivileged_bpf_disabled");
	p->has_sysfs = privilege_sees(root, "/sys/block");
	p->has_tracefs =
		privilege_sees(root, "/sys/kernel/tracing/events/block/block_rq_issue/id") ||
		privilege_sees(root, "/sys/kernel/debug/tracing/events/block/block_rq_issue/id");
}

bool privilege__has_sys_admin(const struct privilege *p)
{
	return p->caps >> CAP_SYS_ADMIN & 1;
}

bool privilege__has_bpf(const struct privilege *p)
{
	return p->caps >> CAP_BPF & 1 || privilege__has_sys_admin(p);
}

bool privilege__has_perfmon(const struct privilege *p)
{
	return p->caps >> CAP_PERFMON & 1 || privilege__has_sys_admin(p);
}
