/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sink.h: one record per command into its CPU's ring.
 */
#ifndef IOSONAR_BPF_SINK_H
#define IOSONAR_BPF_SINK_H

#include "bpf/table.h"

inline_always struct io_slot_more *slot_more(const struct io_slot *slot)
{
	return (void *)slot + settings.more_at;
}

struct outcome {
	__u64 end_ns, result;
	__u32 status;
	__u8 what;
};

inline_always void record_fill(struct io_record *r, const struct io_slot *slot,
			       const struct io_slot_more *more, const struct outcome *o)
{
	r->first_ns = slot->first_ns;
	r->last_ns = more->last_ns;
	r->end_ns = o->end_ns;
	r->result = o->result;
	__builtin_memcpy(r->cdw10, more->cdw10, sizeof(r->cdw10));
	r->nsid = more->nsid;
	r->bytes = slot->bytes;
	r->pid = more->pid;
	__builtin_memcpy(r->comm, more->comm, sizeof(r->comm));
	__builtin_memcpy(&r->device, &more->device, 8);
	r->status = o->status;
	__builtin_memcpy(&r->cpu, &slot->key_nr, 8);
	r->cmd_flags = 0;
	r->what = o->what;
}

#define SAME(a, b, first_a, first_b, field)                                     \
	_Static_assert(__builtin_offsetof(struct a, field) -                    \
				       __builtin_offsetof(struct a, first_a) == \
			       __builtin_offsetof(struct b, field) -            \
				       __builtin_offsetof(struct b, first_b),   \
		       "copied at once")
SAME(io_record, io_slot, cpu, key_nr, kind);
SAME(io_record, io_slot, cpu, key_nr, op);
SAME(io_record, io_slot, cpu, key_nr, attempts);
SAME(io_record, io_slot, cpu, key_nr, flags);
SAME(io_record, io_slot_more, device, device, qid);
SAME(io_record, io_slot_more, device, device, cid);

/*
 * Into this CPU's ring. Tried is counted before the ring is asked, dropped when it had no room: I/O
 * never waits. False: it was dropped.
 */
inline_always bool record_send(const struct tables *t, const struct io_slot *slot,
			       const struct outcome *o)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct io_cpu *mine =
		t->slots + settings.cpu_at + (cpu * sizeof(*mine) & settings.cpu_mask);
	void *ring = bpf_map_lookup_elem(&io_rings, &cpu);
	struct io_record *r;
	__u32 seq = mine->tried;

	count_up(mine->tried);
	r = ring ? bpf_ringbuf_reserve(ring, sizeof(*r), 0) : 0;
	if (!r) {
		count_up(mine->dropped);
		return false;
	}
	record_fill(r, slot, slot_more(slot), o);
	r->seq = seq;
	r->cpu = cpu;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return true;
}

#endif
