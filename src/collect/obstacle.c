/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/obstacle.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"

enum {
	OBSTACLE_LEAST_MEMLOCK = 1 << 16, /* even the smallest map may not fit below */
	OBSTACLE_LEAST_FILES = 64,	  /* inflight has 45 open on two CPUs, 2026-11 */
	OBSTACLE_LEAST_MEMORY = 64 << 20, /* cache ran with 48 MiB */
};

static bool obstacle_is_refusal(int err)
{
	return err == -EPERM || err == -EACCES;
}

/* It may be temporary: the kernel is able to, but failed this time. */
static bool obstacle_is_shortage(int err)
{
	return err == -ENOMEM || err == -EMFILE || err == -ENFILE || err == -E2BIG;
}

/*
 * A limit of this process, not a lack of this kernel. Where few files may be open, or memory is
 * short, libbpf's own trials fail, and it draws wrong conclusions from that: EINVAL, ESRCH.
 */
static enum obstacle_kind obstacle_of_limits(const struct start *start, const struct rights *p)
{
	const bool asks_bpf = start->step >= START_TABLES && start->err != -ENOSYS;
	const bool looks = start->step == START_DEVICES;

	if (start->err == -EMFILE || start->err == -ENFILE)
		return OBSTACLE_FILES;
	if (start->err == -ENOMEM && (p->memory_bytes != UINT64_MAX || !asks_bpf))
		return OBSTACLE_MEMORY;
	if ((!asks_bpf && !looks) || obstacle_is_refusal(start->err))
		return OBSTACLE_NONE;
	if (p->nr_files < OBSTACLE_LEAST_FILES)
		return OBSTACLE_FILES;
	return p->memory_bytes < OBSTACLE_LEAST_MEMORY ? OBSTACLE_MEMORY : OBSTACLE_NONE;
}

/* Before 5.11 tables count as locked memory; later kernels accept one where none may be locked. */
static bool obstacle_is_memlock(const struct start *start, const struct rights *p, const int *tried)
{
	if (start->step == START_ATTACH || p->memlock_bytes == UINT64_MAX || !tried[TRIAL_UNLOCKED])
		return false;
	return p->memlock_bytes < OBSTACLE_LEAST_MEMLOCK ||
	       (!tried[TRIAL_ARRAY] && p->memlock_bytes < start->memory_bytes);
}

/* EPERM has many causes; the surest sign comes first. */
static enum obstacle_kind obstacle_refused(const struct start *start, const struct rights *p,
					   const int *tried)
{
	if (!rights__has_bpf(p) || !rights__has_perfmon(p))
		return OBSTACLE_CAPABILITY;
	if (p->user_namespace)
		return OBSTACLE_USER_NAMESPACE;
	if (start->step == START_ATTACH && !rights__has_sys_admin(p))
		return OBSTACLE_SYS_ADMIN;
	if (obstacle_is_memlock(start, p, tried))
		return OBSTACLE_MEMLOCK;
	return p->seccomp > 0 ? OBSTACLE_SECCOMP : OBSTACLE_SECURITY_MODULE;
}

static enum obstacle_kind obstacle_of(const struct start *start, const struct rights *p,
				      const int *tried)
{
	static const enum obstacle_kind of_step[] = {
		[START_BTF] = OBSTACLE_BTF,	      [START_SHAPE] = OBSTACLE_SHAPE,
		[START_DEVICES] = OBSTACLE_DEVICES,   [START_TABLES] = OBSTACLE_TABLES,
		[START_PROGRAMS] = OBSTACLE_PROGRAMS, [START_ATTACH] = OBSTACLE_ATTACH,
	};

	if (!start->err)
		return OBSTACLE_NONE;
	if (obstacle_of_limits(start, p) != OBSTACLE_NONE)
		return obstacle_of_limits(start, p);
	if (start->step == START_BTF && !p->has_sysfs)
		return OBSTACLE_SYSFS;
	if (start->step < START_TABLES)
		return of_step[start->step];
	if (start->err == -ENOSYS)
		return OBSTACLE_NO_BPF;
	if (start->step == START_PROGRAMS && !tried[TRIAL_RAW_TP] && tried[TRIAL_READ_KERNEL] < 0)
		return OBSTACLE_LOCKDOWN;
	if (obstacle_is_refusal(start->err))
		return obstacle_refused(start, p, tried);
	return of_step[start->step];
}

