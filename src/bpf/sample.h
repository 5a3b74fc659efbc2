/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample.h: which commands are timed, where --budget lets us time only some? One in 2^N of the
 * reads and of the writes of a queue; user space chooses N. The others are counted when they end:
 * they have no slot, and no clock is read for them.
 */
#ifndef IOSONAR_BPF_SAMPLE_H
#define IOSONAR_BPF_SAMPLE_H

#include "bpf/slot.h"

/* NULL: all commands of this queue are timed. */
inline_always struct io_sampled *sampled_of(struct request_queue *q)
{
	struct io_sampled *sampled =
		table_address(IO_TABLE_SAMPLED) + io_sampled_home(low_half(q)) * sizeof(*sampled);

	return sampled->queue == (__u64)q ? sampled : 0;
}

/* 0: a read, 1: a write; more: always timed. */
inline_always __u32 sample_way(struct request *rq, const enum pointers pointers)
{
	return field_of(pointers, rq, cmd_flags) & 0xff;
}

/* False: the command is counted when it ends. */
inline_always bool sample_starts(struct request *rq, struct request_queue *q,
				 const enum pointers pointers)
{
	struct io_sampled *sampled = sampled_of(q);
	__u32 way = sample_way(rq, pointers);

	if (!sampled || way > 1)
		return true;
	return io_sample_takes(field_of(pointers, rq, start_time_ns), low_half(rq),
			       sampled->ways[way].start_limit);
}

/* Did the start of this command choose to time it? Only asked where the end would. */
inline_always bool sample_started(const struct tables *t, struct request *rq, __u64 alloc_ns,
				  const struct io_sampled_way *way)
{
	const struct io_slot *slot;

	if (way->start_limit == way->end_limit && alloc_ns >= way->since_ns)
		return true;
	slot = slot_find(t, rq);
	if (slot && slot->state > IO_IGNORED)
		return true;
	return alloc_ns >= way->since_ns &&
	       io_sample_takes(alloc_ns, low_half(rq), way->start_limit);
}

/* The cell of a command that is not timed; NULL: it is timed. */
inline_always struct io_sampled *sample_untimed(const struct tables *t, struct request *rq,
						struct request_queue *q,
						const enum pointers pointers)
{
	struct io_sampled *sampled = sampled_of(q);
	__u32 way = sample_way(rq, pointers);
	__u64 alloc_ns;

	if (!sampled || way > 1)
		return 0;
	alloc_ns = field_of(pointers, rq, start_time_ns);
	if (io_sample_takes(alloc_ns, low_half(rq), sampled->ways[way].end_limit) &&
	    sample_started(t, rq, alloc_ns, &sampled->ways[way]))
		return 0;
	return sampled;
}

inline_always void sample_count(const struct io_sampled *sampled, struct request *rq, __u32 count,
				__u32 bytes, const enum pointers pointers)
{
	__u32 cell = bpf_get_smp_processor_id() * IO_MAX_SAMPLED + sampled->nr;
	struct io_untimed *untimed = table_address(IO_TABLE_SAMPLED) +
				     IO_SAMPLED * sizeof(struct io_sampled) +
				     (cell * sizeof(*untimed) & told(untimed_mask));
	__u32 way = sample_way(rq, pointers) & 1;

	add_to(untimed->count[way], count);
	add_to(untimed->bytes[way], bytes);
}

#endif
