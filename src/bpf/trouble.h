/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trouble.h: what goes wrong with a command before it ends, and what happens to its controller. All
 * of it is rare: each event gets a record of its own.
 */
#ifndef IOSONAR_BPF_TROUBLE_H
#define IOSONAR_BPF_TROUBLE_H

#include "bpf/life.h"

/* An attempt failed and the command is tried again; the slot knows the time and the status. */
inline_always void attempt_failed(const struct tables *t, const struct io_slot *slot)
{
	struct outcome o = { .end_ns = slot->last_ns, .what = RECORD_ATTEMPT };

	if (!settings.troubles)
		return;
	o.status = slot_more(t, slot)->status;
	record_send(t, slot, &o, NO_STAGES);
}

/* The device's answer is unknown, and the driver tries again: disks other than NVMe. */
inline_always void attempt_repeated(const struct tables *t, const struct io_slot *slot)
{
	struct outcome o = { .end_ns = bpf_ktime_get_ns(), .what = RECORD_ATTEMPT };

	if (settings.troubles)
		record_send(t, slot, &o, NO_STAGES);
}

/* Runs before the program that ends the command: did the driver give up waiting for it? */
inline_always int command_cancelled(struct request *rq)
{
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);
	struct outcome o = { .what = RECORD_CANCELLED };

	if (!slot || slot->state != IO_OPEN || !(nvme_flags(rq) & NVME_REQ_CANCELLED))
		return 0;
	slot->flags |= RECORD_TROUBLED;
	o.end_ns = bpf_ktime_get_ns();
	o.status = nvme_status(told(nvme_status_at), rq, PLAIN);
	record_send(&t, slot, &o, NO_STAGES);
	return 0;
}

/* An event of a controller, which user space finds by its number. */
inline_always int controller_event(__u32 event, const void *ctrl, __u32 value)
{
	const struct tables t = the_tables();
	__u32 cpu, seq, instance = 0;
	struct io_record *r;

	if (!settings.nvme_instance_at)
		return 0;
	bpf_probe_read_kernel(&instance, sizeof(instance), ctrl + settings.nvme_instance_at);
	r = record_reserve(&t, &cpu, &seq, NO_STAGES);
	if (!r)
		return 0;
	__builtin_memset(r, 0, sizeof(*r));
	r->first_ns = r->last_ns = r->end_ns = bpf_ktime_get_ns();
	r->cdw10[0] = value;
	r->nsid = instance;
	r->seq = seq;
	r->device = RECORD_NO_DEVICE;
	r->cpu = cpu;
	r->kind = IO_ADMIN;
	r->op = event;
	r->what = RECORD_EVENT;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
