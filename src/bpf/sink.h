/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sink.h: sends one record per command into its CPU's ring, followed by its stages where they are
 * wanted.
 */
#ifndef IOSONAR_BPF_SINK_H
#define IOSONAR_BPF_SINK_H

#include "bpf/bio.h"
#include "bpf/cells.h"
#include "bpf/queue_wait.h"
#include "wire/io_stages.h"

inline_always struct io_slot_more *slot_more(const struct tables *t, const struct io_slot *slot)
{
	return (void *)slot + setting_of(t, more_at);
}

inline_always struct io_slot_stages *slot_stages(const struct tables *t, const struct io_slot *slot)
{
	return (void *)slot + setting_of(t, stages_at);
}

/* Do stages follow a record? Known at compile time on hot paths, so that the test costs nothing. */
enum stages { NO_STAGES, STAGES };

struct outcome {
	__u64 end_ns, result;
	__u32 status;
	__u8 what;
	/* With stages: */
	__u64 done_ns;
	const struct io_bio *bio; /* the request's first bio; NULL: unknown */
	__u32 nr_bios;
	bool waited; /* that bio, whose cell is free again, has an entry in the table of waits */
};

inline_always void record_fill(struct io_record *r, const struct io_slot *slot,
			       const struct io_slot_more *more, const struct outcome *o,
			       const enum stages stages)
{
	r->first_ns = slot->first_ns;
	r->last_ns = more->last_ns;
	r->end_ns = o->end_ns;
	r->bytes = slot->bytes;
	if (stages && !settings.details) {
		__builtin_memset(&r->result, 0, sizeof(r->result) + sizeof(r->cdw10));
		r->nsid = r->pid = 0;
		__builtin_memset(r->comm, 0, sizeof(r->comm));
	} else {
		r->result = o->result;
		__builtin_memcpy(r->cdw10, more->cdw10, sizeof(r->cdw10));
		r->nsid = more->nsid;
		r->pid = more->pid;
		__builtin_memcpy(r->comm, more->comm, sizeof(r->comm));
	}
	__builtin_memcpy(&r->device, &more->device, 8);
	r->status = o->status;
	__builtin_memcpy(&r->cpu, &slot->key_nr, 8);
	r->cmd_flags = 0;
	r->what = o->what;
}

inline_always void stages_without_details(struct record_with_stages *r, const struct outcome *o)
{
	r->stages.queued_ns = o->bio ? o->bio->queued_ns : 0;
	r->stages.got_ns = o->bio ? o->bio->got_ns : 0;
	__builtin_memset(&r->stages.cgroup, 0, 36);
	r->stages.cpu = 0;
	__builtin_memset(&r->stages.file_nth, 0, 8);
}

inline_always void stages_waits(struct io_stages *s, const struct outcome *o)
{
	__builtin_memset(s->waits, 0, sizeof(s->waits));
	if (settings.waits && o->bio && (o->waited || o->bio->busy == BIO_WAITED))
		waits_fill(s, o->bio);
}

inline_always void stages_fill(const struct tables *t, struct record_with_stages *r,
			       const struct io_slot *slot, const struct outcome *o)
{
	struct io_slot_stages *mine = slot_stages(t, slot);
	struct io_stages *s = &r->stages;

	s->inserted_ns = mine->inserted_ns;
	s->issued_ns = mine->issued_ns;
	s->reaped_ns = mine->reaped_ns;
	s->done_ns = o->done_ns;
	s->flushed_ns = o->bio ? mine->flushed_ns : 0;
	s->written_ns = o->bio ? mine->written_ns : 0;
	r->record.flags |= RECORD_STAGES;
	s->nr_bios = o->nr_bios;
	stages_waits(s, o);
	if (!settings.details) {
		stages_without_details(r, o);
		return;
	}
	s->depth = mine->depth;
	s->cpu = mine->cpu;
	__builtin_memset(&s->file_nth, 0, 8);
	if (!o->bio) {
		__builtin_memset(&s->queued_ns, 0, 16);
		s->cgroup = mine->cgroup;
		s->inode = 0;
		s->file_dev = 0;
		s->tid = mine->tid;
		s->kernel_stack = mine->kernel_stack;
		s->user_stack = mine->user_stack;
		return;
	}
	__builtin_memcpy(&s->queued_ns, &o->bio->queued_ns, 16);
	__builtin_memcpy(&s->cgroup, &o->bio->cgroup, 32);
	s->file_nth = o->bio->file_nth;
	stack_losses_count(o->bio->stack_losses);
	r->record.pid = o->bio->pid;
	__builtin_memcpy(r->record.comm, o->bio->comm, sizeof(r->record.comm));
	r->record.flags |= RECORD_OWNED;
}

