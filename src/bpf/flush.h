/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * flush.h: flushes around a write, which the block layer sends by itself: when did the flush before
 * it end, does one follow, and which completions end only a flush?
 */
#ifndef IOSONAR_BPF_FLUSH_H
#define IOSONAR_BPF_FLUSH_H

#include "bpf/sink.h"

/*
 * A write with PREFLUSH waits for a flush of the device before it is sent. A write with FUA, on a
 * device without FUA, waits for a flush after it: its request ends twice, its bio with the second
 * end. The block layer removes the flags that it handles from the request; the bio keeps them.
 */
inline_always bool request_flushes_after(struct request *rq, __u32 bio_flags)
{
	return bio_flags & settings.fua_flag && !(BPF_CORE_READ(rq, cmd_flags) & settings.fua_flag);
}

/* At setup or issue. */
inline_always void stages_note_flush(const struct tables *t, struct io_slot *slot,
				     struct request *rq, const enum pointers pointers)
{
	struct bio *bio = field_of(pointers, rq, bio);
	struct io_slot_stages *s = slot_stages(t, slot);
	struct io_device *device;
	__u32 nr;

	if (!bio || !(field_of(pointers, bio, bi_opf) & settings.preflush_flag) ||
	    !bio_find(t, bio))
		return;
	nr = s->device & (IO_MAX_DEVICES - 1);
	device = bpf_map_lookup_elem(&io_devices, &nr);
	if (device)
		s->flushed_ns = device->flushed_ns;
}

/* A flush of its own ended: writes that waited for it go on. */
inline_always void device_note_flush(struct request *rq, __u64 now)
{
	struct gendisk *disk = req_disk(rq, BPF_CORE_READ(rq, q), PLAIN);
	struct io_device *device;
	__u32 nr;

	if (!disk || (BPF_CORE_READ(rq, cmd_flags) & 0xff) != REQ_OP_FLUSH)
		return;
	nr = device_known((__u64)disk);
	device = bpf_map_lookup_elem(&io_devices, &nr);
	if (device)
		device->flushed_ns = now;
}

/*
 * Two completions end nothing: that of a request that waited while another one flushed for it (it
 * was never started), and the second one of a write that came after its flush. That write is still
 * in flight by its state if the driver ends requests without blk_mq_complete_request (null_blk's
 * timers).
 */
inline_always bool completes_a_flush(struct request *rq, __u32 nr_bytes,
				     const enum pointers pointers)
{
	if (field_of(pointers, rq, state) == MQ_RQ_IDLE)
		return true;
	return !nr_bytes && !field_of(pointers, rq, __data_len) &&
	       (field_of(pointers, rq, cmd_flags) & 0xff) == REQ_OP_WRITE && BPF_CORE_READ(rq, bio);
}

/* For a request that waited while another one flushed for it: its device, if that is wanted. */
inline_always __s32 flushed_device(struct request *rq, __u32 nr_bytes)
{
	struct request_queue *q = BPF_CORE_READ(rq, q);
	struct gendisk *disk = req_disk(rq, q, PLAIN);
	struct io_device *device;
	__u32 number = 0;

	if (!disk || !completes_a_flush(rq, nr_bytes, PLAIN))
		return -1;
	device = device_of_disk(disk, rq, q, disk_is_nvme(disk, PLAIN), &number);
	return device && device->verdict == IO_WANTED ? (__s32)number : -1;
}

#endif
