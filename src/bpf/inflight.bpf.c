// SPDX-License-Identifier: GPL-2.0-only
/*
 * inflight.bpf.c: which commands does the driver have now? Attached to nothing: user space runs it,
 * for a directory of sysfs and a part of a hardware queue's tags at a time. It reads the kernel's
 * own table of requests by tag, so it sees commands sent before we came; a free tag costs two
 * reads. It cannot see who sent a command, nor what is below a driver without tags.
 */
#include "bpf/tags.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct inflight_settings known;
struct inflight_page page;

inline_always bool request_is_sent(struct request *rq, __u32 tag)
{
	return BPF_CORE_READ(rq, state) == MQ_RQ_IN_FLIGHT && req_field(rq, tag) == (__s32)tag;
}

/* It is in use, but not by the driver: user space finds out whether the driver had it before. */
inline_always bool request_waits(struct request *rq)
{
	return BPF_CORE_READ(rq, state) == MQ_RQ_IDLE && req_refs(rq) > 0;
}

inline_always bool request_is(struct request *rq, __u32 tag, bool waiting)
{
	return waiting ? request_waits(rq) : request_is_sent(rq, tag);
}

inline_always void entry_name(struct inflight_entry *e, struct request *rq, struct request_queue *q)
{
	struct gendisk *disk = req_disk(rq, q, PLAIN);

	e->disk[0] = 0;
	if (disk)
		bpf_core_read_str(e->disk, sizeof(e->disk), &disk->disk_name);
	else if (page.dir == INFLIGHT_NVME)
		queue_name(q, e->disk, sizeof(e->disk));
}

inline_always void entry_nvme(struct inflight_entry *e, struct request *rq)
{
	void *cmd = 0;

	e->has_sqe = e->nvme_flags = e->nvme_retries = 0;
	if (page.dir == INFLIGHT_DISK)
		return;
	if (known.nvme_flags_at)
		bpf_probe_read_kernel(&e->nvme_flags, 1, (void *)rq + known.nvme_flags_at);
	if (known.nvme_retries_at)
		bpf_probe_read_kernel(&e->nvme_retries, 1, (void *)rq + known.nvme_retries_at);
	if (!known.nvme_cmd_at)
		return;
	bpf_probe_read_kernel(&cmd, sizeof(cmd), (void *)rq + known.nvme_cmd_at);
	e->has_sqe = !bpf_probe_read_kernel(e->sqe, sizeof(e->sqe), cmd);
}

inline_always void entry_fill(struct inflight_entry *e, struct request *rq, struct request_queue *q)
{
	e->io_start_ns = req_field(rq, io_start_time_ns);
	e->sector = BPF_CORE_READ(rq, __sector);
	e->timeout = req_field(rq, timeout);
	e->bytes = BPF_CORE_READ(rq, __data_len);
	e->block_size = BPF_CORE_READ(q, limits.logical_block_size);
	e->cmd_flags = BPF_CORE_READ(rq, cmd_flags);
	e->queue = req_queue_number(rq);
	entry_name(e, rq, q);
	entry_nvme(e, rq);
}

/*
 * One request, if we look for it: checked before and after it is read, so that one that ended
 * meanwhile, or is another command by now, is left out. Not static: the verifier checks it once,
 * not at every iteration of the loop.
 */
__attribute__((noinline)) int request_look(__u64 address, __u32 tag, __u32 waiting)
{
	struct inflight_entry *e = &page.entries[page.nr_entries & (2 * INFLIGHT_CHUNK - 1)];
	struct request *rq = (void *)address;
	struct request_queue *q;

	if (!rq || !request_is(rq, tag, waiting))
		return 0;
	q = BPF_CORE_READ(rq, q);
	if ((__u64)queue_field(q, tag_set) != page.set)
		return 0;
	e->request = address;
	e->tag = tag;
	e->is_waiting = waiting;
	e->start_ns = BPF_CORE_READ(rq, start_time_ns);
	e->deadline = req_field(rq, deadline);
	entry_fill(e, rq, q);
	if (request_is(rq, tag, waiting) && BPF_CORE_READ(rq, start_time_ns) == e->start_ns &&
	    req_field(rq, deadline) == e->deadline)
		page.nr_entries++;
	return 0;
}

/* The requests the driver has, by its tags; then all requests, some of which may wait. */
inline_always void tags_look(struct request **rqs, struct request **static_rqs, __u32 first)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < INFLIGHT_CHUNK; i++) {
		__u32 tag = first + i;

		if (tag >= page.nr_tags)
			break;
		if (rqs)
			request_look((__u64)request_at(rqs, tag), tag, false);
		request_look((__u64)request_at(static_rqs, tag), tag, true);
	}
}

/* The controller must be the one that was named: its layout may be a guess. */
inline_always struct request_queue *ctrl_admin_queue(void *ctrl, __u64 instance)
{
	struct request_queue *q = 0;
	__s32 its = -1;

	if (!known.nvme_admin_q_at || !ctrl)
		return 0;
	bpf_probe_read_kernel(&its, sizeof(its), ctrl + known.nvme_instance_at);
	if (its != (__s32)instance)
		return 0;
	bpf_probe_read_kernel(&q, sizeof(q), ctrl + known.nvme_admin_q_at);
	return q;
}

inline_always void look(const struct inflight_ask *ask)
{
	void *kobject = dir_kobject(ask->fd);
	struct blk_mq_tag_set *set;
	struct blk_mq_tags *tags;
	struct request_queue *q;

	if (!kobject)
		return;
	if (ask->tags == INFLIGHT_SCHEDULER)
		q = BPF_CORE_READ(dir_hw_queue(kobject), queue);
	else if (ask->dir == INFLIGHT_CTRL)
		q = ctrl_admin_queue(dir_nvme_ctrl(kobject), ask->instance);
	else
		q = BPF_CORE_READ(dir_disk(kobject), queue);
	set = queue_field(q, tag_set);
	if (!set)
		return;
	page.step = INFLIGHT_NO_TAGS;
	page.set = (__u64)set;
	page.timeout = queue_field(q, rq_timeout);
	page.nr_queues = BPF_CORE_READ(set, nr_hw_queues);
	if (ask->tags == INFLIGHT_SCHEDULER)
		tags = BPF_CORE_READ(dir_hw_queue(kobject), sched_tags);
	else
		tags = ask->queue < page.nr_queues ? set_tags(set, ask->queue) : 0;
	if (!tags)
		return;
	page.step = INFLIGHT_LOOKED;
	page.tags = (__u64)tags;
	page.nr_tags = BPF_CORE_READ(tags, nr_tags);
	page.dir = ask->dir;
	/* The driver does not know a scheduler's tags. */
	tags_look(ask->tags == INFLIGHT_SCHEDULER ? 0 : BPF_CORE_READ(tags, rqs),
		  BPF_CORE_READ(tags, static_rqs), ask->first);
}

SEC("raw_tp")
int inflight_look(struct bpf_raw_tracepoint_args *ctx)
{
	const struct inflight_ask ask = {
		.fd = ctx->args[0],
		.dir = ctx->args[1],
		.tags = ctx->args[2],
		.queue = ctx->args[3],
		.first = ctx->args[4],
		.instance = ctx->args[5],
	};

	page.step = INFLIGHT_NO_QUEUE;
	page.nr_queues = page.nr_tags = page.nr_entries = 0;
	page.now_ns = bpf_ktime_get_ns();
	page.jiffies = bpf_jiffies64();
	look(&ask);
	return 0;
}
