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
	f->remedy = has ? NULL : "run it as root, or grant it";
}

static void judge_sys_admin(struct doctor_report *report, const struct rights *p)
{
	bool has = rights__has_sys_admin(p);

	finding__say(doctor_report__add(report, "privilege", has ? doctor_ok : doctor_info),
		     "CAP_SYS_ADMIN",
		     has ? "typed pointers for NVMe, where it is a module"
			 : "without: no typed pointers where NVMe is a module");
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
			     matters  ? "tables count as locked memory"
			     : passed ? "no hindrance here"
				      : "not known if that is enough");
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
		"0: others may load the simplest programs, but none of these",
		"1: only privileged users, until the next boot",
		"2: only privileged users",
	};
	int value = p->unprivileged_bpf_disabled;

	finding__say(doctor_report__add(report, "privilege", doctor_info),
		     "unprivileged_bpf_disabled", "%s",
		     value >= 0 && value <= 2 ? meanings[value] : "not known");
}

static void judge_confinement(struct doctor_report *report, const struct rights *p)
{
	struct finding *f;

	if (p->user_namespace) {
		f = doctor_report__add(report, "privilege", doctor_no);
		finding__say(f, "user namespace", "its capabilities do not reach BPF");
		f->remedy = "run it as root of the host";
	}
	if (p->seccomp > 0)
		finding__say(doctor_report__add(report, "privilege", doctor_info), "seccomp",
			     "mode %d: a filter sees every system call", p->seccomp);
	finding__say(doctor_report__add(report, "privilege", doctor_info), "tracefs",
		     "%s; only count block:NAME and its like need it",
		     p->has_tracefs ? "readable" : "not mounted, or not readable");
}

/* What a run gives up beside capabilities and system calls. */
static void judge_landlock(struct doctor_report *report, const struct rights *p)
{
	bool has = p->landlock > 0;

	finding__say(
		doctor_report__add(report, "privilege", has ? doctor_ok : doctor_info), "Landlock",
		"%s",
		has ? "a run can create, change or remove no file"
		    : "not here: only its filter of system calls keeps a run from changing files");
}

void doctor__judge_privileges(struct doctor_report *report, const struct doctor_facts *facts)
{
	const struct rights *p = &facts->rights;

	finding__say(doctor_report__add(report, "privilege", doctor_info), "user", "uid %u",
		     p->uid);
	judge_capability(report, rights__has_bpf(p), "CAP_BPF", "to make tables and programs");
	judge_capability(report, rights__has_perfmon(p), "CAP_PERFMON",
			 "for programs that look into the kernel");
	judge_sys_admin(report, p);
	judge_lockdown(report, facts);
	judge_memlock(report, facts);
	judge_unprivileged(report, p);
	judge_confinement(report, p);
	judge_landlock(report, p);
}