/* Lines that name what was found. */
static void obstacle_tell(struct obstacle *o, const struct start *start, const struct rights *p)
{
	switch (o->kind) {
	case OBSTACLE_SHAPE:
		snprintf(o->line, sizeof(o->line),
			 "unsupported kernel: it has no %s; report this as a bug", start->what);
		break;
	case OBSTACLE_MEMLOCK:
		snprintf(o->line, sizeof(o->line),
			 "locked memory limit %" PRIu64 " KiB, required %" PRIu64
			 " KiB: run ulimit -l unlimited",
			 p->memlock_bytes >> 10, start->memory_bytes >> 10);
		break;
	case OBSTACLE_SYS_ADMIN:
		snprintf(
			o->line, sizeof(o->line),
			"%s: attaching to it requires CAP_SYS_ADMIN on this kernel: run it as root",
			start->what);
		break;
	case OBSTACLE_FILES:
		if (start->err == -ENFILE)
			snprintf(o->line, sizeof(o->line),
				 "too many files are open on this machine: raise fs.file-max");
		else
			snprintf(o->line, sizeof(o->line),
				 "the limit of %" PRIu64
				 " open files is too low: run ulimit -n 1024",
				 p->nr_files);
		break;
	case OBSTACLE_MEMORY:
		if (p->memory_bytes == UINT64_MAX)
			snprintf(o->line, sizeof(o->line), "not enough memory is free: %s",
				 strerror(-start->err));
		else
			snprintf(o->line, sizeof(o->line),
				 "the limit of %" PRIu64
				 " KiB of memory is too low: run ulimit -v unlimited",
				 p->memory_bytes >> 10);
		break;
	case OBSTACLE_TABLES:
		snprintf(o->line, sizeof(o->line), "cannot create the BPF tables: %s",
			 strerror(-start->err));
		break;
	case OBSTACLE_PROGRAMS:
		snprintf(o->line, sizeof(o->line),
			 "this kernel refuses the BPF programs: %s (see latency -vv)",
			 strerror(-start->err));
		break;
	case OBSTACLE_ATTACH:
		snprintf(o->line, sizeof(o->line), "cannot attach to the event %s: %s", start->what,
			 strerror(-start->err));
		break;
	default: break;
	}
}

/* A line fits after "latency cannot run: " in 100 columns. NULL: it names what was found. */
static const struct {
	const char *word, *line;
} obstacle_words[] = {
	[OBSTACLE_NONE] = { "none", NULL },
	[OBSTACLE_BTF] = { "btf",
			   "no BTF in /sys/kernel/btf: use a kernel with CONFIG_DEBUG_INFO_BTF" },
	[OBSTACLE_SYSFS] = { "sysfs", "/sys cannot be read: mount it (mount -t sysfs sysfs /sys)" },
	[OBSTACLE_SHAPE] = { "shape", NULL },
	[OBSTACLE_DEVICES] = { "devices", "no NVMe controller and no disk with a request queue "
					  "found: nothing to measure" },
	[OBSTACLE_NO_BPF] = { "bpf",
			      "this kernel has no bpf(): use a kernel with CONFIG_BPF_SYSCALL" },
	[OBSTACLE_CAPABILITY] = { "capability", "cannot load BPF programs: run it as root, or with "
						"CAP_BPF and CAP_PERFMON" },
	[OBSTACLE_USER_NAMESPACE] = { "user_namespace", "capabilities of a user namespace do not "
							"allow BPF: run it as root on the host" },
	[OBSTACLE_SYS_ADMIN] = { "sys_admin", NULL },
	[OBSTACLE_MEMLOCK] = { "memlock", NULL },
	[OBSTACLE_FILES] = { "files", NULL },
	[OBSTACLE_MEMORY] = { "memory", NULL },
	[OBSTACLE_SECCOMP] = { "seccomp", "a seccomp filter forbids bpf(): allow it (docker: "
					  "--security-opt seccomp=FILE)" },
	[OBSTACLE_SECURITY_MODULE] = { "security_module", "a security module forbids BPF despite "
							  "the capabilities: see dmesg for which" },
	[OBSTACLE_LOCKDOWN] = { "lockdown", "kernel lockdown forbids BPF to read the kernel: boot "
					    "with lockdown=integrity" },
	[OBSTACLE_TABLES] = { "tables", NULL },
	[OBSTACLE_PROGRAMS] = { "programs", NULL },
	[OBSTACLE_ATTACH] = { "attach", NULL },
};

const char *obstacle__word(enum obstacle_kind kind)
{
	return obstacle_words[kind].word;
}

void obstacle__judge(struct obstacle *o, const struct start *start, const struct rights *p,
		     const int tried[NR_TRIALS])
{
	memset(o, 0, sizeof(*o));
	o->kind = obstacle_of(start, p, tried);
	if (o->kind == OBSTACLE_NONE)
		return;
	o->err = obstacle_is_shortage(start->err) || o->kind == OBSTACLE_FILES ||
				 o->kind == OBSTACLE_MEMORY
			 ? -EIO
			 : -EOPNOTSUPP;
	if (obstacle_words[o->kind].line)
		snprintf(o->line, sizeof(o->line), "%s", obstacle_words[o->kind].line);
	else
		obstacle_tell(o, start, p);
}

int obstacle__say(const struct start *start)
{
	struct obstacle obstacle;
	struct rights rights;
	int tried[NR_TRIALS] = { 0 };

	rights__read(&rights, "");
	if (start->step >= START_TABLES) {
		tried[TRIAL_ARRAY] = trial__do(TRIAL_ARRAY);
		tried[TRIAL_UNLOCKED] = trial__do(TRIAL_UNLOCKED);
		tried[TRIAL_RAW_TP] = trial__do(TRIAL_RAW_TP);
		tried[TRIAL_READ_KERNEL] = trial__do(TRIAL_READ_KERNEL);
	}
	obstacle__judge(&obstacle, start, &rights, tried);
	return log_err(obstacle.err, "%s", obstacle.line);
}

int start__stop(struct start *start, enum start_step step, int err, const char *what)
{
	start->step = step;
	start->err = err;
	start->what = what;
	return start->rehearses ? err : obstacle__say(start);
}
