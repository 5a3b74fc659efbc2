/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * request_end.h: the end of any request and of its bios, where stages, owners or bios are wanted:
 * life.h ends its command; what its bios noted goes into the record, and their cells are freed.
 */
#ifndef IOSONAR_BPF_REQUEST_END_H
#define IOSONAR_BPF_REQUEST_END_H

#include "bpf/flush.h"
#include "bpf/life.h"
#include "bpf/slow.h"
#include "bpf/volume.h"

/* ---- with stages: the end of any request, and of its bios ---- */

/*
 * Bios merged into a request that ends, from the second on: unless bios are wanted, their cells are
 * only freed. Not static: the verifier checks each function once, not at every iteration of the
 * loop and for all that callers may know.
 */
__attribute__((noinline)) int bio_forget(__u64 bio)
{
	__u32 zero = 0;
	void *bios = bpf_map_lookup_elem(&io_bios, &zero);
	const struct tables t = tables_of(0, bios, 0);
	struct io_bio *cell = bios ? bio_find(&t, (void *)bio) : 0;

	if (!cell)
		return 0;
	if (cell->busy == BIO_WAITED)
		bio_forgets_wait(bio);
	cell->busy = BIO_ENDED;
	return 0;
}

__attribute__((noinline)) int bios_forget(__u64 bio)
{
	int nr = 0;

#pragma clang loop unroll(disable)
	for (; nr < BIO_MOST_MERGED && bio; nr++) {
		bio_forget(bio);
		bio = (__u64)BPF_CORE_READ((struct bio *)bio, bi_next);
	}
	return nr;
}

/* Known once its queue had a command that was wanted. */
inline_always bool is_nvme(struct request *rq, const struct io_slot *slot)
{
	struct gendisk *disk;

	if (slot && slot->state >= IO_OPEN)
		return slot->kind != IO_BLOCK;
	disk = req_disk(rq, BPF_CORE_READ(rq, q), PLAIN);
	return !disk || disk_is_nvme(disk, PLAIN);
}

/*
 * The data are written; a flush follows, then the request's second end. False: we do not wait for
 * the end of this command.
 */
inline_always bool request_was_written(const struct tables *t, struct io_slot *slot, __u32 error,
				       __u64 now)
{
	if (!slot)
		return false;
	if (slot->state == IO_OPEN && slot->kind == IO_BLOCK) {
		struct outcome o = { .end_ns = now, .status = block_status(error) };

		command_is_done(t, slot, &o);
	}
	if (slot->state != IO_DONE && slot->state != IO_FAILED)
		return false;
	slot_stages(t, slot)->written_ns = now;
	return true;
}

/* An NVMe command that is parked now was not tried again. */
inline_always int request_complete(const struct tables *t, struct request *rq, __u32 error,
				   __u32 nr_bytes, __u64 now, const enum pointers pointers)
{
	struct bio *bio = field_of(pointers, rq, bio);
	struct bio *next = bio ? field_of(pointers, bio, bi_next) : 0;
	__u32 left = field_of(pointers, rq, __data_len);
	__u32 bio_flags = bio ? field_of(pointers, bio, bi_opf) : 0;
	struct outcome o = { .nr_bios = bio != 0 };
	struct io_bio *first = 0;
	struct io_slot *slot;

	if (nr_bytes < left) /* a part; the rest will follow */
		return 0;
	if (left && request_flushes_after(rq, bio_flags) && bio_find(t, bio) &&
	    request_was_written(t, slot_find(t, rq), error, now))
		return 0;
	if (!bio)
		device_note_flush(rq, now);
	if (!settings.bios && next) {
		__u64 address = 0; /* a number, as the function takes it */

		bpf_core_read(&address, sizeof(address), &bio->bi_next);
		o.nr_bios += bios_forget(address);
	}
	if (!settings.bios && bio)
		o.bio = first = bio_find(t, bio);
	slot = slot_find(t, rq);
	if (slot &&
	    (slot->state == IO_DONE || slot->state == IO_FAILED || slot->state == IO_PARKED)) {
		o.done_ns = now;
		if (slot->kind == IO_BLOCK && error) { /* the flush after it failed */
			slot_more(t, slot)->status = block_status(error);
			slot->state = IO_FAILED;
		}
		command_was_done(t, slot, &o);
	} else if (!is_nvme(rq, slot)) {
		o.end_ns = now;
		o.status = block_status(error);
		block_ends(t, rq, slot, nr_bytes, &o, pointers, STAGES);
	}
	if (slot)
		stages_empty(slot_stages(t, slot));
	if (!first)
		return 0;
	if (first->busy == BIO_WAITED) /* it may have no record */
		bio_forgets_wait(first->key);
	first->busy = BIO_ENDED;
	return 0;
}

/* With owners, without stages: frees the cells of the bios of a request that ends. */
inline_always int request_bios_forget(struct request *rq, __u32 nr_bytes)
{
	if (nr_bytes >= BPF_CORE_READ(rq, __data_len))
		bios_forget((__u64)BPF_CORE_READ(rq, bio));
	return 0;
}

/* ---- with bios: each bio, not each command ---- */

