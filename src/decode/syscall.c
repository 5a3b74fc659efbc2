/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/syscall_args.h"

#include <sys/syscall.h>

/* Made of <sys/syscall.h> by the Makefile: SYSCALL(read) for each SYS_read. */
#define SYSCALL(name) [SYS_##name] = #name,
static const char *const syscall_names[] = {
#include "decode/syscall_list.h"
};

const char *syscall__name(int64_t number)
{
	size_t nr = sizeof(syscall_names) / sizeof(syscall_names[0]);

	return number >= 0 && (uint64_t)number < nr ? syscall_names[number] : NULL;
}
