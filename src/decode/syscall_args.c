/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* all flags of open and clone, signal names */
#include "decode/syscall_args.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- kinds of arguments: letters of enum syscall_kind ---- */

static const struct syscall_form {
	const char *name, *arguments;
	char result;
} syscall_forms[] = {
	{ "accept", "Fpp", 'F' },
	{ "accept4", "FppY", 'F' },
	{ "access", "TA", 'd' },
	{ "bind", "Fpu", 'd' },
	{ "brk", "p", 'p' },
	{ "chdir", "T", 'd' },
	{ "chmod", "Tm", 'd' },
	{ "chown", "Tdd", 'd' },
	{ "clock_gettime", "cp", 'd' },
	{ "clock_nanosleep", "cxpp", 'd' },
	{ "clone", "Cpppp", 'd' },
	{ "clone3", "pu", 'd' },
	{ "close", "F", 'd' },
	{ "connect", "Fpu", 'd' },
	{ "copy_file_range", "FpFpux", 'd' },
	{ "creat", "Tm", 'F' },
	{ "dup", "F", 'F' },
	{ "dup2", "FF", 'F' },
	{ "dup3", "FFO", 'F' },
	{ "epoll_create1", "O", 'F' },
	{ "epoll_ctl", "FEFp", 'd' },
	{ "epoll_pwait", "Fpddpu", 'd' },
	{ "epoll_wait", "Fpdd", 'd' },
	{ "eventfd2", "uO", 'F' },
	{ "execve", "Tpp", 'd' },
	{ "execveat", "DTppa", 'd' },
	{ "exit", "d", 'd' },
	{ "exit_group", "d", 'd' },
	{ "faccessat", "DTA", 'd' },
	{ "faccessat2", "DTAa", 'd' },
	{ "fadvise64", "Fuud", 'd' },
	{ "fallocate", "Fxuu", 'd' },
	{ "fchdir", "F", 'd' },
	{ "fchmod", "Fm", 'd' },
	{ "fchmodat", "DTm", 'd' },
	{ "fchownat", "DTdda", 'd' },
	{ "fcntl", "FNx", 'd' },
	{ "fdatasync", "F", 'd' },
	{ "flock", "Fx", 'd' },
	{ "fork", "", 'd' },
	{ "fstat", "Fp", 'd' },
	{ "fstatfs", "Fp", 'd' },
	{ "fsync", "F", 'd' },
	{ "ftruncate", "Fu", 'd' },
	{ "futex", "pKuppu", 'd' },
	{ "getcwd", "pu", 'd' },
	{ "getdents64", "Fpu", 'd' },
	{ "getpid", "", 'd' },
	{ "getrandom", "pux", 'd' },
	{ "getsockopt", "Fddpp", 'd' },
	{ "gettid", "", 'd' },
	{ "getuid", "", 'd' },
	{ "inotify_add_watch", "FTx", 'd' },
	{ "io_uring_enter", "Fuuxpu", 'd' },
	{ "io_uring_setup", "up", 'F' },
	{ "ioctl", "FIx", 'd' },
	{ "kill", "dS", 'd' },
	{ "link", "TT", 'd' },
	{ "linkat", "DTDTa", 'd' },
	{ "listen", "Fd", 'd' },
	{ "lseek", "FdW", 'd' },
	{ "lstat", "Tp", 'd' },
	{ "madvise", "puV", 'd' },
	{ "memfd_create", "Tx", 'F' },
	{ "mkdir", "Tm", 'd' },
	{ "mkdirat", "DTm", 'd' },
	{ "mmap", "puPMFx", 'p' },
	{ "mount", "TTpxp", 'd' },
	{ "mprotect", "puP", 'd' },
	{ "mremap", "puuxp", 'p' },
	{ "msync", "pux", 'd' },
	{ "munmap", "pu", 'd' },
	{ "nanosleep", "pp", 'd' },
	{ "newfstat", "Fp", 'd' },
	{ "newfstatat", "DTpa", 'd' },
	{ "newlstat", "Tp", 'd' },
	{ "newstat", "Tp", 'd' },
	{ "open", "TOm", 'F' },
	{ "openat", "DTOm", 'F' },
	{ "openat2", "DTpu", 'F' },
	{ "pipe", "p", 'd' },
	{ "pipe2", "pO", 'd' },
	{ "poll", "pud", 'd' },
	{ "ppoll", "puppu", 'd' },
	{ "prctl", "dxxxx", 'd' },
	{ "pread64", "Fpuu", 'd' },
	{ "preadv", "Fpuuu", 'd' },
	{ "prlimit64", "ddpp", 'd' },
	{ "pwrite64", "Fpuu", 'd' },
	{ "pwritev", "Fpuuu", 'd' },
	{ "read", "Fpu", 'd' },
	{ "readlink", "Tpu", 'd' },
	{ "readlinkat", "DTpu", 'd' },
	{ "readv", "Fpu", 'd' },
	{ "recvfrom", "Fpuxpp", 'd' },
	{ "recvmsg", "Fpx", 'd' },
	{ "rename", "TT", 'd' },
	{ "renameat", "DTDT", 'd' },
	{ "renameat2", "DTDTx", 'd' },
	{ "rmdir", "T", 'd' },
	{ "rt_sigaction", "Sppu", 'd' },
	{ "rt_sigprocmask", "dppu", 'd' },
	{ "sched_yield", "", 'd' },
	{ "sendfile", "FFpu", 'd' },
	{ "sendfile64", "FFpu", 'd' },
	{ "sendmsg", "Fpx", 'd' },
	{ "sendto", "Fpuxpu", 'd' },
	{ "setsockopt", "Fddpu", 'd' },
	{ "shutdown", "Fd", 'd' },
	{ "socket", "BYd", 'F' },
	{ "socketpair", "BYdp", 'd' },
	{ "stat", "Tp", 'd' },
	{ "statfs", "Tp", 'd' },
	{ "statx", "DTaxp", 'd' },
	{ "symlink", "TT", 'd' },
	{ "symlinkat", "TDT", 'd' },
	{ "sync", "", 'd' },
	{ "tgkill", "ddS", 'd' },
	{ "timerfd_settime", "Fxpp", 'd' },
	{ "truncate", "Tu", 'd' },
	{ "umask", "m", 'd' },
	{ "umount2", "Tx", 'd' },
	{ "unlink", "T", 'd' },
	{ "unlinkat", "DTa", 'd' },
	{ "utimensat", "DTpa", 'd' },
	{ "vfork", "", 'd' },
	{ "wait4", "dpxp", 'd' },
	{ "write", "Fpu", 'd' },
	{ "writev", "Fpu", 'd' },
};

