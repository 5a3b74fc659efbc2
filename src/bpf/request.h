/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request.h: every read of a kernel struct, and every difference between kernels, is here. Getters
 * take `pointers`: TYPED in tp_btf programs, whose pointers the verifier knows and loads at once;
 * PLAIN in raw_tp programs, which copy each field with a helper (about 54 instructions a field).
 * A pointer loaded through a known one costs the verifier a search of all BTF (1 to 3 ms) on every
 * path that comes there: such loads stand at a program's beginning, or are copies.
 */
#ifndef IOSONAR_BPF_REQUEST_H
#define IOSONAR_BPF_REQUEST_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_endian.h>
#include "bpf/cgroup.h"
#include "bpf/disk.h"
#include "bpf/kernel.h"
#include "bpf/readable.h"
#include "wire/io_tables.h"

/* The command has the hardware's layout: no relocation. */
#define field_of_command(pointers, cmd, field)                                         \
	({                                                                             \
		typeof((cmd)->field) value_;                                           \
		if (pointers)                                                          \
			value_ = (cmd)->field;                                         \
		else                                                                   \
			bpf_probe_read_kernel(&value_, sizeof(value_), &(cmd)->field); \
		value_;                                                                \
	})

const volatile struct io_settings settings;

/*
 * The address of a table that is one value of an array. A global would be as cheap, but the size is
 * only known at load; a lookup would cost a dozen instructions more.
 */
#define table_address(nr)                                                             \
	({                                                                            \
		void *address_;                                                       \
		asm("%0 = %1 ll" : "=r"(address_) : "i"(IO_MARK_TABLE << 32 | (nr))); \
		address_;                                                             \
	})

/*
 * A setting as a number in the instruction itself: no address, no load. Only in programs: user
 * space does not complete functions that the verifier checks separately.
 */
#define told(field)                                                                        \
	({                                                                                 \
		__u64 value_;                                                              \
		asm("%0 = %1 ll"                                                           \
		    : "=r"(value_)                                                         \
		    : "i"(IO_MARKED_SETTING(__builtin_offsetof(struct io_settings, field), \
					    sizeof(((struct io_settings *)0)->field))));   \
		value_;                                                                    \
	})

/* Both again, but loaded where they stand: what the compiler keeps for later costs the path that
 * ends here a move. */
#define table_address_here(nr)                                                                 \
	({                                                                                     \
		void *address_;                                                                \
		asm volatile("%0 = %1 ll" : "=r"(address_) : "i"(IO_MARK_TABLE << 32 | (nr))); \
		address_;                                                                      \
	})
#define told_here(field)                                                                       \
	({                                                                                     \
		__u64 value_;                                                                  \
		asm volatile(                                                                  \
			"%0 = %1 ll"                                                           \
			: "=r"(value_)                                                         \
			: "i"(IO_MARKED_SETTING(__builtin_offsetof(struct io_settings, field), \
						sizeof(((struct io_settings *)0)->field))));   \
		value_;                                                                        \
	})

/*
 * The low half of an address, as a number to hash: the verifier refuses arithmetic on a trusted
 * pointer, but not a 32-bit move of it.
 */
inline_always __u32 low_half(const void *ptr)
{
	__u32 low;

	asm volatile("%0 = %1" : "=w"(low) : "w"((__u32)(long)ptr));
	return low;
}

/*
 * On kernels without queue.disk, a command that the driver itself sends to a namespace (report of
 * zones) names no disk. The name of the queue's parent directory does instead. False: it is the
 * admin queue, or the disk was not added yet.
 */
inline_always bool queue_name(struct request_queue *q, void *name, __u32 size)
{
	struct request_queue___kobj *old = (void *)q;
	const char *text;

	if (bpf_core_field_exists(struct request_queue, disk) || !BPF_CORE_READ(q, queuedata))
		return false;
	text = BPF_CORE_READ(old, kobj.parent, name);
	return text && bpf_probe_read_kernel_str(name, size, text) > 0;
}

/* Never reused, unlike names, numbers and addresses; 0 before 5.15 (cf179948554a). */
inline_always __u64 disk_seq(struct gendisk *disk, const enum pointers pointers)
{
	if (disk && bpf_core_field_exists(struct gendisk, diskseq))
		return field_of(pointers, disk, diskseq);
	return 0;
}

/* The completion's status, `at` bytes behind the request, without the phase bit; 0 is success. */
inline_always __u16 nvme_status(__u64 at, struct request *rq, const enum pointers pointers)
{
	__u16 status = 0;

	if (pointers == CAST)
		return *(__u16 *)readable((void *)rq + at, told(cast_type));
	if (at)
		bpf_probe_read_kernel(&status, sizeof(status), (void *)rq + at);
	return status;
}

/* Dwords 0 and 1 of the completion queue entry. */
inline_always __u64 nvme_result(struct request *rq, const enum pointers pointers)
{
	__u64 result = 0;

	if (!settings.nvme_result_at)
		return 0;
	if (pointers == CAST)
		return *(__u64 *)readable((void *)rq + settings.nvme_result_at, told(cast_type));
	bpf_probe_read_kernel(&result, sizeof(result), (void *)rq + settings.nvme_result_at);
	return result;
}

/* The driver's flags of a command: sent by a user past the block layer, cancelled. */
inline_always __u8 nvme_flags(struct request *rq)
{
	__u8 flags = 0;

	if (settings.nvme_flags_at)
		bpf_probe_read_kernel(&flags, sizeof(flags), (void *)rq + settings.nvme_flags_at);
	return flags;
}

/* N of nvmeN, or -1. */
inline_always __s32 nvme_instance(struct request *rq, struct request_queue *admin_q)
{
	void *ctrl = 0, *its_admin_q = 0;
	__s32 instance = -1;

	if (!settings.nvme_ctrl_at)
		return -1;
	bpf_probe_read_kernel(&ctrl, sizeof(ctrl), (void *)rq + settings.nvme_ctrl_at);
	if (admin_q) {
		bpf_probe_read_kernel(&its_admin_q, sizeof(its_admin_q),
				      ctrl + settings.nvme_admin_q_at);
		if (its_admin_q != admin_q)
			return -1;
	}
	bpf_probe_read_kernel(&instance, sizeof(instance), ctrl + settings.nvme_instance_at);
	return instance;
}

#endif
