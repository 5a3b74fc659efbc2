/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * disk.h: which disk does a request or a bio go to, and does it have requests? These need no
 * settings, so programs of every object use them. `pointers` is as in request.h.
 */
#ifndef IOSONAR_BPF_DISK_H
#define IOSONAR_BPF_DISK_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include "bpf/cell.h"
#include "bpf/kernel.h"

/* NULL for an admin queue. */
inline_always struct gendisk *req_disk(struct request *rq, struct request_queue *q,
				       const enum pointers pointers)
{
	if (bpf_core_field_exists(struct request_queue, disk)) {
		return field_of(pointers, q, disk);
	} else {
		struct request___rq_disk *old = (void *)rq;

		return field_of(pointers, old, rq_disk);
	}
}

inline_always struct gendisk *bio_disk(struct bio *bio, const enum pointers pointers)
{
	struct bio___disk *old = (void *)bio;

	if (!bpf_core_field_exists(struct bio, bi_bdev))
		return BPF_CORE_READ(old, bi_disk);
	return pointers ? bio->bi_bdev->bd_disk : BPF_CORE_READ(bio, bi_bdev, bd_disk);
}

/* Every NVMe disk is called nvme…, the hidden legs of a multipath head too. */
inline_always bool disk_is_nvme(struct gendisk *disk, const enum pointers pointers)
{
	__u32 four;

	if (pointers)
		four = *(__u32 *)disk->disk_name;
	else
		bpf_core_read(&four, sizeof(four), &disk->disk_name);
	return four == bpf_htonl(0x6e766d65);
}

/* Its bios become requests: here, or at a path of a multipath head, which itself has no
 * requests. */
inline_always bool disk_has_requests(struct gendisk *disk)
{
	return disk_is_nvme(disk, PLAIN) || BPF_CORE_READ(disk, queue, mq_ops);
}

#endif