static const struct syscall_form *syscall_form(const char *call)
{
	for (size_t i = 0; call && i < sizeof(syscall_forms) / sizeof(syscall_forms[0]); i++)
		if (!strcmp(syscall_forms[i].name, call))
			return &syscall_forms[i];
	return NULL;
}

enum syscall_kind syscall__argument(const char *call, unsigned int nr)
{
	const struct syscall_form *form = syscall_form(call);

	return form && nr < strlen(form->arguments) ? (enum syscall_kind)form->arguments[nr]
						    : SYSCALL_UNKNOWN;
}

int syscall__text(const char *call, unsigned int nr)
{
	for (unsigned int i = 0; i < SYSCALL_ARGUMENTS; i++)
		if (syscall__argument(call, i) == SYSCALL_TEXT && !nr--)
			return (int)i;
	return -1;
}

unsigned int syscall__nr_arguments(const char *call)
{
	const struct syscall_form *form = syscall_form(call);

	return form ? (unsigned int)strlen(form->arguments) : SYSCALL_ARGUMENTS;
}

enum syscall_kind syscall__result(const char *call)
{
	const struct syscall_form *form = syscall_form(call);

	return form ? (enum syscall_kind)form->result : SYSCALL_INT;
}

/* ---- names ---- */

struct syscall_name {
	uint64_t value;
	const char *name;
};

/* A list with its terminating row. */
#define NAMES(...) ((const struct syscall_name[]){ __VA_ARGS__, { 0, NULL } })
#define NAME(n)       \
	{             \
		n, #n \
	}