/* For a bio that no command carried; a command's bios were judged at its setup. */
inline_always bool bio_wanted(const struct io_bio *bio)
{
	return op_wanted(IO_BLOCK << 8 | bio->op) && owner_wanted(bio);
}

/* The slot of a request that ends, and the outcome of its command; NULL: none that we count. */
inline_always struct io_slot *slot_of_ending(const struct tables *t, __u64 rq, __u64 now,
					     struct outcome *o)
{
	struct io_slot *slot = rq ? slot_find(t, (void *)rq) : 0;

	if (!slot || slot->state <= IO_IGNORED)
		return 0;
	if (slot->kind != IO_BLOCK || slot->state == IO_DONE || slot->state == IO_FAILED) {
		o->end_ns = slot->last_ns;
		o->status = slot->state == IO_DONE ? 0 : slot_more(t, slot)->status;
		o->done_ns = now;
	}
	return slot;
}

/*
 * One bio ended, with the request rq or (0) without. For a bio that no command carried, device is
 * its device; -1: of no interest. Not static: the verifier checks it once, not again for each bio
 * of a request.
 */
__attribute__((noinline)) int bio_ends(__u64 rq, __u64 bio, __u64 now, __u32 status, __s32 device)
{
	struct outcome o = { .end_ns = now, .status = status, .what = RECORD_BIO, .nr_bios = 1 };
	__u32 zero = 0;
	void *slots = bpf_map_lookup_elem(&io_slots, &zero);
	void *bios = bpf_map_lookup_elem(&io_bios, &zero);
	const struct tables t = tables_of(slots, bios, 0);
	struct io_slot *slot;
	struct io_bio *cell;

	if (!slots || !bios)
		return 0;
	cell = bio_find(&t, (void *)bio);
	if (!cell)
		return 0;
	if (cell->is_part && cell->busy == BIO_WAITED)
		bio_forgets_wait(bio);
	cell = bio_whole_ended(&t, cell, &o.waited);
	if (!cell)
		return 0;
	if (settings.dm_end)
		o.result = volume_bio_back(&t, cell, now);
	o.bio = cell;
	slot = slot_of_ending(&t, rq, now, &o);
	if ((!slot && (device < 0 || !bio_wanted(cell))) ||
	    now - cell->queued_ns < settings.min_ns || (settings.only_failed && !o.status))
		return o.waited ? bio_forgets_wait(cell->key) : 0;
	if (settings.slowest && !is_slow(now - cell->queued_ns) &&
	    !(o.result && may_be_slow(now - o.result))) /* needed if the bio above is slow */
		return o.waited ? bio_forgets_wait(cell->key) : 0;
	if (slot)
		record_send(&t, slot, &o, STAGES);
	else
		record_of_bio(&t, cell, device, &o);
	return 0;
}

/* Runs before the program that ends the command: its slot holds all that a record needs. */
inline_always int request_bios_end(struct request *rq, __u32 error, __u32 nr_bytes)
{
	__u64 now = bpf_ktime_get_ns();
	struct bio *bio = BPF_CORE_READ(rq, bio);
	__s32 device = flushed_device(rq, nr_bytes);
	__u32 left = BPF_CORE_READ(rq, __data_len);

	if (nr_bytes < left ||
	    (left && bio && request_flushes_after(rq, BPF_CORE_READ(bio, bi_opf))))
		return 0;
#pragma clang loop unroll(disable)
	for (int i = 0; i < BIO_MOST_MERGED && bio; i++) {
		bio_ends((__u64)rq, (__u64)bio, now, block_status(error), device);
		bio = BPF_CORE_READ(bio, bi_next);
	}
	return 0;
}

/*
 * The event names the queue of a multipath head: the bio, by now that of a path, ends with its
 * request, and with the others in it.
 */
inline_always bool is_of_head(const struct request_queue *q, struct bio *bio)
{
	struct gendisk *disk = bio_disk(bio, PLAIN);

	return disk && BPF_CORE_READ(disk, queue) != q;
}

/* A bio of a device that has no requests, or that was refused before it got one. */
inline_always int bio_ended(const struct request_queue *q, struct bio *bio)
{
	__u64 now = bpf_ktime_get_ns();
	struct gendisk *disk = bio_disk(bio, PLAIN);
	const bool nvme = false; /* NVMe has requests, so its bios end with them */
	struct io_device *device;
	__u32 number = 0;

	if (is_of_head(q, bio))
		return 0;
	device = disk ? device_of_disk(disk, 0, BPF_CORE_READ(disk, queue), nvme, &number) : 0;
	return bio_ends(0, (__u64)bio, now, block_status(BPF_CORE_READ(bio, bi_status)),
			device && device->verdict == IO_WANTED ? (__s32)number : -1);
}

inline_always int bio_forgotten(const struct request_queue *q, struct bio *bio)
{
	const struct tables t = the_tables();
	struct io_bio *cell = bio_find(&t, bio);

	if (!cell || is_of_head(q, bio))
		return 0;
	if (cell->busy == BIO_WAITED)
		bio_forgets_wait(cell->key);
	cell->busy = BIO_ENDED;
	return 0;
}

#endif
