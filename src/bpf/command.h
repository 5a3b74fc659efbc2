/* SPDX-License-Identifier: GPL-2.0-only */
/* command.h: what is a command and who sent it? Operation, size, queue, task, and its row's key. */
#ifndef IOSONAR_BPF_COMMAND_H
#define IOSONAR_BPF_COMMAND_H

#include "bpf/bio.h"
#include "bpf/device.h"

inline_always bool op_wanted(__u32 op)
{
	return !settings.filter_op ||
	       (settings.wanted_ops[op >> 8 & 3][op >> 6 & 3] >> (op & 63) & 1);
}

inline_always bool owner_wanted(const struct io_bio *owner)
{
	if (settings.filter_pid && owner->pid != settings.filter_pid)
		return false;
	if (settings.filter_cgroup && !owner->is_of_group)
		return false;
	return !settings.filter_comm[0] || (owner->comm[0] == settings.filter_comm[0] &&
					    owner->comm[1] == settings.filter_comm[1]);
}

/* A command without an owner is judged by the current task. */
inline_always bool task_wanted(const struct io_bio *owner)
{
	__u64 comm[2] = {}; /* 6.1 writes nothing after the name's end */

	if (owner)
		return owner_wanted(owner);
	if (settings.filter_pid && (__u32)(bpf_get_current_pid_tgid() >> 32) != settings.filter_pid)
		return false;
	if (settings.filter_cgroup &&
	    cgroup_ancestor(settings.filter_cgroup_level) != settings.filter_cgroup)
		return false;
	if (settings.filter_comm[0]) {
		bpf_get_current_comm(comm, sizeof(comm));
		if (comm[0] != settings.filter_comm[0] || comm[1] != settings.filter_comm[1])
			return false;
	}
	return true;
}

/* NVMe: 0 is the admin queue. Other disks: as their driver numbers them. */
inline_always __u32 queue_number(struct request *rq, __u32 kind, const enum pointers pointers)
{
	struct blk_mq_hw_ctx *hctx;

	if (kind == IO_ADMIN || kind == IO_FABRICS)
		return 0;
	hctx = field_of(pointers, rq, mq_hctx);
	return field_of(pointers, hctx, queue_num) + (kind == IO_NVME);
}

inline_always bool key_is(const struct io_key *a, const struct io_key *b)
{
	if (a->packed != b->packed)
		return false;
	if (settings.by_pid && a->pid != b->pid)
		return false;
	if (settings.by_cgroup && a->cgroup != b->cgroup)
		return false;
	if (settings.by_file && (a->inode != b->inode || a->file_dev != b->file_dev))
		return false;
	return !settings.by_comm || (a->comm[0] == b->comm[0] && a->comm[1] == b->comm[1]);
}

inline_always __u32 key_hash(const struct io_key *key)
{
	__u64 h = key->packed ^ key->packed >> 32;

	if (settings.by_pid)
		h ^= key->pid;
	if (settings.by_cgroup)
		h ^= key->cgroup;
	if (settings.by_file)
		h ^= io_file_home(key->inode, key->file_dev);
	if (settings.by_comm)
		h ^= (key->comm[0] ^ key->comm[1]) * 0x9e3779b97f4a7c15ULL >> 32;
	return io_key_home((__u32)h);
}

/* The number of this key. A full table gives number 0, which is the row `other` on every CPU. */
inline_always __u32 key_number(const struct io_key *key)
{
	__u32 home = key_hash(key), nr;
	struct io_key *cell;

#pragma unroll
	for (__u32 i = 0; i < IO_PROBES; i++) {
		nr = (home + i) & settings.key_mask;
		cell = bpf_map_lookup_elem(&io_keys, &nr);
		if (!nr || !cell)
			continue;
		if (key_is(cell, key))
			return nr;
		if (cell->packed || !cell_lock(LOCK_KEY, nr))
			continue;
		if (!fresh(cell->packed))
			goto empty;
		cell_unlock(LOCK_KEY, nr);
	}
	return 0;
empty:
	cell->pid = key->pid;
	cell->cgroup = key->cgroup;
	cell->inode = key->inode;
	cell->file_dev = key->file_dev;
	cell->comm[0] = key->comm[0];
	cell->comm[1] = key->comm[1];
	fresh(cell->packed) = key->packed;
	cell_unlock(LOCK_KEY, nr);
	return nr;
}

inline_always __u32 command_key(struct request *rq, const struct io_bio *owner, __u32 device,
				__u32 op, __u32 bytes, const enum pointers pointers)
{
	struct io_key key = {};

	key.packed = 1ULL << IO_KEY_USED | device | (__u64)op << IO_KEY_OP;
	if (settings.by_size)
		key.packed |= (__u64)io_size_class(bytes) << IO_KEY_SIZE;
	if (settings.by_queue)
		key.packed |= (__u64)(queue_number(rq, op >> 8, pointers) & 0xffff) << IO_KEY_QUEUE;
	if (settings.by_cpu)
		key.packed |= (__u64)(bpf_get_smp_processor_id() & 0xfff) << IO_KEY_CPU;
	if (settings.by_pid)
		key.pid = owner ? owner->pid : bpf_get_current_pid_tgid() >> 32;
	if (settings.by_cgroup)
		key.cgroup = owner ? owner->cgroup : bpf_get_current_cgroup_id();
	if (settings.by_file && owner) {
		key.inode = owner->inode;
		key.file_dev = owner->file_dev;
		key.packed |= (__u64)owner->file_nth << IO_KEY_FILE;
	}
	if (settings.by_comm && owner)
		__builtin_memcpy(key.comm, owner->comm, sizeof(key.comm));
	else if (settings.by_comm)
		bpf_get_current_comm(key.comm, sizeof(key.comm));
	return key_number(&key);
}

#endif
