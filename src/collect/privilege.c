/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/privilege.h"

#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef CAP_PERFMON /* headers of 5.7 and before */
#define CAP_PERFMON 38
#define CAP_BPF	    39
#endif

enum { PRIVILEGE_TEXT = 8192 };

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

/* What follows "\nName:" in /proc/self/status; NULL if there is no such line. */
static const char *privilege_line(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	return at && at > status && at[-1] == '\n' ? at + strlen(name) : NULL;
}

static int privilege_number(const char *root, const char *path)
{
	char text[PRIVILEGE_TEXT], *end;
	long n = strtol(privilege_text(root, path, text), &end, 10);

	return end == text || n < 0 || n > INT_MAX ? PRIVILEGE_UNKNOWN : (int)n;
}

static void privilege_read_status(struct privilege *p, const char *root)
{
	char text[PRIVILEGE_TEXT];
	const char *status = privilege_text(root, "/proc/self/status", text), *line;

	p->caps = (line = privilege_line(status, "CapEff:")) ? strtoull(line, NULL, 16) : 0;
	p->seccomp = (line = privilege_line(status, "Seccomp:")) ? atoi(line) : PRIVILEGE_UNKNOWN;
	if ((line = privilege_line(status, "Uid:")))
		sscanf(line, "%*u %u", &p->uid); /* the effective one */
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
	privilege_read_status(p, root);
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
