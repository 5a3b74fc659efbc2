/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of system calls, twice: read here as the kernel would read it, so that other machines'
 * calls can be tried too, and in force in a process of its own. And what is left after a drop.
 */
#define _GNU_SOURCE 1
#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/landlock.h"
#include "base/loop.h"
#include "base/privilege.h"
#include "tap.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REFUSED	     (SECCOMP_RET_ERRNO | EPERM)
#define BROKEN	     0xdeadU /* the kernel would not have taken it */

#if defined(__x86_64__)
#define ARCH	     AUDIT_ARCH_X86_64
#define FOREIGN_ARCH AUDIT_ARCH_I386
#else
#define ARCH	     AUDIT_ARCH_AARCH64
#define FOREIGN_ARCH AUDIT_ARCH_ARM
#endif

static struct sock_filter insns[PRIVILEGE_FILTER_MAX];
static size_t nr_insns;

static void filter_for(struct privilege_needs needs)
{
	nr_insns = privilege__filter(&needs, insns);
}

/* ---- read ---- */

static uint32_t word_at(const struct seccomp_data *data, uint32_t at)
{
	uint32_t word;

	if (at % 4 || at > sizeof(*data) - 4)
		return BROKEN;
	memcpy(&word, (const char *)data + at, 4);
	return word;
}

static uint32_t answer_to(const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t at = 0; at < nr_insns; at++) {
		const struct sock_filter *insn = &insns[at];

		switch (insn->code) {
		case BPF_LD | BPF_W | BPF_ABS: a = word_at(data, insn->k); break;
		case BPF_JMP | BPF_JEQ | BPF_K: at += a == insn->k ? insn->jt : insn->jf; break;
		case BPF_JMP | BPF_JSET | BPF_K: at += a & insn->k ? insn->jt : insn->jf; break;
		case BPF_RET | BPF_K: return insn->k;
		default: return BROKEN;
		}
	}
	return BROKEN;
}

static uint32_t call(long nr, uint64_t first, uint64_t second, uint64_t third)
{
	const struct seccomp_data data = { .nr = (int)nr,
					   .arch = ARCH,
					   .args = { first, second, third } };

	return answer_to(&data);
}

static bool allows(long nr, uint64_t first, uint64_t second, uint64_t third)
{
	return call(nr, first, second, third) == SECCOMP_RET_ALLOW;
}

static bool refuses(long nr, uint64_t first, uint64_t second, uint64_t third)
{
	return call(nr, first, second, third) == REFUSED;
}

struct named {
	const char *name;
	long nr;
};
#define NAMED(name)               \
	{                         \
#name, SYS_##name \
	}

static void test_needed(void)
{
	static const struct named calls[] = {
		NAMED(epoll_pwait),
		NAMED(ppoll),
		NAMED(timerfd_settime),
		NAMED(recvmsg),
		NAMED(recvfrom),
		NAMED(membarrier),
		NAMED(wait4),
		NAMED(waitid),
		NAMED(rt_sigaction),
		NAMED(rt_sigreturn),
		NAMED(rt_sigprocmask),
		NAMED(restart_syscall),
		NAMED(rt_sigtimedwait),
		NAMED(read),
		NAMED(write),
		NAMED(writev),
		NAMED(pwrite64),
		NAMED(lseek),
		NAMED(ftruncate),
		NAMED(fallocate),
		NAMED(fsync),
		NAMED(fdatasync),
		NAMED(close),
		NAMED(getdents64),
		NAMED(readlinkat),
		NAMED(newfstatat),
		NAMED(clock_gettime),
		NAMED(clock_nanosleep),
		NAMED(brk),
		NAMED(munmap),
		NAMED(mremap),
		NAMED(futex),
		NAMED(sched_yield),
		NAMED(getrandom),
		NAMED(sysinfo),
		NAMED(exit_group),
	};

	for (size_t i = 0; i < COUNT(calls); i++)
		ok(allows(calls[i].nr, 0, 0, 0), "%s is allowed", calls[i].name);
}

