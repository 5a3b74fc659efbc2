/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "base/privilege.h"

#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/landlock.h"
#include "base/log.h"

enum { PRIVILEGE_ABSENT = 1 }; /* result of a step: this kernel lacks it */

/* ---- capabilities ---- */

#define PRIVILEGE_CAP_BPF 39 /* headers before 5.8 have no CAP_BPF */

#define PRIVILEGE_CAP_HEADER                           \
	{                                              \
		.version = _LINUX_CAPABILITY_VERSION_3 \
	}

typedef struct __user_cap_data_struct privilege_caps[_LINUX_CAPABILITY_U32S_3];

static int privilege_capset(const privilege_caps caps)
{
	struct __user_cap_header_struct self = PRIVILEGE_CAP_HEADER;

	return syscall(SYS_capset, &self, caps) ? -errno : 0;
}

/* Tries an invalid descriptor: EPERM comes before EBADF. */
bool privilege__can_attach_without(void)
{
	struct __user_cap_header_struct self = PRIVILEGE_CAP_HEADER;
	union bpf_attr attr = { .raw_tracepoint.prog_fd = (__u32)-1 };
	privilege_caps caps, bare;
	bool can;

	if (syscall(SYS_capget, &self, caps))
		return false;
	memcpy(bare, caps, sizeof(bare));
	for (size_t i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		bare[i].effective = 0;
	if (privilege_capset(bare))
		return false;
	can = syscall(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, &attr, sizeof(attr)) < 0 && errno != EPERM;
	return !privilege_capset(caps) && can;
}

/* If the kernel requires CAP_BPF for every bpf(), a run that goes on calling it keeps CAP_BPF. */
static void privilege_keep_bpf(privilege_caps keep)
{
	struct __user_cap_header_struct self = PRIVILEGE_CAP_HEADER;
	const size_t at = CAP_TO_INDEX(PRIVILEGE_CAP_BPF);
	privilege_caps have;

	if (syscall(SYS_capget, &self, have))
		return;
	keep[at].permitted = have[at].permitted & CAP_TO_MASK(PRIVILEGE_CAP_BPF);
	keep[at].effective = keep[at].permitted;
}

/*
 * The bounding set first: that needs CAP_SETPCAP, which an ordinary user lacks; such a user cannot
 * regain what stays in the set. Ambient capabilities go with the inheritable ones.
 */
static int privilege_drop_capabilities(const struct privilege_needs *needs)
{
	privilege_caps keep = { 0 };

	if ((needs->runs || needs->reads_maps) && !privilege__can_attach_without())
		privilege_keep_bpf(keep);
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		prctl(PR_CAPBSET_DROP, cap);
	return privilege_capset(keep);
}

static const char *privilege_left(void)
{
	struct __user_cap_header_struct self = PRIVILEGE_CAP_HEADER;
	privilege_caps have = { 0 };

	syscall(SYS_capget, &self, have);
	return have[0].permitted || have[1].permitted ? "only CAP_BPF" : "no capabilities";
}

static int privilege_gain_nothing(const struct privilege_needs *needs)
{
	(void)needs;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

/* ---- files ---- */

/* A kernel without Landlock is not a failure: doctor reports it. */
static int privilege_restrict_files(const struct privilege_needs *needs)
{
	int err = landlock__restrict(NULL, 0);

	(void)needs;
	return err == -EOPNOTSUPP ? PRIVILEGE_ABSENT : err;
}

/* ---- system calls ---- */

#if defined(__x86_64__)
#define PRIVILEGE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define PRIVILEGE_ARCH AUDIT_ARCH_AARCH64
#endif

/* At exit a sanitizer starts a thread that traces this one. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PRIVILEGE_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define PRIVILEGE_SANITIZED 1
#endif

#ifdef PRIVILEGE_ARCH

/* Further conditions for a call to be allowed. Of two rules with one number, either suffices. */
enum privilege_check {
	CHECK_NOTHING,
	CHECK_EQUAL, /* the argument is the value */
	CHECK_CLEAR, /* the argument has none of the value's bits */
	CHECK_SET,   /* the argument has one of the value's bits */
	CHECK_VAIN,  /* finds nothing (ENOENT): a library tries it and does without */
	CHECK_END,   /* of a table */
};

struct privilege_rule {
	uint32_t nr;
	enum privilege_check check;
	uint32_t argument; /* its number; only its lower half: the kernel takes no more of an int */
	uint32_t value;
};

/* `make strict` kills instead, so that tests see a call that the list lacks. */
#ifndef PRIVILEGE_REFUSAL
#define PRIVILEGE_REFUSAL (SECCOMP_RET_ERRNO | EPERM)
#endif

#define PRIVILEGE_WRITES (O_ACCMODE | O_CREAT | O_TRUNC)

/* For every process: libc, memory, exit. */
static const struct privilege_rule privilege_rules[] = {
	{ SYS_brk },
	{ SYS_mmap, CHECK_CLEAR, 2, PROT_EXEC },
	{ SYS_mprotect, CHECK_CLEAR, 2, PROT_EXEC },
	{ SYS_mremap },
	{ SYS_munmap },
	{ SYS_madvise },
	{ SYS_futex },
	{ SYS_getrandom },
	{ SYS_sched_yield },
	{ SYS_sched_getaffinity },
	{ SYS_sysinfo }, /* qsort asks how much memory there is */
	{ SYS_getpid },
	{ SYS_gettid },
	{ SYS_exit },
	{ SYS_exit_group },
	{ SYS_clock_gettime },
	{ SYS_gettimeofday },
	{ SYS_restart_syscall }, /* a sleep that was stopped and continued */
	{ SYS_rt_sigaction },
	{ SYS_rt_sigprocmask },
	{ SYS_rt_sigreturn },
	{ SYS_close },
	{ SYS_fstat },
	{ SYS_newfstatat, CHECK_SET, 3, AT_EMPTY_PATH },
	{ SYS_recvfrom },
#ifdef __x86_64__
	{ SYS_time },
#endif
	{ 0, CHECK_END },
};

static const struct privilege_rule privilege_run_rules[] = {
	/* the loop */
	{ SYS_epoll_pwait },
#ifdef __x86_64__
	{ SYS_epoll_wait },
	{ SYS_poll },
#endif
	{ SYS_epoll_ctl },
	{ SYS_ppoll },
	{ SYS_timerfd_settime },
	{ SYS_clock_nanosleep },
	{ SYS_nanosleep },
	{ SYS_rt_sigtimedwait }, /* takes pending signals at the end */
	{ SYS_recvmsg },
	{ SYS_wait4 },
	{ SYS_waitid },
	{ SYS_membarrier },
	/* files that are open */
	{ SYS_read },
	{ SYS_readv },
	{ SYS_pread64 },
	{ SYS_write },
	{ SYS_writev },
	{ SYS_pwrite64 },
	{ SYS_lseek },
	{ SYS_ftruncate },
	{ SYS_fallocate },
	{ SYS_fsync },
	{ SYS_fdatasync },
	{ SYS_fcntl, CHECK_EQUAL, 1, F_GETFL }, /* not F_SETOWN: with it SIGIO can hit any task */
	{ SYS_fcntl, CHECK_EQUAL, 1, F_GETFD },
	{ SYS_fcntl, CHECK_EQUAL, 1, F_SETFD },
	{ SYS_ioctl, CHECK_EQUAL, 1, TCGETS },
	{ SYS_ioctl, CHECK_EQUAL, 1, (uint32_t)TCGETS2 },
	{ SYS_ioctl, CHECK_EQUAL, 1, TIOCGWINSZ },
	{ SYS_ioctl, CHECK_EQUAL, 1, PERF_EVENT_IOC_DISABLE }, /* libbpf, when a kprobe ends */
	{ 0, CHECK_END },
};

/* /sys, of devices that come and go; /proc/self/fdinfo; cgroups */
static const struct privilege_rule privilege_path_rules[] = {
	{ SYS_openat, CHECK_CLEAR, 2, PRIVILEGE_WRITES },
	{ SYS_newfstatat },
	{ SYS_statx },
	{ SYS_readlinkat },
	{ SYS_getdents64 },
#ifdef __x86_64__
	/* calls that newer machines have only in the general form */
	{ SYS_open, CHECK_CLEAR, 1, PRIVILEGE_WRITES },
	{ SYS_stat },
	{ SYS_lstat },
	{ SYS_readlink },
#endif
	{ 0, CHECK_END },
};

/* Reads what it opens; which files those are is for Landlock to say. */
static const struct privilege_rule privilege_look_rules[] = {
	{ SYS_read },
	{ SYS_lseek },
	{ SYS_fstatfs },
	{ SYS_fcntl, CHECK_EQUAL, 1, F_GETFL }, /* fdopendir */
	{ SYS_fcntl, CHECK_EQUAL, 1, F_SETFD },
	{ SYS_sendmsg },
	{ 0, CHECK_END },
};

/* No paths at all: another process opened the files that it reads. */
static const struct privilege_rule privilege_parse_rules[] = {
	{ SYS_read },
	{ SYS_readv },
	{ SYS_pread64 },
	{ SYS_write },
	{ SYS_lseek },
	{ SYS_recvmsg },
	{ SYS_fcntl, CHECK_EQUAL, 1, F_GETFL },
	{ SYS_fcntl, CHECK_EQUAL, 1, F_GETFD },
	/* libdw asks for the path of the file it was given */
	{ SYS_readlinkat, CHECK_VAIN },
#ifdef __x86_64__
	{ SYS_readlink, CHECK_VAIN },
#endif
	{ 0, CHECK_END },
};

/* No read and no write: it only hands files on. */
static const struct privilege_rule privilege_open_rules[] = {
	{ SYS_openat, CHECK_CLEAR, 2, PRIVILEGE_WRITES },
	{ SYS_sendmsg },
	{ 0, CHECK_END },
};

/* Like place__create_in: opened for writing from the start, never a symbolic link. */
static const struct privilege_rule privilege_make_rules[] = {
	{ SYS_openat, CHECK_EQUAL, 2, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC },
	{ SYS_fchmod }, /* --mode */
	{ SYS_sendmsg },
	{ 0, CHECK_END },
};

/* Like ring_list__create and ring_list__open. It reads what it completes, for the manifest. */
static const struct privilege_rule privilege_keep_rules[] = {
	{ SYS_openat, CHECK_EQUAL, 2, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC },
	{ SYS_openat, CHECK_EQUAL, 2, O_RDONLY | O_NOFOLLOW | O_CLOEXEC },
	{ SYS_renameat2 },
	{ SYS_unlinkat },
	{ SYS_fsync },
	{ SYS_fallocate },
	{ SYS_fchmod },
	{ SYS_pread64 },
	{ SYS_lseek }, /* of a damaged capture */
	{ SYS_write },
	{ SYS_sendmsg },
	{ SYS_rt_sigpending },
	{ 0, CHECK_END },
};

static const struct privilege_rule *const privilege_role_rules[] = {
	[PRIVILEGE_RUNS] = privilege_run_rules,	  [PRIVILEGE_PARSES] = privilege_parse_rules,
	[PRIVILEGE_OPENS] = privilege_open_rules, [PRIVILEGE_MAKES] = privilege_make_rules,
	[PRIVILEGE_LOOKS] = privilege_look_rules, [PRIVILEGE_KEEPS] = privilege_keep_rules,
};

struct privilege_program {
	struct sock_filter *insns;
	size_t nr;
};

static void privilege_put(struct privilege_program *p, struct sock_filter insn)
{
	if (p->nr < PRIVILEGE_FILTER_MAX)
		p->insns[p->nr++] = insn;
}

#define PRIVILEGE_LOAD(field) \
	(struct sock_filter)  \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define PRIVILEGE_JUMP(op, value, yes, no) \
	(struct sock_filter) BPF_JUMP(BPF_JMP | (op) | BPF_K, value, yes, no)
#define PRIVILEGE_RETURN(what) (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, what)

/* The accumulator holds the number of the call, before and after. */
static void privilege_put_rule(struct privilege_program *p, const struct privilege_rule *rule)
{
	static const struct sock_filter checks[] = {
		[CHECK_EQUAL] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
		[CHECK_CLEAR] = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0, 1, 0),
		[CHECK_SET] = BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0, 0, 1),
	};
	struct sock_filter check;

	if (rule->check == CHECK_NOTHING || rule->check == CHECK_VAIN) {
		privilege_put(p, PRIVILEGE_JUMP(BPF_JEQ, rule->nr, 0, 1));
		privilege_put(p, PRIVILEGE_RETURN(rule->check == CHECK_VAIN
							  ? SECCOMP_RET_ERRNO | ENOENT
							  : SECCOMP_RET_ALLOW));
		return;
	}
	check = checks[rule->check];
	check.k = rule->value;
	privilege_put(p, PRIVILEGE_JUMP(BPF_JEQ, rule->nr, 0, 4));
	privilege_put(p, PRIVILEGE_LOAD(args[rule->argument]));
	privilege_put(p, check);
	privilege_put(p, PRIVILEGE_RETURN(SECCOMP_RET_ALLOW));
	privilege_put(p, PRIVILEGE_LOAD(nr));
}