/* Kinds whose words are names, of each bit or of the number. */
static const struct {
	enum syscall_kind kind;
	bool is_flags;
	const struct syscall_name *names;
} syscall_lists[] = {
	{ SYSCALL_PROT, true, NAMES(NAME(PROT_READ), NAME(PROT_WRITE), NAME(PROT_EXEC)) },
	{ SYSCALL_MAP, true,
	  NAMES(NAME(MAP_SHARED_VALIDATE), NAME(MAP_SHARED), NAME(MAP_PRIVATE), NAME(MAP_FIXED),
		NAME(MAP_ANONYMOUS), NAME(MAP_GROWSDOWN), NAME(MAP_DENYWRITE), NAME(MAP_LOCKED),
		NAME(MAP_NORESERVE), NAME(MAP_POPULATE), NAME(MAP_NONBLOCK), NAME(MAP_STACK),
		NAME(MAP_HUGETLB), NAME(MAP_SYNC), NAME(MAP_FIXED_NOREPLACE)) },
	{ SYSCALL_ACCESS, true, NAMES(NAME(R_OK), NAME(W_OK), NAME(X_OK)) },
	{ SYSCALL_AT, true,
	  NAMES(NAME(AT_SYMLINK_NOFOLLOW), NAME(AT_REMOVEDIR), NAME(AT_SYMLINK_FOLLOW),
		NAME(AT_NO_AUTOMOUNT), NAME(AT_EMPTY_PATH)) },
	{ SYSCALL_WHENCE, false,
	  NAMES(NAME(SEEK_SET), NAME(SEEK_CUR), NAME(SEEK_END), NAME(SEEK_DATA), NAME(SEEK_HOLE)) },
	{ SYSCALL_ADVICE, false,
	  NAMES(NAME(MADV_NORMAL), NAME(MADV_RANDOM), NAME(MADV_SEQUENTIAL), NAME(MADV_WILLNEED),
		NAME(MADV_DONTNEED), NAME(MADV_FREE), NAME(MADV_REMOVE), NAME(MADV_DONTFORK),
		NAME(MADV_DOFORK), NAME(MADV_HUGEPAGE), NAME(MADV_NOHUGEPAGE), NAME(MADV_DONTDUMP),
		NAME(MADV_DODUMP), NAME(MADV_WIPEONFORK), NAME(MADV_COLD), NAME(MADV_PAGEOUT)) },
	{ SYSCALL_FCNTL, false,
	  NAMES(NAME(F_DUPFD), NAME(F_GETFD), NAME(F_SETFD), NAME(F_GETFL), NAME(F_SETFL),
		NAME(F_GETLK), NAME(F_SETLK), NAME(F_SETLKW), NAME(F_SETOWN), NAME(F_GETOWN),
		NAME(F_OFD_GETLK), NAME(F_OFD_SETLK), NAME(F_OFD_SETLKW), NAME(F_DUPFD_CLOEXEC),
		NAME(F_SETPIPE_SZ), NAME(F_GETPIPE_SZ), NAME(F_ADD_SEALS), NAME(F_GET_SEALS)) },
	{ SYSCALL_EPOLL, false,
	  NAMES(NAME(EPOLL_CTL_ADD), NAME(EPOLL_CTL_DEL), NAME(EPOLL_CTL_MOD)) },
	{ SYSCALL_FAMILY, false,
	  NAMES(NAME(AF_UNSPEC), NAME(AF_UNIX), NAME(AF_INET), NAME(AF_INET6), NAME(AF_NETLINK),
		NAME(AF_PACKET), NAME(AF_VSOCK)) },
	{ SYSCALL_CLOCK, false,
	  NAMES(NAME(CLOCK_REALTIME), NAME(CLOCK_MONOTONIC), NAME(CLOCK_PROCESS_CPUTIME_ID),
		NAME(CLOCK_THREAD_CPUTIME_ID), NAME(CLOCK_MONOTONIC_RAW),
		NAME(CLOCK_REALTIME_COARSE), NAME(CLOCK_MONOTONIC_COARSE), NAME(CLOCK_BOOTTIME)) },
};

/* Two-bit flags come before the one-bit flags that they contain: O_SYNC, O_TMPFILE. */
static const struct syscall_name *const syscall_open = NAMES(
	NAME(O_TMPFILE), NAME(O_SYNC), NAME(O_CREAT), NAME(O_EXCL), NAME(O_NOCTTY), NAME(O_TRUNC),
	NAME(O_APPEND), NAME(O_NONBLOCK), NAME(O_DSYNC), NAME(O_DIRECT), NAME(O_ASYNC),
	NAME(O_DIRECTORY), NAME(O_NOFOLLOW), NAME(O_NOATIME), NAME(O_CLOEXEC), NAME(O_PATH));
