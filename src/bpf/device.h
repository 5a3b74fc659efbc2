/* SPDX-License-Identifier: GPL-2.0-only */
/* device.h: which disk or controller is it, and does -d select it? Learnt at its first command. */
#ifndef IOSONAR_BPF_DEVICE_H
#define IOSONAR_BPF_DEVICE_H

#include "bpf/table.h"

/* Filled at a device's first command: rare, so it may be slow. */
inline_always void device_learn(struct io_device *device, struct request *rq,
				struct request_queue *q, struct gendisk *disk, const bool nvme)
{
	__u64 words[IO_NAME_LEN / 8] = {};
	struct io_name *name;
	__u32 block_size = BPF_CORE_READ(q, limits.logical_block_size);
	bool has_disk;
	__u32 at;

	if (disk)
		bpf_core_read_str(words, sizeof(words),
				  &disk->disk_name); /* 5.10 leaves junk behind it */
	has_disk = disk || (nvme && queue_name(q, words, sizeof(words)));
	device->kind = !nvme ? IO_BLOCK : has_disk ? IO_NVME : IO_ADMIN;
	device->ctrl = nvme ? nvme_instance(rq, has_disk ? 0 : q) : -1;
	device->block_shift = hist_log2(block_size);
	__builtin_memcpy(device->name, words, sizeof(words));
	if (!has_disk)
		io_ctrl_name(words, device->ctrl);
	device->verdict = settings.follow_all ? IO_WANTED : IO_UNJUDGED;
	at = io_name_hash(words);
#pragma unroll
	for (__u32 i = 0; i < IO_PROBES; i++) {
		__u32 nr = (at + i) & (IO_MAX_NAMES - 1);

		name = bpf_map_lookup_elem(&io_names, &nr);
		if (!name)
			continue;
		if (((__u64 *)name->name)[0] != words[0] || ((__u64 *)name->name)[1] != words[1])
			continue;
		__builtin_memcpy(device->ranges, name->ranges, sizeof(device->ranges));
		device->verdict = name->verdict;
		break;
	}
}

inline_always __u32 device_home(__u64 queue, __u64 diskseq)
{
	return io_hash(low_half((void *)queue) + io_hash((__u32)diskseq)) >> 20;
}

/*
 * The device's number and cell; NULL: the table is full. Another disk may reuse a queue's address:
 * the disk's own number tells.
 */
inline_always struct io_device *device_of_disk(struct gendisk *disk, struct request *rq,
					       struct request_queue *q, const bool nvme,
					       __u32 *number)
{
	__u64 key = (__u64)q, diskseq = disk_seq(disk, PLAIN);
	__u32 home = device_home(key, diskseq), nr;
	struct io_device *device;

#pragma unroll
	for (__u32 i = 0; i < IO_PROBES; i++) {
		nr = (home + i) & (IO_MAX_DEVICES - 1);
		device = bpf_map_lookup_elem(&io_devices, &nr);
		if (!device)
			continue;
		*number = nr;
		if (device->key == key && device->diskseq == diskseq)
			return device;
		if (device->key || !cell_lock(LOCK_DEVICE, nr))
			continue;
		if (!fresh(device->key))
			goto empty;
		cell_unlock(LOCK_DEVICE, nr);
	}
	return 0;
empty:
	device_learn(device, rq, q, disk, nvme);
	device->diskseq = diskseq;
	fresh(device->key) = key;
	cell_unlock(LOCK_DEVICE, nr);
	return device;
}

inline_always struct io_device *device_find(struct request *rq, struct request_queue *q,
					    const bool nvme, __u32 *number)
{
	return device_of_disk(req_disk(rq, q, PLAIN), rq, q, nvme, number);
}

/*
 * The number of a disk that has requests and had a command; -1: unknown. A disk without requests of
 * its own (a volume, a multipath head) passes its bios on to others. The verifier checks it
 * separately: the disk is passed as a number.
 */
__attribute__((noinline)) int device_known(__u64 address)
{
	struct gendisk *disk = (void *)address;
	struct request_queue *q = BPF_CORE_READ(disk, queue);
	__u64 key = (__u64)q, diskseq = disk_seq(disk, PLAIN);
	__u32 home = device_home(key, diskseq);

	if (!q || !BPF_CORE_READ(q, mq_ops))
		return -1;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < IO_PROBES; i++) {
		__u32 nr = (home + i) & (IO_MAX_DEVICES - 1);
		struct io_device *device = bpf_map_lookup_elem(&io_devices, &nr);

		if (!device || !device->key)
			return -1;
		if (device->key == key && device->diskseq == diskseq)
			return nr;
	}
	return -1;
}

/* The number of the disk if it is in its first cell, where nearly all are; else -1. */
inline_always int device_at_home(struct gendisk *disk, const enum pointers pointers)
{
	struct request_queue *q = disk ? field_of(pointers, disk, queue) : 0;
	__u64 diskseq = disk_seq(disk, pointers);
	__u32 nr = device_home((__u64)q, diskseq) & (IO_MAX_DEVICES - 1);
	struct io_device *device = bpf_map_lookup_elem(&io_devices, &nr);

	return q && field_of(pointers, q, mq_ops) && device && device->key == (__u64)q &&
			       device->diskseq == diskseq
		       ? (int)nr
		       : -1;
}

/* Its disk is known, and -d does not select it. */
inline_always bool bio_is_unwanted(struct bio *bio, const enum pointers pointers)
{
	int known = pointers ? device_at_home(bio_disk(bio, pointers), pointers) : -1;
	__u32 nr = known < 0 ? device_known((__u64)bio_disk(bio, PLAIN)) : known;
	struct io_device *device = bpf_map_lookup_elem(&io_devices, &nr);

	return device && device->verdict == IO_UNWANTED;
}

inline_always bool device_covers(const struct io_device *device, __u64 sector)
{
	const struct io_range *r = device->ranges;

	_Static_assert(IO_MAX_RANGES == 4, "as many as there are");
	return !r[0].nr_sectors || sector - r[0].from_sector < r[0].nr_sectors ||
	       sector - r[1].from_sector < r[1].nr_sectors ||
	       sector - r[2].from_sector < r[2].nr_sectors ||
	       sector - r[3].from_sector < r[3].nr_sectors;
}

/* The device, if -d selects it. */
inline_always struct io_device *device_wanted(struct request *rq, struct request_queue *q,
					      const bool nvme, const enum pointers pointers,
					      __u32 *number)
{
	struct io_device *device = device_find(rq, q, nvme, number);

	if (!device) {
		count_up(counters.unknown_device);
		return 0;
	}
	if (device->verdict == IO_UNJUDGED)
		count_up(device->unjudged);
	if (device->verdict != IO_WANTED ||
	    (settings.filter_ctrl && device->ctrl != settings.wanted_ctrl))
		return 0;
	if (settings.filter_sectors && !device_covers(device, field_of(pointers, rq, __sector)))
		return 0;
	return device;
}

#endif