static void privilege_put_needs(struct privilege_program *p, const struct privilege_needs *needs)
{
	const struct {
		bool needed;
		struct privilege_rule rule;
	} needed[] = {
		{ true, { SYS_tgkill, CHECK_EQUAL, 0, (uint32_t)getpid() } }, /* abort() */
		{ needs->child > 0, { SYS_kill, CHECK_EQUAL, 0, (uint32_t)needs->child } },
		{ needs->attaches, { SYS_bpf, CHECK_EQUAL, 0, BPF_RAW_TRACEPOINT_OPEN } },
		{ needs->attaches, { SYS_bpf, CHECK_EQUAL, 0, BPF_LINK_CREATE } },
		{ needs->runs, { SYS_bpf, CHECK_EQUAL, 0, BPF_PROG_TEST_RUN } },
		{ needs->reads_maps, { SYS_bpf, CHECK_EQUAL, 0, BPF_MAP_LOOKUP_ELEM } },
		{ needs->reads_maps, { SYS_bpf, CHECK_EQUAL, 0, BPF_MAP_GET_NEXT_KEY } },
		{ needs->reads_maps, { SYS_bpf, CHECK_EQUAL, 0, BPF_MAP_LOOKUP_BATCH } },
		{ needs->reads_maps, { SYS_bpf, CHECK_EQUAL, 0, BPF_OBJ_GET_INFO_BY_FD } },
		{ needs->opens_in_root, { SYS_openat2 } },
		{ needs->serves, { SYS_accept4 } },
		{ needs->serves, { SYS_sendto } },
		{ needs->serves, { SYS_sendmsg } },
		{ needs->serves, { SYS_shutdown } },
		{ needs->serves, { SYS_setsockopt } },
		{ needs->serves, { SYS_getsockopt } },
		{ needs->draws, { SYS_ioctl, CHECK_EQUAL, 1, TCSETS } },
		{ needs->draws, { SYS_ioctl, CHECK_EQUAL, 1, TCSETSW } },
		{ needs->draws, { SYS_ioctl, CHECK_EQUAL, 1, TCSETSF } },
		/* glibc from 2.42 on */
		{ needs->draws, { SYS_ioctl, CHECK_EQUAL, 1, TCSETS2 } },
		{ needs->draws, { SYS_ioctl, CHECK_EQUAL, 1, TCSETSW2 } },
		{ needs->draws, { SYS_ioctl, CHECK_EQUAL, 1, TCSETSF2 } },
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (needed[i].needed)
			privilege_put_rule(p, &needed[i].rule);
}

static bool privilege_uses_paths(const struct privilege_needs *needs)
{
	return needs->role == PRIVILEGE_LOOKS ||
	       (needs->role == PRIVILEGE_RUNS && !needs->opens_nothing);
}

static void privilege_put_table(struct privilege_program *p, const struct privilege_rule *rule)
{
	for (; rule->check != CHECK_END; rule++)
		privilege_put_rule(p, rule);
}

/*
 * Call numbers differ between machines, so the machine is checked first. x32 numbers have an extra
 * bit: none of them equals a number in the list. A call that is not allowed fails as if permission
 * were missing: killing the process would lose the measurements.
 */
size_t privilege__filter(const struct privilege_needs *needs, struct sock_filter *insns)
{
	struct privilege_program p = { .insns = insns };

	privilege_put(&p, PRIVILEGE_LOAD(arch));
	privilege_put(&p, PRIVILEGE_JUMP(BPF_JEQ, PRIVILEGE_ARCH, 1, 0));
	privilege_put(&p, PRIVILEGE_RETURN(PRIVILEGE_REFUSAL));
	privilege_put(&p, PRIVILEGE_LOAD(nr));
	privilege_put_table(&p, privilege_role_rules[needs->role]);
	if (privilege_uses_paths(needs))
		privilege_put_table(&p, privilege_path_rules);
	privilege_put_table(&p, privilege_rules);
	privilege_put_needs(&p, needs);
	privilege_put(&p, PRIVILEGE_RETURN(PRIVILEGE_REFUSAL));
	return p.nr;
}

#else

size_t privilege__filter(const struct privilege_needs *needs, struct sock_filter *insns)
{
	(void)needs;
	(void)insns;
	return 0;
}

#endif

#if defined(PRIVILEGE_ARCH) && !defined(PRIVILEGE_SANITIZED)
#define PRIVILEGE_FILTERS 1

int privilege__filter_calls(const struct privilege_needs *needs)
{
	struct sock_filter insns[PRIVILEGE_FILTER_MAX];
	const struct sock_fprog program = {
		.len = (unsigned short)privilege__filter(needs, insns),
		.filter = insns,
	};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) ? -errno : 0;
}

