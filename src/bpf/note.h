/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * note.h: what setup notes about a command for its record: the task that sent it, its fields, its
 * flags. Only where records are wanted; where only times are, nothing is noted.
 */
#ifndef IOSONAR_BPF_NOTE_H
#define IOSONAR_BPF_NOTE_H

#include "bpf/command.h"
#include "bpf/sink.h"

/* The task that sent it. Typed pointers read the task directly; the helper for its name costs
 * 140 instructions. */
inline_always void more_task(struct io_slot_more *more, const struct io_bio *owner,
			     const enum pointers pointers)
{
	if (owner) {
		more->pid = owner->pid;
		__builtin_memcpy(more->comm, owner->comm, sizeof(more->comm));
	} else if (pointers && settings.task_pointer) {
		struct task_struct *task = bpf_get_current_task_btf();

		more->pid = task->tgid;
		more->comm[0] = ((__u64 *)task->comm)[0];
		more->comm[1] = ((__u64 *)task->comm)[1];
	} else {
		more->pid = bpf_get_current_pid_tgid() >> 32;
		bpf_get_current_comm(more->comm, sizeof(more->comm));
	}
}

/* What the record says about the command itself. */
inline_always void more_command(struct io_slot_more *more, struct nvme_command *cmd,
				const enum pointers pointers)
{
	more->cid = field_of_command(pointers, cmd, command_id);
	more->nsid = field_of_command(pointers, cmd, nsid);
	more->cdw10[0] = field_of_command(pointers, cmd, cdw10[0]);
	more->cdw10[1] = field_of_command(pointers, cmd, cdw10[1]);
	more->cdw10[2] = field_of_command(pointers, cmd, cdw10[2]);
	more->cdw10[3] = field_of_command(pointers, cmd, cdw10[3]);
	more->cdw10[4] = field_of_command(pointers, cmd, cdw10[4]);
	more->cdw10[5] = field_of_command(pointers, cmd, cdw10[5]);
}

inline_always void more_sector(struct io_slot_more *more, struct request *rq,
			       const enum pointers pointers)
{
	__u64 sector = field_of(pointers, rq, __sector);

	more->cid = more->nsid = 0;
	more->cdw10[0] = sector;
	more->cdw10[1] = sector >> 32;
}

/* enum record_flag. The driver tells a user's passthrough command from its own. */
inline_always __u8 record_flags(struct request *rq, __u32 cmd_flags, const bool nvme)
{
	__u8 flags = 0;

	if ((cmd_flags & 0xff) >= REQ_OP_DRV_IN) {
		flags = RECORD_PASSTHROUGH;
		if (nvme && nvme_flags(rq) & NVME_REQ_USERCMD)
			flags |= RECORD_USER;
	} else if (cmd_flags & settings.polled_flag) {
		flags = RECORD_POLLED;
	}
	if (cmd_flags & settings.integrity_flag)
		flags |= RECORD_METADATA;
	if (!nvme && cmd_flags & settings.fua_flag)
		flags |= RECORD_FUA;
	return flags;
}

inline_always void more_fill(const struct tables *t, struct io_slot *slot, struct request *rq,
			     struct nvme_command *cmd, const enum pointers pointers,
			     const enum rich rich)
{
	struct io_slot_more *more = slot_more(t, slot);
	__u32 cmd_flags = field_of(pointers, rq, cmd_flags);
	const struct io_bio *owner;

	if (rich && settings.stages && !settings.details) {
		slot->flags = 0;
		return;
	}
	owner = owner_of(t, rq, rich);
	more_task(more, owner, pointers);
	more->qid = queue_number(rq, slot->kind, pointers);
	if (cmd)
		more_command(more, cmd, pointers);
	else
		more_sector(more, rq, pointers);
	slot->flags =
		cmd_flags & setting_of(t, rare_flags) ? record_flags(rq, cmd_flags, cmd != 0) : 0;
	if (owner)
		slot->flags |= RECORD_OWNED;
}

#endif