static void test_forbidden(void)
{
	static const struct named calls[] = {
		NAMED(execve),
		NAMED(execveat),
		NAMED(clone),
		NAMED(ptrace),
		NAMED(bpf),
		NAMED(socket),
		NAMED(connect),
		NAMED(sendto),
		NAMED(sendmsg),
		NAMED(unlinkat),
		NAMED(renameat2),
		NAMED(linkat),
		NAMED(symlinkat),
		NAMED(mkdirat),
		NAMED(mknodat),
		NAMED(fchmod),
		NAMED(fchmodat),
		NAMED(fchownat),
		NAMED(truncate),
		NAMED(mount),
		NAMED(setuid),
		NAMED(setns),
		NAMED(unshare),
		NAMED(chroot),
		NAMED(prctl),
		NAMED(capset),
		NAMED(seccomp),
		NAMED(init_module),
		NAMED(perf_event_open),
		NAMED(process_vm_writev),
		NAMED(keyctl),
		NAMED(kill),
		NAMED(tkill),
		NAMED(tgkill),
		NAMED(memfd_create),
		NAMED(pkey_mprotect),
		NAMED(open_by_handle_at),
		NAMED(ioctl),
		NAMED(reboot),
		{ "io_uring_setup", 425 },
		{ "clone3", 435 },
		{ "openat2", 437 },
	};

	for (size_t i = 0; i < COUNT(calls); i++)
		ok(refuses(calls[i].nr, 0, 0, 0) && refuses(calls[i].nr, ~0ULL, ~0ULL, ~0ULL),
		   "%s is refused", calls[i].name);
}

static void test_arguments(void)
{
	const uint64_t reads = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;

	ok(allows(SYS_openat, 3, 0, reads), "openat to read is allowed");
	ok(allows(SYS_openat, 3, 0, reads | 1ULL << 32), "the upper half of an int says nothing");
	ok(refuses(SYS_openat, 3, 0, O_WRONLY), "openat to write is refused");
	ok(refuses(SYS_openat, 3, 0, O_RDWR | O_CLOEXEC), "to read and write too");
	ok(refuses(SYS_openat, 3, 0, O_RDONLY | O_CREAT), "to create too");
	ok(refuses(SYS_openat, 3, 0, O_RDONLY | O_TRUNC), "to cut too");
	ok(refuses(SYS_openat, 3, 0, O_TMPFILE | O_WRONLY), "a file without a name too");
	ok(allows(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE), "mmap of memory is allowed");
	ok(refuses(SYS_mmap, 0, 4096, PROT_READ | PROT_EXEC), "of code is refused");
	ok(allows(SYS_mprotect, 0, 4096, PROT_READ | PROT_WRITE), "mprotect to write is allowed");
	ok(refuses(SYS_mprotect, 0, 4096, PROT_READ | PROT_EXEC), "to run it is refused");
	ok(allows(SYS_ioctl, 1, TCGETS, 0), "ioctl TCGETS is allowed: isatty");
	ok(allows(SYS_ioctl, 1, TIOCGWINSZ, 0), "TIOCGWINSZ too");
	ok(allows(SYS_ioctl, 1, PERF_EVENT_IOC_DISABLE, 0), "and to end a probe");
	ok(refuses(SYS_ioctl, 1, PERF_EVENT_IOC_ENABLE, 0), "but not to begin one");
	ok(refuses(SYS_ioctl, 1, TIOCSTI, 0), "TIOCSTI is refused");
	ok(allows(SYS_fcntl, 1, F_GETFL, 0), "fcntl F_GETFL is allowed");
	ok(refuses(SYS_fcntl, 1, F_SETOWN, 1), "F_SETOWN is refused");
	ok(allows(SYS_tgkill, (uint64_t)getpid(), 0, SIGABRT), "abort() is allowed");
#ifdef SYS_open
	ok(allows(SYS_open, 0, reads, 0), "open to read is allowed");
	ok(refuses(SYS_open, 0, O_WRONLY, 0), "to write is refused");
	ok(refuses(SYS_open, 0, O_RDONLY | O_CREAT, 0), "to create too");
#endif
}

