/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * syscall_args.h: what are the arguments of a system call, and what does it return? A letter for
 * each, for the most used calls; and the words for a number of that kind: O_RDONLY, SIGTERM,
 * PROT_READ|PROT_WRITE. Names come from the build's headers; bits without a name are shown as a
 * number.
 */
#ifndef IOSONAR_DECODE_SYSCALL_ARGS_H
#define IOSONAR_DECODE_SYSCALL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYSCALL_ARGUMENTS = 6, SYSCALL_TEXTS = 2 }; /* maximum of any call */

enum syscall_kind {
	SYSCALL_UNKNOWN = 0,
	SYSCALL_INT = 'd',
	SYSCALL_NUMBER = 'u',
	SYSCALL_HEX = 'x',
	SYSCALL_POINTER = 'p',
	SYSCALL_TEXT = 'T', /* a pointer to a text */
	SYSCALL_FD = 'F',
	SYSCALL_DIRFD = 'D', /* or AT_FDCWD */
	SYSCALL_OPEN = 'O',
	SYSCALL_MODE = 'm',
	SYSCALL_PROT = 'P',
	SYSCALL_MAP = 'M',
	SYSCALL_SIGNAL = 'S',
	SYSCALL_WHENCE = 'W',
	SYSCALL_CLONE = 'C',
	SYSCALL_IOCTL = 'I',
	SYSCALL_ACCESS = 'A',
	SYSCALL_ADVICE = 'V',
	SYSCALL_FCNTL = 'N',
	SYSCALL_EPOLL = 'E',
	SYSCALL_FUTEX = 'K',
	SYSCALL_FAMILY = 'B',
	SYSCALL_SOCKET = 'Y',
	SYSCALL_CLOCK = 'c',
	SYSCALL_AT = 'a', /* flags of calls whose names end in "at" */
};

/* Set in the number of a 32-bit call, which has a numbering of its own. */
#define SYSCALL_COMPAT (1ull << 32)

/* By its number on this machine, from the headers: "read"; NULL: it is newer, or of 32 bits. */
const char *syscall__name(int64_t number);
/* Of a 32-bit call, without SYSCALL_COMPAT: i386's on x86_64. NULL: it is newer, or these headers
 * lack them: arm64's have no names of arm. */
const char *syscall__compat_name(int64_t number);
/* The kind of argument `nr`, from 0, by the call's name or that of its tracepoint (newfstat). */
enum syscall_kind syscall__argument(const char *call, unsigned int nr);
/* Which argument is the call's text `nr`, from 0? -1: it has none. No call has more than two. */
int syscall__text(const char *call, unsigned int nr);
unsigned int syscall__nr_arguments(const char *call); /* 6 if the call is not known */
enum syscall_kind syscall__result(const char *call);

/* The number in words. Of FD and DIRFD it is the number, or AT_FDCWD. Cut at size; returns buf. */
char *syscall__words(enum syscall_kind kind, uint64_t value, char *buf, size_t size);

#endif