#else

int privilege__filter_calls(const struct privilege_needs *needs)
{
	(void)needs;
	return 0;
}

#endif

/* ---- a process that works for another ---- */

enum { PRIVILEGE_HIGH_FD = 64 }; /* out of the way */

void privilege__keep_descriptors(const int *fds, int nr)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), high[PRIVILEGE_KEPT_MAX];

	for (int i = 0; i < nr; i++)
		high[i] = fcntl(fds[i], F_DUPFD, PRIVILEGE_HIGH_FD);
	for (int fd = 0; fd < PRIVILEGE_KEPT_FD; fd++)
		dup2(null, fd);
	for (int i = 0; i < nr; i++)
		dup2(high[i], PRIVILEGE_KEPT_FD + i);
	if (syscall(SYS_close_range, PRIVILEGE_KEPT_FD + nr, ~0U, 0) || chdir("/"))
		_exit(1);
}

static void privilege_limit(int what, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(what, &limit) || limit.rlim_cur <= most)
		return;
	limit.rlim_cur = most;
	setrlimit(what, &limit);
}

void privilege__limit(uint64_t memory_bytes, unsigned int cpu_s)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file && fscanf(file, "%lu", &pages) == 1)
		privilege_limit(RLIMIT_AS, pages * (rlim_t)sysconf(_SC_PAGESIZE) + memory_bytes);
	if (file)
		fclose(file);
	privilege_limit(RLIMIT_CPU, cpu_s);
	privilege_limit(RLIMIT_CORE, 0);
}