static void test_needs(void)
{
	filter_for((struct privilege_needs){ .child = 4711 });
	ok(allows(SYS_kill, 4711, SIGTERM, 0), "the child may be ended");
	ok(refuses(SYS_kill, 4712, SIGTERM, 0), "its neighbour may not");
	ok(refuses(SYS_kill, (uint64_t)-4711, SIGTERM, 0), "nor a whole group");
	filter_for((struct privilege_needs){ .attaches = true });
	ok(allows(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, 0, 0), "a program may be attached");
	ok(allows(SYS_bpf, BPF_LINK_CREATE, 0, 0), "with a link too");
	ok(refuses(SYS_bpf, BPF_PROG_LOAD, 0, 0), "none may be loaded");
	ok(refuses(SYS_bpf, BPF_MAP_CREATE, 0, 0), "nor a map made");
	filter_for((struct privilege_needs){ .runs = true });
	ok(allows(SYS_bpf, BPF_PROG_TEST_RUN, 0, 0), "a program may be run");
	ok(refuses(SYS_bpf, BPF_PROG_LOAD, 0, 0), "none may be loaded");
	ok(refuses(SYS_bpf, BPF_RAW_TRACEPOINT_OPEN, 0, 0), "nor attached");
	filter_for((struct privilege_needs){ .serves = true });
	ok(allows(SYS_accept4, 3, 0, 0), "who serves may accept");
	ok(allows(SYS_sendto, 4, 0, 0), "and answer");
	ok(refuses(SYS_socket, 2, 1, 0), "it may make no socket");
	ok(refuses(SYS_connect, 4, 0, 0), "nor connect to anybody");
	ok(refuses(SYS_bind, 4, 0, 0), "nor listen elsewhere");
	filter_for((struct privilege_needs){ .draws = true });
	ok(allows(SYS_ioctl, 1, TCSETSW, 0), "who draws may set the terminal's modes");
	ok(refuses(SYS_ioctl, 1, TIOCSTI, 0), "it may not type into it");
	filter_for((struct privilege_needs){ 0 });
	ok(refuses(SYS_accept4, 3, 0, 0), "others may not accept");
	ok(refuses(SYS_ioctl, 1, TCSETSW, 0), "nor set modes");
}

/* The two processes behind symbols: one has no path, the other reads nothing. */
static void test_roles(void)
{
	filter_for((struct privilege_needs){ .role = PRIVILEGE_PARSES });
	ok(refuses(SYS_openat, 3, 0, O_RDONLY), "who parses files opens none");
	ok(refuses(437, 3, 0, 0), "nor by openat2");
	ok(call(SYS_readlinkat, 3, 0, 0) == (SECCOMP_RET_ERRNO | ENOENT), "finds no link");
	ok(refuses(SYS_getdents64, 3, 0, 0), "lists no folder");
	ok(refuses(SYS_newfstatat, 3, 0, 0), "asks for no path");
	ok(refuses(SYS_statx, 3, 0, 0) && refuses(SYS_ftruncate, 3, 0, 0), "cuts nothing");
	ok(refuses(SYS_sendmsg, 3, 0, 0), "and hands nothing on");
	ok(allows(SYS_recvmsg, 3, 0, 0) && allows(SYS_pread64, 3, 0, 0) &&
		   allows(SYS_write, 3, 0, 0) && allows(SYS_fstat, 3, 0, 0),
	   "it reads what it is handed");
#ifdef SYS_open
	ok(refuses(SYS_open, 0, O_RDONLY, 0) && refuses(SYS_stat, 0, 0, 0),
	   "the older calls are refused as well");
#endif
	filter_for((struct privilege_needs){ .role = PRIVILEGE_OPENS });
	ok(allows(SYS_openat, 3, 0, O_PATH | O_CLOEXEC) && allows(SYS_sendmsg, 3, 0, 0),
	   "who opens files opens and hands on");
	ok(refuses(SYS_openat, 3, 0, O_WRONLY) && refuses(SYS_openat, 3, 0, O_RDONLY | O_CREAT),
	   "never to write");
	ok(refuses(SYS_read, 3, 0, 0) && refuses(SYS_pread64, 3, 0, 0) &&
		   refuses(SYS_write, 3, 0, 0) && refuses(SYS_recvmsg, 3, 0, 0),
	   "and reads nothing");
	ok(refuses(437, 3, 0, 0), "openat2 is refused, whose flags cannot be seen");
	filter_for((struct privilege_needs){ .role = PRIVILEGE_OPENS, .opens_in_root = true });
	ok(allows(437, 3, 0, 0), "but for one that opens in other roots");
	filter_for((struct privilege_needs){ 0 });
}

