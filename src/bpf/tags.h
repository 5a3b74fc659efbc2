/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tags.h: the way from a sysfs directory that this process has open to the requests that a driver
 * has. Every read of a kernel struct on that way is here. Nothing is locked: what one read finds
 * may be gone at the next, so code that uses an address checks it twice.
 */
#ifndef IOSONAR_BPF_TAGS_H
#define IOSONAR_BPF_TAGS_H

#include "bpf/request.h"
#include "wire/tag_walk.h"

/* Its only field is read as a whole. */
typedef struct {
	int counter;
} atomic_t;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kobject___dir {
	struct kernfs_node *sd;
};

/* `active` is negative once the node is removed. */
struct kernfs_node___dir {
	void *priv; /* of a directory: its kobject */
	atomic_t active;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct___files {
	struct files_struct *files;
};

struct device {
	struct kobject kobj;
	void *driver_data;
};

struct block_device___dir {
	struct device bd_device;
	struct gendisk *bd_disk;
};

/* Where the disk's directory was before 5.11 (0d02129e76ed). */
struct hd_struct {
	struct device __dev;
};

struct gendisk___part {
	struct hd_struct part0;
};

struct blk_mq_tags {
	unsigned int nr_tags;
	struct request **rqs;
	struct request **static_rqs;
};

struct blk_mq_tag_set {
	unsigned int nr_hw_queues;
	struct blk_mq_tags **tags;
};

struct request_queue___tags {
	unsigned int rq_timeout;
	struct blk_mq_tag_set *tag_set;
};

struct blk_mq_hw_ctx___dir {
	struct request_queue *queue;
	struct blk_mq_tags *sched_tags;
	struct kobject kobj;
};

struct request___tag {
	int tag;
	unsigned int timeout;
	unsigned long deadline;
	__u64 io_start_time_ns;
};

/* Wrapped in a struct refcount_t until 5.15 (0a467d0fdd95): a count either way. */
struct request___ref {
	atomic_t ref;
};

#pragma clang attribute pop

/* The kobject behind a directory of sysfs; NULL: it is gone, or not a sysfs directory. */
inline_always void *dir_kobject(__u64 fd)
{
	struct task_struct___files *task = (void *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct kernfs_node___dir *node;
	struct kobject___dir *kobject;
	struct file **files, *file = 0;
	int active = -1;

	if (fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), files + fd);
	node = BPF_CORE_READ(file, f_inode, i_private);
	kobject = BPF_CORE_READ(node, priv);
	bpf_core_read(&active, sizeof(active), &node->active);
	if (!kobject || active < 0)
		return 0;
	return (void *)BPF_CORE_READ(kobject, sd) == (void *)node ? kobject : 0;
}

inline_always struct gendisk *dir_disk(void *kobject)
{
	struct block_device___dir *bdev;

	if (!bpf_core_field_exists(struct block_device___dir, bd_device))
		return kobject - bpf_core_field_offset(struct gendisk___part, part0.__dev.kobj);
	bdev = kobject - bpf_core_field_offset(struct block_device___dir, bd_device.kobj);
	return BPF_CORE_READ(bdev, bd_disk);
}

inline_always struct blk_mq_hw_ctx___dir *dir_hw_queue(void *kobject)
{
	return kobject - bpf_core_field_offset(struct blk_mq_hw_ctx___dir, kobj);
}

/* A controller's class device has it as its driver's data. */
inline_always void *dir_nvme_ctrl(void *kobject)
{
	struct device *device = kobject - bpf_core_field_offset(struct device, kobj);

	return BPF_CORE_READ(device, driver_data);
}

#define queue_field(q, field) BPF_CORE_READ((struct request_queue___tags *)(q), field)

inline_always struct blk_mq_tags *set_tags(struct blk_mq_tag_set *set, __u64 queue)
{
	struct blk_mq_tags **all = BPF_CORE_READ(set, tags), *tags = 0;

	bpf_probe_read_kernel(&tags, sizeof(tags), all + queue);
	return tags;
}

inline_always struct request *request_at(struct request **requests, __u32 tag)
{
	struct request *rq = 0;

	bpf_probe_read_kernel(&rq, sizeof(rq), requests + tag);
	return rq;
}

/* 0: the request is free. */
inline_always int req_refs(struct request *rq)
{
	int refs = 0;

	bpf_core_read(&refs, sizeof(refs), &((struct request___ref *)rq)->ref);
	return refs;
}

#define req_field(rq, field) BPF_CORE_READ((struct request___tag *)(rq), field)

inline_always __u32 req_queue_number(struct request *rq)
{
	return BPF_CORE_READ(rq, mq_hctx, queue_num);
}

#endif
