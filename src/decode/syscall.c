/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/syscall_args.h"

#include <sys/syscall.h>

/* Made of <sys/syscall.h> by the Makefile: SYSCALL(read) for each SYS_read. */
#define SYSCALL(name) [SYS_##name] = #name,
static const char *const syscall_names[] = {
#include "decode/syscall_list.h"
};

/* Made of <asm/unistd_32.h>, which x86_64 has: SYSCALL(getpid, 20). */
#undef SYSCALL
#define SYSCALL(name, number) [number] = #name,
static const char *const syscall_compat_names[] = {
	NULL,
#include "decode/syscall_compat_list.h"
};

static const char *syscall_look_up(const char *const *names, size_t nr, int64_t number)
{
	return number >= 0 && (uint64_t)number < nr ? names[number] : NULL;
}

const char *syscall__name(int64_t number)
{
	return syscall_look_up(syscall_names, sizeof(syscall_names) / sizeof(syscall_names[0]),
			       number);
}

const char *syscall__compat_name(int64_t number)
{
	return syscall_look_up(syscall_compat_names,
			       sizeof(syscall_compat_names) / sizeof(syscall_compat_names[0]),
			       number);
}