static const struct syscall_name *const syscall_clone =
	NAMES(NAME(CLONE_VM), NAME(CLONE_FS), NAME(CLONE_FILES), NAME(CLONE_SIGHAND),
	      NAME(CLONE_PTRACE), NAME(CLONE_VFORK), NAME(CLONE_PARENT), NAME(CLONE_THREAD),
	      NAME(CLONE_NEWNS), NAME(CLONE_SYSVSEM), NAME(CLONE_SETTLS), NAME(CLONE_PARENT_SETTID),
	      NAME(CLONE_CHILD_CLEARTID), NAME(CLONE_UNTRACED), NAME(CLONE_CHILD_SETTID),
	      NAME(CLONE_NEWCGROUP), NAME(CLONE_NEWUTS), NAME(CLONE_NEWIPC), NAME(CLONE_NEWUSER),
	      NAME(CLONE_NEWPID), NAME(CLONE_NEWNET), NAME(CLONE_IO));
static const struct syscall_name *const syscall_socket_flags =
	NAMES(NAME(SOCK_NONBLOCK), NAME(SOCK_CLOEXEC));
static const struct syscall_name *const syscall_futex =
	NAMES(NAME(FUTEX_WAIT), NAME(FUTEX_WAKE), NAME(FUTEX_REQUEUE), NAME(FUTEX_CMP_REQUEUE),
	      NAME(FUTEX_WAKE_OP), NAME(FUTEX_LOCK_PI), NAME(FUTEX_UNLOCK_PI),
	      NAME(FUTEX_TRYLOCK_PI), NAME(FUTEX_WAIT_BITSET), NAME(FUTEX_WAKE_BITSET));
static const struct syscall_name *const syscall_socket =
	NAMES(NAME(SOCK_STREAM), NAME(SOCK_DGRAM), NAME(SOCK_RAW), NAME(SOCK_SEQPACKET));
static const struct syscall_name *const syscall_ioctl =
	NAMES(NAME(TCGETS), NAME(TCSETS), NAME(TCSETSW), NAME(TIOCGWINSZ), NAME(TIOCGPGRP),
	      NAME(TIOCSPGRP), NAME(FIONREAD), NAME(FIONBIO), NAME(FIOCLEX), NAME(BLKGETSIZE),
	      NAME(BLKGETSIZE64), NAME(BLKSSZGET), NAME(BLKFLSBUF), NAME(BLKDISCARD), NAME(FICLONE),
	      NAME(FITRIM), NAME(FS_IOC_GETFLAGS));

/* ---- words ---- */

/* Output text, cut at its size. */
struct syscall_out {
	char *buf;
	size_t size, len;
};

static void out_put(struct syscall_out *out, const char *text)
{
	const int wrote = snprintf(out->buf + out->len, out->size - out->len, "%s%s",
				   out->len ? "|" : "", text);

	if (wrote > 0)
		out->len += (size_t)wrote < out->size - out->len ? (size_t)wrote
								 : out->size - out->len - 1;
}

static void out_put_hex(struct syscall_out *out, uint64_t rest)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, rest);
	out_put(out, text);
}

/* Names of all bits; bits without a name as a number. */
static void out_flags(struct syscall_out *out, const struct syscall_name *names, uint64_t value)
{
	for (; names->name; names++) {
		if (!names->value || (value & names->value) != names->value)
			continue;
		out_put(out, names->name);
		value &= ~names->value;
	}
	if (value)
		out_put_hex(out, value);
}

static void out_name(struct syscall_out *out, const struct syscall_name *names, uint64_t value)
{
	while (names->name && names->value != value)
		names++;
	if (names->name)
		out_put(out, names->name);
	else
		out_put_hex(out, value);
}

static void out_open(struct syscall_out *out, uint64_t value)
{
	static const char *const modes[] = { "O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE" };

	out_put(out, modes[value & O_ACCMODE]);
	out_flags(out, syscall_open, value & ~(uint64_t)O_ACCMODE);
}

static void out_signal(struct syscall_out *out, uint64_t value)
{
	const char *name = value < 64 ? sigabbrev_np((int)value) : NULL;
	char text[24];

	if (name)
		snprintf(text, sizeof(text), "SIG%s", name);
	else
		snprintf(text, sizeof(text), "%d", (int)value);
	out_put(out, text);
}

/* The lowest byte is the signal that the parent gets. */
static void out_clone(struct syscall_out *out, uint64_t value)
{
	out_flags(out, syscall_clone, value & ~0xffull);
	if (value & 0xff)
		out_signal(out, value & 0xff);
}