/* The process that creates the parts of a capture. */
static void test_maker(void)
{
	const uint64_t creates = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC;

	filter_for((struct privilege_needs){ .role = PRIVILEGE_MAKES });
	ok(allows(SYS_openat, 3, 0, creates), "who creates parts creates files");
	ok(allows(SYS_fchmod, 3, 0640, 0) && allows(SYS_fstat, 3, 0, 0), "with their permissions");
	ok(allows(SYS_recvfrom, 3, 0, 0) && allows(SYS_sendmsg, 3, 0, 0) &&
		   allows(SYS_close, 3, 0, 0) && allows(SYS_exit_group, 0, 0, 0),
	   "takes orders, hands on and ends");
	ok(refuses(SYS_openat, 3, 0, creates & ~(uint64_t)O_NOFOLLOW), "it follows no link");
	ok(refuses(SYS_openat, 3, 0, creates | O_TRUNC), "cuts no file");
	ok(refuses(SYS_openat, 3, 0, O_RDONLY) && refuses(SYS_openat, 3, 0, O_RDWR | O_CREAT),
	   "opens none to read");
	ok(refuses(SYS_read, 3, 0, 0) && refuses(SYS_write, 3, 0, 0) &&
		   refuses(SYS_ftruncate, 3, 0, 0) && refuses(437, 3, 0, 0),
	   "reads and writes none");
	ok(refuses(SYS_unlinkat, 3, 0, 0) && refuses(SYS_renameat2, 3, 0, 0) &&
		   refuses(SYS_fchmodat, 3, 0, 0) && refuses(SYS_newfstatat, 3, 0, 0),
	   "and removes, renames and asks for none");
#ifdef SYS_open
	ok(refuses(SYS_open, 0, creates, 0) && refuses(SYS_creat, 0, 0, 0),
	   "the older calls are refused as well");
#endif
	filter_for((struct privilege_needs){ 0 });
}

/* The process that reads /sys for a server, and the server. */
static void test_scout(void)
{
	filter_for((struct privilege_needs){ .role = PRIVILEGE_LOOKS });
	ok(allows(SYS_openat, 3, 0, O_RDONLY) && allows(SYS_read, 3, 0, 0) &&
		   allows(SYS_getdents64, 3, 0, 0) && allows(SYS_readlinkat, 3, 0, 0),
	   "who looks opens and reads");
	ok(refuses(SYS_openat, 3, 0, O_WRONLY) && refuses(SYS_openat, 3, 0, O_RDONLY | O_CREAT) &&
		   refuses(SYS_write, 3, 0, 0) && refuses(SYS_unlinkat, 3, 0, 0),
	   "writes nothing");
	ok(refuses(SYS_socket, 1, 1, 0) && refuses(SYS_execve, 0, 0, 0) &&
		   refuses(SYS_bpf, 0, 0, 0) && refuses(SYS_kill, 1, 9, 0),
	   "and does nothing else");
	filter_for((struct privilege_needs){ .serves = true, .opens_nothing = true });
	ok(allows(SYS_accept4, 3, 0, 0) && allows(SYS_write, 3, 0, 0) && allows(SYS_read, 3, 0, 0),
	   "a server that opens nothing serves");
	ok(refuses(SYS_openat, 3, 0, O_RDONLY) && refuses(SYS_openat, 3, 0, O_RDONLY | O_PATH) &&
		   refuses(437, 3, 0, 0) && refuses(SYS_getdents64, 3, 0, 0) &&
		   refuses(SYS_readlinkat, 3, 0, 0) && refuses(SYS_newfstatat, 3, 0, 0) &&
		   refuses(SYS_statx, 3, 0, 0),
	   "and no path leads it anywhere");
	ok(refuses(SYS_socket, 1, 1, 0) && refuses(SYS_connect, 3, 0, 0) &&
		   refuses(SYS_execve, 0, 0, 0),
	   "no socket, no exec");
#ifdef SYS_open
	ok(refuses(SYS_open, 0, O_RDONLY, 0) && refuses(SYS_stat, 0, 0, 0) &&
		   refuses(SYS_readlink, 0, 0, 0),
	   "nor by the older calls");
#endif
	filter_for((struct privilege_needs){ 0 });
}

