/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request.h: every read of a kernel struct, and every difference between kernels, is here. Getters
 * take `direct`: true in tp_btf programs, whose pointers the verifier knows and loads at once;
 * false in raw_tp programs, which copy each field with a helper (about 54 instructions a field).
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
#include "bpf/kernel.h"
#include "wire/io.h"

#define inline_always static __always_inline

#define field_of(direct, ptr, field)                        \
	({                                                  \
		typeof((ptr)->field) value_;                \
		if (direct)                                 \
			value_ = (ptr)->field;              \
		else                                        \
			value_ = BPF_CORE_READ(ptr, field); \
		value_;                                     \
	})

/* The command is hardware's layout: no relocation. */
#define field_of_command(direct, cmd, field)                                           \
	({                                                                             \
		typeof((cmd)->field) value_;                                           \
		if (direct)                                                            \
			value_ = (cmd)->field;                                         \
		else                                                                   \
			bpf_probe_read_kernel(&value_, sizeof(value_), &(cmd)->field); \
		value_;                                                                \
	})

const volatile struct io_settings settings;

/* Instructions that user space completes before they are loaded: their numbers are wire/io.h's. */
#define MARK_CAST "0x2085" /* call of a kernel function */
#define MARK_TABLE(mark)                                                         \
	"0x" mark "00002018" /* load of a map's address; the mark says which map \
			      */

/* Kept in a register: each mention of a global would load its 64-bit address anew. */
inline_always const volatile struct io_settings *the_settings(void)
{
	const volatile struct io_settings *set = &settings;

	asm volatile("" : "+r"(set));
	return set;
}

/*
 * The address of a table that is one value of an array. As a global it would be as cheap, but its
 * size is only known at load; looked up, it would cost a dozen instructions more.
 */
#define table_address(mark)                                                             \
	({                                                                              \
		register void *address_ asm("r0");                                      \
		asm volatile(".8byte " MARK_TABLE(mark) "\n.8byte 0" : "=r"(address_)); \
		address_;                                                               \
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

/* NULL for an admin queue. */
inline_always struct gendisk *req_disk(struct request *rq, struct request_queue *q,
				       const bool direct)
{
	if (bpf_core_field_exists(struct request_queue, disk)) {
		return field_of(direct, q, disk);
	} else {
		struct request___rq_disk *old = (void *)rq;

		return field_of(direct, old, rq_disk);
	}
}

inline_always struct gendisk *bio_disk(struct bio *bio)
{
	struct bio___disk *old = (void *)bio;

	if (bpf_core_field_exists(struct bio, bi_bdev))
		return BPF_CORE_READ(bio, bi_bdev, bd_disk);
	return BPF_CORE_READ(old, bi_disk);
}

/*
 * Kernels without queue.disk name no disk in a command that the driver sends to a namespace itself
 * (report of zones). The name of the directory in which the queue's own lies will do. False: it is
 * the admin queue, or the disk was not added yet.
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

/* Never given twice, unlike names, numbers and addresses; 0 before 5.15 (cf179948554a). */
inline_always __u64 disk_seq(struct gendisk *disk, const bool direct)
{
	if (disk && bpf_core_field_exists(struct gendisk, diskseq))
		return field_of(direct, disk, diskseq);
	return 0;
}

/* Every NVMe disk is called nvme…, the hidden legs of a multipath head too. */
inline_always bool disk_is_nvme(struct gendisk *disk, const bool direct)
{
	__u32 four;

	if (direct)
		four = *(__u32 *)disk->disk_name;
	else
		bpf_core_read(&four, sizeof(four), &disk->disk_name);
	return four == bpf_htonl(0x6e766d65);
}

/*
 * bpf_rdonly_cast (6.2): the verifier lets us load from what lies behind the request. The call's
 * number is filled in by user space where the kernel has it: libbpf would look for an extern of
 * that name in every module, which needs SYS_ADMIN, even for programs that are not loaded.
 */
inline_always const void *readable(const void *ptr, __u64 type)
{
	register const void *result asm("r0");
	register const void *r1 asm("r1") = ptr;
	register __u64 r2 asm("r2") = type;

	asm volatile(".8byte " MARK_CAST : "=r"(result), "+r"(r1), "+r"(r2) : : "r3", "r4", "r5");
	return result;
}

/* A type that every kernel has and that begins with an integer. */
struct timespec64 {
	__s64 tv_sec;
};

/* The completion's status without the phase bit; 0 is success. `cast`: through bpf_rdonly_cast. */
inline_always __u16 nvme_status(const volatile struct io_settings *set, struct request *rq,
				const bool cast)
{
	__u16 status = 0;

	if (cast)
		return *(__u16 *)readable((void *)rq + set->nvme_status_at,
					  bpf_core_type_id_kernel(struct timespec64));
	if (set->nvme_status_at)
		bpf_probe_read_kernel(&status, sizeof(status), (void *)rq + set->nvme_status_at);
	return status;
}

/* Dwords 0 and 1 of the completion queue entry. */
inline_always __u64 nvme_result(struct request *rq, const bool cast)
{
	__u64 result = 0;

	if (!settings.nvme_result_at)
		return 0;
	if (cast)
		return *(__u64 *)readable((void *)rq + settings.nvme_result_at,
					  bpf_core_type_id_kernel(struct timespec64));
	bpf_probe_read_kernel(&result, sizeof(result), (void *)rq + settings.nvme_result_at);
	return result;
}

/* Was it sent by a user, past the block layer? The driver marks those. */
inline_always bool nvme_is_users(struct request *rq)
{
	__u8 flags = 0;

	if (settings.nvme_flags_at)
		bpf_probe_read_kernel(&flags, sizeof(flags), (void *)rq + settings.nvme_flags_at);
	return flags & NVME_REQ_USERCMD;
}

/* Before 6.1 a cgroup has the ids of those above it. */
inline_always __u64 cgroup_old_ancestor(struct cgroup *cgroup, __u32 level)
{
	__u64 id = 0;

	bpf_probe_read_kernel(&id, sizeof(id),
			      (void *)cgroup +
				      bpf_core_field_offset(struct cgroup___ids, ancestor_ids) +
				      level * sizeof(id));
	return id;
}

/* The id of a cgroup or of the one above it at that level; 0: it is not so deep. */
inline_always __u64 cgroup_ancestor_of(struct cgroup *cgroup, __u32 level)
{
	struct cgroup *above = 0;

	if (!cgroup || level > (__u32)BPF_CORE_READ(cgroup, level))
		return 0;
	if (bpf_core_field_exists(struct cgroup___ids, ancestor_ids))
		return cgroup_old_ancestor(cgroup, level);
	bpf_probe_read_kernel(&above, sizeof(above),
			      (void *)cgroup +
				      bpf_core_field_offset(struct cgroup___ancestors, ancestors) +
				      level * sizeof(above));
	return BPF_CORE_READ(above, kn, id);
}

/*
 * Of the current task's. 5.10 gives the helper to no tracing program; as long as ids lie in the
 * struct we need none.
 */
inline_always __u64 cgroup_ancestor(__u32 level)
{
	struct cgroup *cgroup;

	if (!bpf_core_field_exists(struct cgroup___ids, ancestor_ids))
		return bpf_get_current_ancestor_cgroup_id(level);
	/* Not cgroup_ancestor_of: each struct that a program names costs 2 ms at its start. */
	cgroup = BPF_CORE_READ((struct task_struct *)bpf_get_current_task(), cgroups, dfl_cgrp);
	if (level > (__u32)BPF_CORE_READ(cgroup, level))
		return 0;
	return cgroup_old_ancestor(cgroup, level);
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