/* Names of the ioctls that any program may use; others by the parts of their number. */
static void out_ioctl(struct syscall_out *out, uint64_t value)
{
	char text[64];

	for (const struct syscall_name *name = syscall_ioctl; name->name; name++)
		if (name->value == value) {
			out_put(out, name->name);
			return;
		}
	snprintf(text, sizeof(text), "_IOC(%s%s%s, 0x%x, 0x%x, 0x%x)",
		 !_IOC_DIR(value)	       ? "_IOC_NONE"
		 : _IOC_DIR(value) & _IOC_READ ? "_IOC_READ"
					       : "",
		 _IOC_DIR(value) == (_IOC_READ | _IOC_WRITE) ? "|" : "",
		 _IOC_DIR(value) & _IOC_WRITE ? "_IOC_WRITE" : "", (unsigned int)_IOC_TYPE(value),
		 (unsigned int)_IOC_NR(value), (unsigned int)_IOC_SIZE(value));
	out_put(out, text);
}

static void out_socket(struct syscall_out *out, uint64_t value)
{
	const uint64_t flags = SOCK_NONBLOCK | SOCK_CLOEXEC;

	if (value & ~flags)
		out_name(out, syscall_socket, value & ~flags);
	out_flags(out, syscall_socket_flags, value & flags);
}

static void out_futex(struct syscall_out *out, uint64_t value)
{
	out_name(out, syscall_futex, value & FUTEX_CMD_MASK);
	if (value & FUTEX_PRIVATE_FLAG)
		out_put(out, "FUTEX_PRIVATE_FLAG");
	if (value & FUTEX_CLOCK_REALTIME)
		out_put(out, "FUTEX_CLOCK_REALTIME");
}

static bool out_list(struct syscall_out *out, enum syscall_kind kind, uint64_t value)
{
	for (size_t i = 0; i < sizeof(syscall_lists) / sizeof(syscall_lists[0]); i++) {
		if (syscall_lists[i].kind != kind)
			continue;
		if (syscall_lists[i].is_flags)
			out_flags(out, syscall_lists[i].names, value);
		else
			out_name(out, syscall_lists[i].names, value);
		return true;
	}
	return false;
}

static void out_number(const struct syscall_out *out, enum syscall_kind kind, uint64_t value)
{
	switch (kind) {
	case SYSCALL_FD:
	case SYSCALL_INT: snprintf(out->buf, out->size, "%" PRId64, (int64_t)value); break;
	case SYSCALL_MODE: snprintf(out->buf, out->size, "%#o", (unsigned int)value); break;
	case SYSCALL_NUMBER: snprintf(out->buf, out->size, "%" PRIu64, value); break;
	case SYSCALL_DIRFD:
		if ((int)value == AT_FDCWD)
			snprintf(out->buf, out->size, "AT_FDCWD");
		else
			snprintf(out->buf, out->size, "%d", (int)value);
		break;
	default:
		if (value)
			snprintf(out->buf, out->size, "0x%" PRIx64, value);
		else
			snprintf(out->buf, out->size,
				 kind == SYSCALL_POINTER || kind == SYSCALL_TEXT ? "NULL" : "0");
	}
}

/* Most arguments are an int, whatever the upper half of the register holds. */
static uint64_t syscall_narrow(enum syscall_kind kind, uint64_t value)
{
	switch (kind) {
	case SYSCALL_POINTER:
	case SYSCALL_TEXT:
	case SYSCALL_HEX:
	case SYSCALL_NUMBER:
	case SYSCALL_INT:
	case SYSCALL_UNKNOWN: return value;
	case SYSCALL_FD: return (uint64_t)(int64_t)(int32_t)value;
	default: return (uint32_t)value;
	}
}

char *syscall__words(enum syscall_kind kind, uint64_t value, char *buf, size_t size)
{
	struct syscall_out out = { buf, size, 0 };

	if (!size)
		return buf;
	buf[0] = 0;
	value = syscall_narrow(kind, value);
	switch (kind) {
	case SYSCALL_OPEN: out_open(&out, value); break;
	case SYSCALL_CLONE: out_clone(&out, value); break;
	case SYSCALL_SIGNAL: out_signal(&out, value); break;
	case SYSCALL_IOCTL: out_ioctl(&out, value); break;
	case SYSCALL_SOCKET: out_socket(&out, value); break;
	case SYSCALL_FUTEX: out_futex(&out, value); break;
	default:
		if (!out_list(&out, kind, value))
			out_number(&out, kind, value);
	}
	if (!buf[0])
		snprintf(buf, size,
			 kind == SYSCALL_ACCESS ? "F_OK"
			 : kind == SYSCALL_PROT ? "PROT_NONE"
						: "0");
	return buf;
}