/* The process that has the files of a ring. */
static void test_keeper(void)
{
	const uint64_t creates = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	const uint64_t reads = O_RDONLY | O_NOFOLLOW | O_CLOEXEC;

	filter_for((struct privilege_needs){ .role = PRIVILEGE_KEEPS });
	ok(allows(SYS_openat, 3, 0, creates) && allows(SYS_openat, 3, 0, reads),
	   "who keeps a ring creates new files and reads them");
	ok(allows(SYS_renameat2, 3, 0, 3) && allows(SYS_unlinkat, 3, 0, 0) &&
		   allows(SYS_fsync, 3, 0, 0),
	   "syncs, renames and removes them");
	ok(refuses(SYS_openat, 3, 0, creates & ~(uint64_t)O_EXCL) &&
		   refuses(SYS_openat, 3, 0, O_WRONLY) && refuses(SYS_openat, 3, 0, O_RDWR) &&
		   refuses(SYS_openat, 3, 0, O_WRONLY | O_TRUNC),
	   "opens no existing file to write");
	ok(refuses(SYS_openat, 3, 0, reads & ~(uint64_t)O_NOFOLLOW), "follows no link");
	ok(refuses(SYS_ftruncate, 3, 0, 0) && refuses(SYS_pwrite64, 3, 0, 0) &&
		   refuses(SYS_linkat, 3, 0, 0) && refuses(SYS_mkdirat, 3, 0, 0),
	   "cuts none");
	ok(refuses(SYS_execve, 0, 0, 0) && refuses(SYS_socket, 1, 1, 0) &&
		   refuses(SYS_bpf, 0, 0, 0) && refuses(SYS_kill, 1, 9, 0),
	   "and does nothing else");
	filter_for((struct privilege_needs){ 0 });
}

static void test_machines(void)
{
	struct seccomp_data data = { .nr = SYS_read, .arch = FOREIGN_ARCH };

	ok(answer_to(&data) == REFUSED, "calls of another machine are refused");
	data.arch = ARCH;
	data.nr |= 0x40000000;
	ok(answer_to(&data) == REFUSED, "x32's numbers are refused");
	data.nr = -1;
	ok(answer_to(&data) == REFUSED, "a number that is none is refused");
	ok(nr_insns > 4 && nr_insns < PRIVILEGE_FILTER_MAX, "it is not cut off");
}

/* ---- in force ---- */

static const sigset_t none;
static const struct timespec at_once;

static const struct {
	const char *what;
	int err;
	long args[7];
} real[] = {
	{ "getpid", 0, { SYS_getpid } },
	{ "openat to read", 0, { SYS_openat, AT_FDCWD, (long)"/", O_RDONLY } },
	{ "openat to write", EPERM, { SYS_openat, AT_FDCWD, (long)"/dev/null", O_WRONLY } },
	{ "socket", EPERM, { SYS_socket, AF_UNIX, SOCK_STREAM, 0 } },
	{ "execve", EPERM, { SYS_execve, (long)"/bin/true", 0, 0 } },
	{ "clone", EPERM, { SYS_clone, SIGCHLD, 0, 0, 0, 0 } },
	{ "kill", EPERM, { SYS_kill, 1, 0 } },
	{ "mmap of data",
	  0,
	  { SYS_mmap, 0, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 } },
	{ "mmap of code",
	  EPERM,
	  { SYS_mmap, 0, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 } },
	{ "prctl", EPERM, { SYS_prctl, PR_GET_DUMPABLE } },
	{ "rt_sigtimedwait of no signal",
	  EAGAIN,
	  { SYS_rt_sigtimedwait, (long)&none, 0, (long)&at_once, 8 } },
};

static int errno_of(const long *args)
{
	errno = 0;
	syscall(args[0], args[1], args[2], args[3], args[4], args[5], args[6]);
	return errno;
}

