/* SPDX-License-Identifier: BSD-2-Clause */
/* syscall_args.c: arguments of system calls in words. */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include "decode/syscall_args.h"
#include "tap.h"

static void says(enum syscall_kind kind, uint64_t value, const char *want)
{
	char got[256];

	is_str(syscall__words(kind, value, got, sizeof(got)), want, want);
}

static void check_words(void)
{
	says(SYSCALL_OPEN, O_RDONLY, "O_RDONLY");
	says(SYSCALL_OPEN, O_WRONLY | O_CREAT | O_TRUNC, "O_WRONLY|O_CREAT|O_TRUNC");
	says(SYSCALL_OPEN, O_RDWR | O_SYNC, "O_RDWR|O_SYNC");
	says(SYSCALL_OPEN, O_RDWR | O_DSYNC, "O_RDWR|O_DSYNC");
	says(SYSCALL_OPEN, O_RDONLY | O_DIRECTORY, "O_RDONLY|O_DIRECTORY");
	says(SYSCALL_OPEN, O_RDWR | O_TMPFILE, "O_RDWR|O_TMPFILE");
	says(SYSCALL_OPEN, O_RDONLY | 0x80000000, "O_RDONLY|0x80000000");
	says(SYSCALL_MODE, 0644, "0644");
	says(SYSCALL_MODE, 0, "0");
	says(SYSCALL_PROT, PROT_NONE, "PROT_NONE");
	says(SYSCALL_PROT, PROT_READ | PROT_EXEC, "PROT_READ|PROT_EXEC");
	says(SYSCALL_MAP, MAP_PRIVATE | MAP_ANONYMOUS, "MAP_PRIVATE|MAP_ANONYMOUS");
	says(SYSCALL_SIGNAL, SIGTERM, "SIGTERM");
	says(SYSCALL_SIGNAL, 1000, "1000");
	says(SYSCALL_WHENCE, SEEK_END, "SEEK_END");
	says(SYSCALL_WHENCE, 99, "0x63");
	says(SYSCALL_CLONE, CLONE_VM | CLONE_VFORK | SIGCHLD, "CLONE_VM|CLONE_VFORK|SIGCHLD");
	says(SYSCALL_CLONE, SIGCHLD, "SIGCHLD");
	says(SYSCALL_IOCTL, TIOCGWINSZ, "TIOCGWINSZ");
	says(SYSCALL_IOCTL, _IOC(_IOC_READ | _IOC_WRITE, 0x4e, 0x41, 72),
	     "_IOC(_IOC_READ|_IOC_WRITE, 0x4e, 0x41, 0x48)");
	says(SYSCALL_IOCTL, 1, "_IOC(_IOC_NONE, 0x0, 0x1, 0x0)");
	says(SYSCALL_ACCESS, 0, "F_OK");
	says(SYSCALL_ACCESS, 6, "R_OK|W_OK");
	says(SYSCALL_FUTEX, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, "FUTEX_WAIT|FUTEX_PRIVATE_FLAG");
	says(SYSCALL_FAMILY, AF_INET6, "AF_INET6");
	says(SYSCALL_SOCKET, SOCK_STREAM | SOCK_CLOEXEC, "SOCK_STREAM|SOCK_CLOEXEC");
	says(SYSCALL_AT, 0, "0");
	says(SYSCALL_DIRFD, (uint64_t)AT_FDCWD, "AT_FDCWD");
	says(SYSCALL_DIRFD, 0xffffff9c, "AT_FDCWD"); /* the upper half is nobody's */
	says(SYSCALL_FD, 0xffffffff, "-1");
	says(SYSCALL_POINTER, 0, "NULL");
	says(SYSCALL_UNKNOWN, 0x1000, "0x1000");
}

/* Whatever the room is, it is kept. */
static void check_room(void)
{
	char room[9];

	memset(room, 'x', sizeof(room));
	syscall__words(SYSCALL_OPEN, O_RDWR | O_CREAT | O_TRUNC, room, sizeof(room) - 1);
	is_str(room, "O_RDWR|", "words are cut");
	ok(room[8] == 'x', "and nothing is written behind");
}

static void check_forms(void)
{
	unsigned int named = 0;

	is_u64(syscall__argument("openat", 1), SYSCALL_TEXT, "openat's second is a text");
	is_u64(syscall__argument("openat", 4), SYSCALL_UNKNOWN, "it has no fifth");
	ok(syscall__text("openat", 0) == 1, "that is its first text");
	ok(syscall__text("openat", 1) == -1, "and its only one");
	ok(syscall__text("renameat2", 1) == 3, "renameat2's second text is its fourth argument");
	is_u64(syscall__argument("newfstat", 0), SYSCALL_FD, "by the name of its tracepoint");
	is_u64(syscall__result("mmap"), SYSCALL_POINTER, "mmap returns a pointer");
	is_u64(syscall__nr_arguments("getpid"), 0, "getpid takes nothing");
	is_u64(syscall__nr_arguments("nosuch"), 6, "one that is not known may take six");
	is_u64(syscall__argument(NULL, 0), SYSCALL_UNKNOWN, "one without a name");
	for (int64_t i = 0; i < 1024; i++)
		named += syscall__argument(syscall__name(i), 0) != SYSCALL_UNKNOWN;
	ok(named >= 60, "60 calls of this machine and more have words");
}

/* getpid has the number of writev on x86_64, and of epoll_create1 on arm64. */
static void check_compat(void)
{
	ok(!syscall__name(20 | (int64_t)SYSCALL_COMPAT), "a 32-bit call has no name of 64 bits");
	ok(!syscall__compat_name(-1) && !syscall__compat_name(100000),
	   "nor have numbers of no call");
#ifdef __x86_64__
	is_str(syscall__name(20), "writev", "20 of 64 bits");
	is_str(syscall__compat_name(20), "getpid", "20 of 32 bits");
	ok(!syscall__compat_name(222), "222 of 32 bits is no call");
#else
	is_str(syscall__name(20), "epoll_create1", "20 of 64 bits");
	ok(!syscall__compat_name(20), "32-bit calls have no names on this machine");
#endif
}

int main(void)
{
	check_compat();
	check_words();
	check_room();
	check_forms();
	return done_testing();
}
