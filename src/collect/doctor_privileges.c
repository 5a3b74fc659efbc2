/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * doctor_privileges.c: may this process do what a run needs? A finding for each right, limit and
 * lock that decides it, judged from the facts alone.
 */
#include "collect/doctor.h"

#include <inttypes.h>

static void judge_capability(struct doctor_report *report, bool has, const char *name,
			     const char *why)
{
	struct finding *f = doctor_report__add(report, "privilege", has ? doctor_ok : doctor_no);

	finding__say(f, name, "%s", why);
	f->remedy = has ? NULL : "run it as root, or grant the capability";
}

static void judge_sys_admin(struct doctor_report *report, const struct rights *p)
{
	bool has = rights__has_sys_admin(p);

	finding__say(doctor_report__add(report, "privilege", has ? doctor_ok : doctor_info),
		     "CAP_SYS_ADMIN",
		     has ? "allows typed pointers for NVMe if nvme_core is a module"
			 : "missing: no typed pointers for NVMe if nvme_core is a module");
}

static void judge_memlock(struct doctor_report *report, const struct doctor_facts *facts)
{
	uint64_t limit = facts->rights.memlock_bytes;
	bool matters = report->obstacle.kind == OBSTACLE_MEMLOCK;
	bool passed = facts->rehearsal.start.step > START_TABLES;
	struct finding *f = doctor_report__add(report, "privilege",
					       matters			       ? doctor_no
					       : passed || limit == UINT64_MAX ? doctor_ok
									       : doctor_unknown);

	f->bytes = limit;
	f->remedy = matters ? "ulimit -l unlimited" : NULL;
	if (limit == UINT64_MAX)
		finding__say(f, "memlock", "no limit");
	else
		finding__say(f, "memlock", "%" PRIu64 " KiB: %s", limit >> 10,
			     matters  ? "too low, tables count as locked memory"
			     : passed ? "enough for a run"
				      : "unknown whether it is enough");
}

static void judge_lockdown(struct doctor_report *report, const struct doctor_facts *facts)
{
	const struct rights *p = &facts->rights;
	bool blocks = facts->tried[TRIAL_READ_KERNEL] < 0 && !facts->tried[TRIAL_RAW_TP];
	bool asked = !facts->tried[TRIAL_READ_KERNEL] || blocks;
	struct finding *f = doctor_report__add(report, "privilege",
					       blocks  ? doctor_no
					       : asked ? doctor_ok
						       : doctor_unknown);

	finding__say(f, "lockdown", "%s; %s",
		     p->lockdown[0] ? p->lockdown : "mode not shown (no securityfs)",
		     blocks  ? "BPF may not read kernel memory"
		     : asked ? "BPF may read kernel memory"
			     : "not tried without privileges");
	f->remedy = blocks ? "boot with lockdown=integrity" : NULL;
}

static void judge_unprivileged(struct doctor_report *report, const struct rights *p)
{
	static const char *const meanings[] = {
		"0: unprivileged users may load simple programs, but not those of iosonar",
		"1: only privileged users, until the next boot",
		"2: only privileged users",
	};
	int value = p->unprivileged_bpf_disabled;

	finding__say(doctor_report__add(report, "privilege", doctor_info),
		     "unprivileged_bpf_disabled", "%s",
		     value >= 0 && value <= 2 ? meanings[value] : "unknown");
}

static void judge_confinement(struct doctor_report *report, const struct rights *p)
{
	struct finding *f;

	if (p->user_namespace) {
		f = doctor_report__add(report, "privilege", doctor_no);
		finding__say(f, "user namespace",
			     "capabilities of a user namespace do not allow BPF");
		f->remedy = "run it as root on the host";
	}
	if (p->seccomp > 0)
		finding__say(doctor_report__add(report, "privilege", doctor_info), "seccomp",
			     "mode %d: a filter checks every system call", p->seccomp);
	finding__say(doctor_report__add(report, "privilege", doctor_info), "tracefs",
		     "%s; required only for tracepoints, e.g. count block:NAME",
		     p->has_tracefs ? "readable" : "not mounted, or not readable");
}

/* What a run gives up beside capabilities and system calls. */
static void judge_landlock(struct doctor_report *report, const struct rights *p)
{
	bool has = p->landlock > 0;

	finding__say(
		doctor_report__add(report, "privilege", has ? doctor_ok : doctor_info), "Landlock",
		"%s",
		has ? "a run cannot create, change or remove files"
		    : "not available: only the system call filter keeps a run from changing files");
}

void doctor__judge_privileges(struct doctor_report *report, const struct doctor_facts *facts)
{
	const struct rights *p = &facts->rights;

	finding__say(doctor_report__add(report, "privilege", doctor_info), "user", "uid %u",
		     p->uid);
	judge_capability(report, rights__has_bpf(p), "CAP_BPF",
			 "to create BPF tables and programs");
	judge_capability(report, rights__has_perfmon(p), "CAP_PERFMON",
			 "for programs that read kernel memory");
	judge_sys_admin(report, p);
	judge_lockdown(report, facts);
	judge_memlock(report, facts);
	judge_unprivileged(report, p);
	judge_confinement(report, p);
	judge_landlock(report, p);
}
