/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ladder.h: an NVMe command's stages in times alone, as `layers` needs for every command: setup,
 * completion, end of the request, as in life.h, but only for the usual command: known queue and
 * operation, one attempt, one bio, no flush around it, no named wait, no error. All others go to
 * life.h, in functions that the verifier checks separately, so that they cost the usual command no
 * register.
 *
 * The times go into a ring of cells that user space maps, a fifth of a kernel ring's instructions.
 * A program that finds the ring full, or held by a program that it interrupted, hands its command
 * to life.h, too.
 */
#ifndef IOSONAR_BPF_LADDER_H
#define IOSONAR_BPF_LADDER_H

#include "bpf/request_end.h"

/* ---- the unusual ---- */

inline_always bool tables_look_up(struct tables *t)
{
	__u32 zero = 0;

	*t = tables_of(bpf_map_lookup_elem(&io_slots, &zero), bpf_map_lookup_elem(&io_bios, &zero),
		       bpf_map_lookup_elem(&io_rows, &zero));
	return t->slots && t->bios && t->rows;
}

/* The usual setup does not note what holds for every first attempt. */
inline_always void ladder_note_attempt(const struct tables *t, __u64 rq)
{
	struct io_slot *slot = slot_find(t, (void *)rq);

	if (slot && slot->attempts == 1)
		slot_more(t, slot)->last_ns = slot->first_ns;
}

__attribute__((noinline)) int ladder_unusual_setup(__u64 rq, __u64 cmd)
{
	struct tables t;

	if (!tables_look_up(&t))
		return 0;
	ladder_note_attempt(&t, rq);
	return nvme_setup(&t, (void *)rq, (void *)cmd, PLAIN, RICH);
}

__attribute__((noinline)) int ladder_unusual_completion(__u64 rq, __u64 now)
{
	struct tables t;

	if (!tables_look_up(&t))
		return 0;
	ladder_note_attempt(&t, rq);
	return nvme_complete(&t, (void *)rq, now, PLAIN);
}

__attribute__((noinline)) int ladder_unusual_end(__u64 rq, __u32 error, __u32 nr_bytes, __u64 now)
{
	struct tables t;

	if (!tables_look_up(&t))
		return 0;
	ladder_note_attempt(&t, rq);
	return request_complete(&t, (void *)rq, error, nr_bytes, now, PLAIN);
}

/* An event's argument as a number: typed, it is a pointer, which no function takes. */
inline_always __u64 argument(const __u64 *ctx, int nr)
{
	__u64 number; /* written in any case */

	bpf_probe_read_kernel(&number, sizeof(number), &ctx[nr]);
	return number;
}

/* ---- submission, setup, completion ---- */

/* Neither an owner nor an extent is asked for. */
inline_always int ladder_queued(const void *bio)
{
	const struct tables t = the_tables();
	struct io_bio *cell = bio_take(&t, bio);

	if (!cell)
		return 0;
	cell->got_ns = 0;
	cell->queued_ns = bpf_ktime_get_ns();
	return 0;
}

/*
 * A flush before or after it, or FUA. Where the block layer sends a flush it takes the flag from
 * the request, and waits for the end of the write itself. To read the bio's own flags costs ten
 * instructions more: the kernel guards what is behind a pointer that it has not checked.
 */
inline_always bool ladder_has_flush(const struct request *rq)
{
	return rq->end_io || rq->cmd_flags & told(flush_flags);
}

inline_always int ladder_setup(const __u64 *ctx)
{
	struct request *rq = (void *)ctx[0];
	struct nvme_command *cmd = (void *)ctx[1];
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);

	if (!rq || !cmd)
		return 0;
	if (!slot || ladder_has_flush(rq) || slot->state > IO_IGNORED ||
	    slot->queue != (__u64)rq->q || slot->op != cmd->opcode)
		return ladder_unusual_setup(argument(ctx, 0), argument(ctx, 1));
	slot->bytes = command_bytes(slot, rq, cmd, TYPED);
	slot->alloc_ns = rq->start_time_ns;
	slot->issued++;
	slot_opens(slot);
	slot->first_ns = bpf_ktime_get_ns();
	return 0;
}

inline_always int ladder_completion(const __u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	struct request *rq = (void *)ctx[0];
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);

	if (!rq)
		return 0;
	if (!slot || slot->state != IO_OPEN || nvme_status(told(nvme_status_at), rq, CAST))
		return ladder_unusual_completion(argument(ctx, 0), now);
	slot->last_ns = now;
	slot->state = IO_DONE;
	return 0;
}

/* ---- the request's end ---- */

inline_always void ladder_fill(struct io_ladder *to, const struct io_slot *slot,
			       const struct io_slot_stages *stages, const struct io_bio *bio)
{
	to->queued_ns = bio->queued_ns;
	to->got_ns = bio->got_ns;
	to->inserted_ns = stages->inserted_ns;
	to->issued_ns = stages->issued_ns;
	to->reaped_ns = stages->reaped_ns;
	to->bytes = slot->bytes;
	to->device = stages->device;
	__builtin_memcpy(&to->key_nr, &slot->key_nr, 8);
}

/* False: nothing was done. */
inline_always bool ladder_ends(const struct tables *t, struct io_slot *slot, const void *bio,
			       __u64 cpu, __u64 now)
{
	struct io_bio *its = bio_cell(t, bio);
	struct io_slot_stages *stages;
	struct io_ladders *ring;
	__u64 mask;
	void *next;
	struct io_ladder *cell;

	if (!its || its->busy != BIO_BUSY || slot->last_ns < slot->first_ns)
		return false;
	ring = cells_of(cpu, &mask);
	if (!ring || !cells_hold(ring, mask, &next))
		return false;
	cell = next;
	cell->first_ns = fresh(slot->first_ns); /* kept since the test they would cost more */
	cell->end_ns = fresh(slot->last_ns);
	cell->done_ns = now;
	stages = slot_stages(t, slot);
	ladder_fill(cell, slot, stages, its);
	cells_release(ring);
	stages_empty(stages);
	slot->completed++;
	slot->state = IO_IDLE;
	its->busy = BIO_ENDED;
	return true;
}

/*
 * The clock is read before the arguments: values known before a call must be kept across it. A
 * write with a flush around it ends twice: its data first, while the block layer still waits for
 * that end; then, with no byte left, the whole.
 */
inline_always int ladder_end(const __u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 cpu = bpf_get_smp_processor_id();
	struct request *rq = (void *)ctx[0];
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);
	struct bio *bio;
	__u32 left;

	if (!rq)
		return 0;
	bio = rq->bio;
	left = rq->__data_len;
	if (slot && slot_is_at_first(slot, IO_DONE) && left && (__u32)ctx[2] >= left && bio &&
	    bio == rq->biotail && !rq->end_io && ladder_ends(&t, slot, bio, cpu, now))
		return 0;
	return ladder_unusual_end(argument(ctx, 0), ctx[1], ctx[2], now);
}

#endif