static bool put_in_force(void)
{
	const struct sock_fprog program = { (unsigned short)nr_insns, insns };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

/* Not exit: a sanitizer would look for leaks, with calls that are not on the list. */
__attribute__((noreturn)) static void leave(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

/* In the child: as many bytes as there are calls, each an errno. Only plain system calls here. */
__attribute__((noreturn)) static void try_all(int fd)
{
	unsigned char got[COUNT(real)];
	bool in_force = put_in_force();

	for (size_t i = 0; i < COUNT(real) && in_force; i++)
		got[i] = (unsigned char)errno_of(real[i].args);
	if (in_force)
		syscall(SYS_write, fd, got, sizeof(got));
	leave(0);
}

/* Without one there is nothing to be seen: that is a failure, not an end. */
static void open_pipe(int ends[2])
{
	if (!pipe2(ends, O_CLOEXEC))
		return;
	ok(false, "a pipe: %s", strerror(errno));
	exit(done_testing());
}

static void test_in_force(void)
{
	unsigned char got[COUNT(real)];
	int ends[2], status = -1;
	ssize_t len;
	pid_t child;

	open_pipe(ends);
	child = fork();
	if (!child)
		try_all(ends[1]);
	close(ends[1]);
	len = read(ends[0], got, sizeof(got));
	close(ends[0]);
	waitpid(child, &status, 0);
	ok(len == (ssize_t)sizeof(got) && !status,
	   "the kernel takes the list and the process lives");
	for (size_t i = 0; i < COUNT(real) && len > 0; i++)
		ok(got[i] == real[i].err, "%s: %s", real[i].what, strerror(got[i]));
}

static int ignore_signal(void *arg)
{
	(void)arg;
	return 0;
}

/* As record --last, whose user asks for a capture when it has already ended. */
__attribute__((noreturn)) static void end_loop_with_pending_signal(void)
{
	struct loop *loop = loop__new();

	if (!loop || loop__on_signal(loop, SIGUSR1, ignore_signal, NULL) || raise(SIGUSR1) ||
	    !put_in_force())
		leave(1);
	loop__free(loop);
	leave(0);
}

static void test_pending_signal(void)
{
	int status = -1;
	pid_t child = fork();

	if (!child)
		end_loop_with_pending_signal();
	waitpid(child, &status, 0);
	is_u64((uint64_t)status, 0, "a signal that is pending at the end does not kill");
}

/* ---- all of it ---- */

/* A line of /proc/self/status, as a hexadecimal number. */
static uint64_t state_of(const char *key)
{
	FILE *file = fopen("/proc/self/status", "re");
	uint64_t value = UINT64_MAX;
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			value = strtoull(line + strlen(key) + 1, NULL, 16);
	if (file)
		fclose(file);
	return value;
}

enum state { INH, PRM, EFF, AMB, BND, GAINS_NOTHING, FILTER, NR_STATES };

static const char *const states[] = { "CapInh", "CapPrm",     "CapEff", "CapAmb",
				      "CapBnd", "NoNewPrivs", "Seccomp" };

/* As 5.10, which asks for CAP_BPF at every bpf(). */
static void refuse_bpf(void)
{
	struct sock_filter refuse[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, REFUSED),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { COUNT(refuse), refuse };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		_exit(1);
}

struct dropped {
	const char *what;
	struct privilege_needs needs;
	bool refuses_bpf;
	uint64_t kept;
};

__attribute__((noreturn)) static void drop_all(const struct dropped *d, int fd)
{
	uint64_t got[NR_STATES];

	if (d->refuses_bpf)
		refuse_bpf();
	privilege__drop(&d->needs);
	for (size_t i = 0; i < NR_STATES; i++)
		got[i] = state_of(states[i]);
	_exit(write(fd, got, sizeof(got)) != (ssize_t)sizeof(got));
}

static bool is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return true;
#elif defined(__has_feature)
	return __has_feature(address_sanitizer);
#else
	return false;
#endif
}

static void is_state(const struct dropped *d, const uint64_t *got, enum state state, uint64_t want)
{
	ok(got[state] == want, "%s: %s is %" PRIx64, d->what, states[state], got[state]);
}

/* Who is not root has less to begin with; only CAP_SETPCAP empties the bounding set. */
static void judge_dropped(const struct dropped *d, const uint64_t *got)
{
	uint64_t kept = d->kept & state_of("CapPrm");
	bool bounds = state_of("CapEff") >> CAP_SETPCAP & 1;
	bool filtered = d->refuses_bpf || (nr_insns && !is_sanitized());

	is_state(d, got, INH, 0);
	is_state(d, got, PRM, kept);
	is_state(d, got, EFF, kept);
	is_state(d, got, AMB, 0);
	is_state(d, got, BND, bounds ? 0 : state_of("CapBnd"));
	is_state(d, got, GAINS_NOTHING, 1);
	is_state(d, got, FILTER, filtered ? 2 : 0);
}

static void test_drop_of(const struct dropped *d)
{
	uint64_t got[NR_STATES] = { 0 };
	int ends[2], status = -1;
	pid_t child;

	open_pipe(ends);
	child = fork();
	if (!child)
		drop_all(d, ends[1]);
	close(ends[1]);
	ok(read(ends[0], got, sizeof(got)) == (ssize_t)sizeof(got), "%s: a process drops all",
	   d->what);
	close(ends[0]);
	waitpid(child, &status, 0);
	ok(!status, "%s: and ends well", d->what);
	judge_dropped(d, got);
}

static void test_drop(void)
{
	static const struct dropped drops[] = {
		{ "no bpf()", { 0 }, false, 0 },
		{ "no bpf(), which is refused", { 0 }, true, 0 },
		{ "runs programs, bpf() is refused", { .runs = true }, true, 1ULL << 39 },
		{ "reads maps, bpf() is refused", { .reads_maps = true }, true, 1ULL << 39 },
	};

	for (size_t i = 0; i < COUNT(drops); i++)
		test_drop_of(&drops[i]);
}

/* ---- files ---- */

static char folder[] = "/tmp/iosonar-privilege.XXXXXX";

/* As a capture's next part is opened; the errno. */
static int create(const char *name)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

struct created {
	int part, old, outside, removed;
};

/* As the process that creates the parts of a capture, whose directory is open. */
__attribute__((noreturn)) static void create_inside(int fd, const int *directories, size_t nr)
{
	struct created got = { -1, -1, -1, -1 };
	char path[128];

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || landlock__restrict(directories, nr))
		_exit(1);
	got = (struct created){ .part = create("in/a.cap.1"),
				.old = create("in/a.cap"),
				.outside = create("out/b") };
	snprintf(path, sizeof(path), "%s/in/a.cap", folder);
	got.removed = unlink(path) ? errno : 0;
	_exit(write(fd, &got, sizeof(got)) != (ssize_t)sizeof(got));
}

