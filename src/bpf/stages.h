/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stages.h: a command's stages, kept in its slot: inserted, submitted, issued, reaped; and how many
 * commands were in flight with it. Only where stages are wanted: one short program for each stage.
 */
#ifndef IOSONAR_BPF_STAGES_H
#define IOSONAR_BPF_STAGES_H

#include "bpf/sink.h"
#include "bpf/slot.h"

inline_always __u32 depth_change(const struct tables *t, const struct io_slot *slot, int by)
{
	__u32 nr = slot_more(t, slot)->device & (IO_MAX_DEVICES - 1);
	struct io_device *device = bpf_map_lookup_elem(&io_devices, &nr);

	if (!device)
		return 0;
	add_to(device->in_flight, by);
	return fresh(device->in_flight);
}

/* They are 0 in an idle slot: not every command passes every stage. */
inline_always void stages_empty(struct io_slot_stages *s)
{
	s->inserted_ns = s->issued_ns = s->reaped_ns = 0;
}

inline_always void stages_begin(const struct tables *t, struct io_slot *slot)
{
	struct io_slot_stages *s = slot_stages(t, slot);

	s->issued_ns = s->reaped_ns = 0;
	s->depth = settings.depths ? depth_change(t, slot, 1) : 0;
	s->cpu = bpf_get_smp_processor_id();
	s->tid = s->kernel_stack = s->user_stack = 0;
	s->cgroup = 0;
}

/* The current task submitted a command that has no bio. */
inline_always void nvme_submitted(void *ctx, const struct tables *t, const void *rq)
{
	struct io_slot *slot = slot_find(t, rq);
	const struct known_at nowhere = {};
	struct io_slot_stages *s;

	if (!slot || slot->state != IO_OPEN || !(slot->flags & RECORD_PASSTHROUGH))
		return;
	s = slot_stages(t, slot);
	s->tid = bpf_get_current_pid_tgid();
	s->cgroup = bpf_get_current_cgroup_id();
	stack_losses_count(stacks_take(ctx, &nowhere, &s->kernel_stack, &s->user_stack));
}

/* Stages of an NVMe command in flight. */
inline_always int nvme_issued(const void *rq)
{
	__u64 now = bpf_ktime_get_ns();
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);

	if (slot && slot->state == IO_OPEN && slot->kind != IO_BLOCK)
		slot_stages(&t, slot)->issued_ns = now;
	return 0;
}

inline_always int nvme_reaped(const void *rq)
{
	__u64 now = bpf_ktime_get_ns();
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);

	if (slot && slot->state == IO_OPEN)
		slot_stages(&t, slot)->reaped_ns = now;
	return 0;
}

/* The scheduler has the request: it may not have a slot yet. */
inline_always int request_inserted(const void *rq)
{
	__u64 now = bpf_ktime_get_ns();
	const struct tables t = the_tables();
	struct io_slot *slot = slot_take(&t, rq);

	if (slot && slot->state <= IO_IGNORED)
		slot_stages(&t, slot)->inserted_ns = now;
	return 0;
}

#endif