/* About the bio, not the command that it became or was a part of. */
inline_always void bio_fill(struct io_record *r, const struct io_bio *bio)
{
	if (!bio)
		return;
	r->bytes = bio->bytes;
	r->cdw10[0] = bio->sector;
	r->cdw10[1] = bio->sector >> 32;
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
SAME(io_stages, io_bio, queued_ns, queued_ns, got_ns);
SAME(io_stages, io_bio, cgroup, cgroup, inode);
SAME(io_stages, io_bio, cgroup, cgroup, file_dev);
SAME(io_stages, io_bio, cgroup, cgroup, tid);
SAME(io_stages, io_bio, cgroup, cgroup, user_stack);

/* The number of this CPU and of its next record: counted before a ring is asked. */
inline_always struct io_cpu *record_begin(const struct tables *t, __u32 *cpu, __u32 *seq)
{
	struct io_cpu *mine;

	*cpu = bpf_get_smp_processor_id();
	mine = t->slots + settings.cpu_at + (*cpu * sizeof(*mine) & settings.cpu_mask);
	*seq = mine->tried;
	count_up(mine->tried);
	return mine;
}

/* Room in this CPU's ring; NULL: it is full, which is counted: I/O never waits. */
inline_always struct io_record *record_room(struct io_cpu *mine, __u32 *cpu,
					    const enum stages stages)
{
	void *ring = bpf_map_lookup_elem(&io_rings, cpu);
	struct io_record *r;

	if (stages)
		r = ring ? bpf_ringbuf_reserve(ring, sizeof(struct record_with_stages), 0) : 0;
	else
		r = ring ? bpf_ringbuf_reserve(ring, sizeof(struct io_record), 0) : 0;
	if (!r)
		count_up(mine->dropped);
	return r;
}

inline_always struct io_record *record_reserve(const struct tables *t, __u32 *cpu, __u32 *seq,
					       const enum stages stages)
{
	return record_room(record_begin(t, cpu, seq), cpu, stages);
}

/* A record without stages takes a cell of a ring that user space maps; false: there is none. */
inline_always bool record_into_cell(const struct tables *t, const struct io_slot *slot,
				    const struct outcome *o, __u64 cpu, __u32 seq)
{
	__u64 mask;
	struct io_ladders *ring = cells_of(cpu, &mask);
	struct io_record *r;
	void *cell;

	if (!ring || !cells_hold(ring, mask, &cell))
		return false;
	r = cell;
	record_fill(r, slot, slot_more(t, slot), o, NO_STAGES);
	r->seq = seq;
	r->cpu = cpu;
	cells_release(ring);
	return true;
}

/* False: the record was dropped. */
inline_always bool record_send(const struct tables *t, const struct io_slot *slot,
			       const struct outcome *o, const enum stages stages)
{
	__u32 cpu, seq;
	struct io_cpu *mine = record_begin(t, &cpu, &seq);
	struct io_record *r;

	if (t->cells && !stages && told(record_cells) && record_into_cell(t, slot, o, cpu, seq))
		return true;
	r = record_room(mine, &cpu, stages);
	if (!r)
		return false;
	record_fill(r, slot, slot_more(t, slot), o, stages);
	if (stages)
		stages_fill(t, (void *)r, slot, o);
	if (stages && settings.bios)
		bio_fill(r, o->bio);
	r->seq = seq;
	r->cpu = cpu;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return true;
}

/* A bio that no command carried: its device has no commands, or another bio's flush served it. */
inline_always void record_of_bio(const struct tables *t, const struct io_bio *bio, __u32 device,
				 const struct outcome *o)
{
	__u32 cpu, seq;
	struct record_with_stages *r = (void *)record_reserve(t, &cpu, &seq, STAGES);

	if (!r)
		return;
	__builtin_memset(r, 0, sizeof(*r));
	r->record.first_ns = r->record.last_ns = bio->queued_ns;
	r->record.end_ns = o->end_ns;
	r->record.result = o->result;
	r->record.pid = bio->pid;
	r->record.seq = seq;
	__builtin_memcpy(r->record.comm, bio->comm, sizeof(r->record.comm));
	r->record.device = device;
	r->record.status = o->status;
	r->record.cpu = cpu;
	r->record.kind = IO_BLOCK;
	r->record.op = bio->bytes || bio->op != REQ_OP_WRITE ? bio->op : REQ_OP_FLUSH;
	r->record.what = RECORD_BIO;
	r->record.flags = settings.details ? RECORD_STAGES | RECORD_OWNED : RECORD_STAGES;
	bio_fill(&r->record, bio);
	__builtin_memcpy(&r->stages.queued_ns, &bio->queued_ns, 16);
	__builtin_memcpy(&r->stages.cgroup, &bio->cgroup, 32);
	r->stages.file_nth = bio->file_nth;
	stack_losses_count(bio->stack_losses);
	stages_waits(&r->stages, o);
	r->stages.issued_ns = bio->below_ns;
	r->stages.reaped_ns = bio->back_ns;
	r->stages.cpu = cpu;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

#endif