static struct created try_inside(const int *directories, size_t nr)
{
	struct created got = { -1, -1, -1, -1 };
	int ends[2], status = -1;
	pid_t child;

	open_pipe(ends);
	child = fork();
	if (!child)
		create_inside(ends[1], directories, nr);
	close(ends[1]);
	ok(read(ends[0], &got, sizeof(got)) == (ssize_t)sizeof(got), "%zu directories", nr);
	close(ends[0]);
	waitpid(child, &status, 0);
	ok(got.outside == EACCES, "no file is created elsewhere: %s", strerror(got.outside));
	ok(got.removed == EACCES, "none is removed: %s", strerror(got.removed));
	return got;
}

static void test_landlock(void)
{
	int directory = open("in", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct created got = try_inside(&directory, 1);

	ok(!got.part && !got.old, "files are created in a directory that is named: %s",
	   strerror(got.part ?: got.old));
	unlink("in/a.cap.1");
	got = try_inside(NULL, 0);
	ok(got.part == EACCES && got.old == EACCES, "and nowhere if none is: %s, %s",
	   strerror(got.part), strerror(got.old));
	close(directory);
}

static void test_files(void)
{
	char path[128];

	if (landlock__version() <= 0) {
		ok(true, "files are created in no directory but one # SKIP no Landlock: %s",
		   strerror(-landlock__version()));
		return;
	}
	if (!mkdtemp(folder) || chdir(folder) || mkdir("in", 0700) || mkdir("out", 0700))
		printf("Bail out! %s: %s\n", folder, strerror(errno)), exit(1);
	create("in/a.cap");
	test_landlock();
	snprintf(path, sizeof(path), "rm -r %s", folder);
	ok(!system(path), "all of it is removed");
}

static void test_question(void)
{
	uint64_t before = state_of("CapEff");

	privilege__can_attach_without();
	is_u64(state_of("CapEff"), before, "to ask what can be attached without costs none");
}

int main(void)
{
	filter_for((struct privilege_needs){ 0 });
	if (nr_insns) {
		test_needed();
		test_forbidden();
		test_arguments();
		test_needs();
		test_roles();
		test_maker();
		test_keeper();
		test_scout();
		test_machines();
		test_in_force();
		test_pending_signal();
	} else {
		printf("# no list of system calls for this machine\n");
	}
	test_drop();
	test_files();
	test_question();
	return done_testing();
}
