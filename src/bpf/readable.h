/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * readable.h: bpf_rdonly_cast (6.2): the verifier lets us load from an address that it knows
 * nothing of, at a hundredth of what the helper costs. User space fills in the call's number where
 * the kernel has it (collect/io_complete.h): libbpf would search every module for an extern of that
 * name, which needs SYS_ADMIN, even for programs that are not loaded.
 */
#ifndef IOSONAR_BPF_READABLE_H
#define IOSONAR_BPF_READABLE_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "bpf/cell.h"

/* An instruction that is completed before load: the call of a kernel function. */
#define MARK_CAST "0x2085"

/* type: of a struct of the kernel that begins with an integer. */
inline_always const void *readable(const void *ptr, __u64 type)
{
	register const void *result asm("r0");
	register const void *r1 asm("r1") = ptr;
	register __u64 r2 asm("r2") = type;

	asm volatile(".8byte " MARK_CAST : "=r"(result), "+r"(r1), "+r"(r2) : : "r3", "r4", "r5");
	return result;
}

#endif