/* ---- all of it ---- */

/* In this order: without the second step the later ones need CAP_SYS_ADMIN; the last forbids
 * them. */
static const struct privilege_step {
	int (*take)(const struct privilege_needs *needs);
	const char *aim;
	const char *done; /* NULL: what privilege_left says */
} privilege_steps[] = {
	{ privilege_drop_capabilities, "drop capabilities", NULL },
	{ privilege_gain_nothing, "refuse new privileges", "no new privileges" },
	{ privilege_restrict_files, "restrict files", "no opening of files for writing" },
#ifdef PRIVILEGE_FILTERS
	{ privilege__filter_calls, "filter system calls", "system calls filtered" },
#endif
};

void privilege__drop(const struct privilege_needs *needs)
{
	char done[160] = "", failed[256] = "";

	for (size_t i = 0; i < sizeof(privilege_steps) / sizeof(privilege_steps[0]); i++) {
		const struct privilege_step *step = &privilege_steps[i];
		int err = step->take(needs);
		size_t said = strlen(err ? failed : done);

		if (err == PRIVILEGE_ABSENT)
			continue;
		if (err)
			snprintf(failed + said, sizeof(failed) - said, "%s%s (%s)",
				 said ? " or " : "", step->aim, strerror(-err));
		else
			snprintf(done + said, sizeof(done) - said, "%s%s", said ? ", " : "",
				 step->done ? step->done : privilege_left());
	}
	if (done[0])
		log_verbose("privileges: %s", done);
	if (failed[0])
		log_warn("cannot %s; the run continues without that", failed);
}
