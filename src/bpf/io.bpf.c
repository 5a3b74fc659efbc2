// SPDX-License-Identifier: GPL-2.0-only
/*
 * io.bpf.c: how long does every command take? Two short programs per I/O: setup (or issue) opens a
 * slot found by the request's address, completion closes it and counts in a row of this CPU.
 * Requeue and error events are rare and only change the slot's state. It cannot see bio-based
 * devices, nor the time before the command is built. Each event has two programs: for pointers that
 * the verifier knows and for plain ones.
 */
#include <linux/ptrace.h>
#include "bpf/cost.h"
#include "bpf/file.h"
#include "bpf/ladder.h"
#include "bpf/trouble.h"

char LICENSE[] SEC("license") = "GPL";

/* A program for pointers that the verifier knows, and one for plain ones, by its return value. */
#define TYPED_PROGRAM(event, signature, ...) \
	SEC("tp_btf/" #event) int signature  \
	{                                    \
		return __VA_ARGS__;          \
	}
#define PLAIN_PROGRAM(event, name, ...)                                     \
	SEC("raw_tp/" #event) int name(struct bpf_raw_tracepoint_args *ctx) \
	{                                                                   \
		return __VA_ARGS__;                                         \
	}
#define FIRST  ((void *)ctx->args[0])
#define SECOND ((void *)ctx->args[1])

/*
 * block_rq_* lost their first argument, the queue, in 5.11 (a54895fa057c) and in 5.10.137, events
 * of bios in 5.11 (e8a676d61c07). Without `loaded` the compiler adds an offset to the context,
 * which the verifier does not allow.
 */
#define loaded(value) asm volatile("" : "+r"(value))
#define argument_after_queue(ctx, is_there)        \
	({                                         \
		__u64 address_ = (ctx)->args[0];   \
		loaded(address_);                  \
		if (told(is_there))                \
			address_ = (ctx)->args[1]; \
		(void *)address_;                  \
	})
#define REQUEST argument_after_queue(ctx, queue_argument)
#define BIO	argument_after_queue(ctx, bio_queue_argument)

TYPED_PROGRAM(nvme_setup_cmd, BPF_PROG(io_nvme_setup, struct request *rq, struct nvme_command *cmd),
	      (rq && cmd) ? nvme_setup(MY_TABLES, rq, cmd, TYPED, LEAN) : 0)
PLAIN_PROGRAM(nvme_setup_cmd, io_nvme_setup_r,
	      measured_plain(COST_OF_START,
			     told(sampled) ? (int)nvme_setup_some(MY_TABLES, FIRST, SECOND, PLAIN)
					   : nvme_setup(MY_TABLES, FIRST, SECOND, PLAIN, LEAN)))
TYPED_PROGRAM(nvme_complete_rq, BPF_PROG(io_nvme_end, struct request *rq),
	      rq ? nvme_complete(MY_TABLES, rq, bpf_ktime_get_ns(), TYPED) : 0)
/* Kernels with bpf_rdonly_cast read the status at a hundredth of the helper's instructions. */
TYPED_PROGRAM(nvme_complete_rq, BPF_PROG(io_nvme_end_c, struct request *rq),
	      rq ? nvme_complete(MY_TABLES_AND_CELLS, rq, bpf_ktime_get_ns(), CAST) : 0)
PLAIN_PROGRAM(nvme_complete_rq, io_nvme_end_r,
	      measured_plain(COST_OF_END,
			     told(sampled)
				     ? (int)nvme_complete_some(MY_TABLES, FIRST, PLAIN)
				     : nvme_complete(MY_TABLES, FIRST, bpf_ktime_get_ns(), PLAIN)))
TYPED_PROGRAM(block_rq_issue, BPF_PROG(io_block_issue, struct request *rq),
	      rq ? block_issue(MY_TABLES, rq, TYPED, LEAN) : 0)
PLAIN_PROGRAM(block_rq_issue, io_block_issue_r,
	      measured_plain(COST_OF_START,
			     told(sampled) ? (int)block_issue_some(MY_TABLES, REQUEST, PLAIN)
					   : block_issue(MY_TABLES, REQUEST, PLAIN, LEAN)))
TYPED_PROGRAM(block_rq_complete,
	      BPF_PROG(io_block_end, struct request *rq, __u32 error, __u32 nr_bytes),
	      rq ? block_complete(rq, error, nr_bytes, TYPED) : 0)
PLAIN_PROGRAM(block_rq_complete, io_block_end_r,
	      measured_plain(COST_OF_END,
			     told(sampled)
				     ? (int)block_complete_some(FIRST, ctx->args[1], ctx->args[2],
								PLAIN)
				     : block_complete(FIRST, ctx->args[1], ctx->args[2], PLAIN)))

/* ---- the same for typed pointers, which measure themselves ---- */

/* Reads the clock first: that reading is not measured, and stands for the one of the measure. */
inline_always int nvme_ended(const struct tables *t, struct request *rq,
			     const enum pointers pointers)
{
	__u64 now = bpf_ktime_get_ns(), from;

	if (!cost_is_chosen(now))
		return nvme_complete(t, rq, now, pointers);
	from = bpf_ktime_get_ns();
	nvme_complete(t, rq, now, pointers);
	cost_add(COST_OF_END, from, from);
	return 0;
}

TYPED_PROGRAM(nvme_setup_cmd,
	      BPF_PROG(io_nvme_setup_m, struct request *rq, struct nvme_command *cmd),
	      (rq && cmd) ? measured(COST_OF_START, rq->start_time_ns,
				     nvme_setup(MY_TABLES, rq, cmd, TYPED, LEAN))
			  : 0)
TYPED_PROGRAM(nvme_complete_rq, BPF_PROG(io_nvme_end_m, struct request *rq),
	      rq ? nvme_ended(MY_TABLES, rq, TYPED) : 0)
TYPED_PROGRAM(nvme_complete_rq, BPF_PROG(io_nvme_end_cm, struct request *rq),
	      rq ? nvme_ended(MY_TABLES_AND_CELLS, rq, CAST) : 0)
TYPED_PROGRAM(block_rq_issue, BPF_PROG(io_block_issue_m, struct request *rq),
	      rq ? measured(COST_OF_START, rq->start_time_ns,
			    block_issue(MY_TABLES, rq, TYPED, LEAN))
		 : 0)
TYPED_PROGRAM(block_rq_complete,
	      BPF_PROG(io_block_end_m, struct request *rq, __u32 error, __u32 nr_bytes),
	      rq ? measured(COST_OF_END, rq->start_time_ns,
			    block_complete(rq, error, nr_bytes, TYPED))
		 : 0)

/* ---- the same, where only some commands are timed ---- */

TYPED_PROGRAM(nvme_setup_cmd,
	      BPF_PROG(io_nvme_setup_b, struct request *rq, struct nvme_command *cmd),
	      (rq && cmd) ? measured(COST_OF_START, rq->start_time_ns,
				     nvme_setup_some(MY_TABLES, rq, cmd, TYPED))
			  : 0)
TYPED_PROGRAM(nvme_complete_rq, BPF_PROG(io_nvme_end_b, struct request *rq),
	      rq ? measured(COST_OF_END, rq->start_time_ns,
			    nvme_complete_some(MY_TABLES, rq, TYPED))
		 : 0)
TYPED_PROGRAM(nvme_complete_rq, BPF_PROG(io_nvme_end_cb, struct request *rq),
	      rq ? measured(COST_OF_END, rq->start_time_ns, nvme_complete_some(MY_TABLES, rq, CAST))
		 : 0)
TYPED_PROGRAM(block_rq_issue, BPF_PROG(io_block_issue_b, struct request *rq),
	      rq ? measured(COST_OF_START, rq->start_time_ns,
			    block_issue_some(MY_TABLES, rq, TYPED))
		 : 0)
TYPED_PROGRAM(block_rq_complete,
	      BPF_PROG(io_block_end_b, struct request *rq, __u32 error, __u32 nr_bytes),
	      rq ? measured(COST_OF_END, rq->start_time_ns,
			    block_complete_some(rq, error, nr_bytes, TYPED))
		 : 0)

/* ---- stages: attached only where a view wants them; those that read no field have plain pointers
 * only ---- */

TYPED_PROGRAM(nvme_setup_cmd,
	      BPF_PROG(io_nvme_setup_s, struct request *rq, struct nvme_command *cmd),
	      (rq && cmd) ? nvme_setup_rich(ctx, MY_TABLES, rq, cmd, TYPED) : 0)
PLAIN_PROGRAM(nvme_setup_cmd, io_nvme_setup_sr,
	      nvme_setup_rich(ctx, MY_TABLES, FIRST, SECOND, PLAIN))
TYPED_PROGRAM(block_rq_issue, BPF_PROG(io_block_issue_s, struct request *rq),
	      rq ? block_issue(MY_TABLES, rq, TYPED, RICH) : 0)
PLAIN_PROGRAM(block_rq_issue, io_block_issue_sr, block_issue(MY_TABLES, REQUEST, PLAIN, RICH))

/* Times alone, on kernels whose events have no queue: */
PLAIN_PROGRAM(block_bio_queue, io_ladder_queue, ladder_queued(FIRST))
TYPED_PROGRAM(nvme_setup_cmd, io_ladder_setup(__u64 *ctx), ladder_setup(ctx))
TYPED_PROGRAM(nvme_complete_rq, io_ladder_done_c(__u64 *ctx), ladder_completion(ctx))
TYPED_PROGRAM(block_rq_complete, io_ladder_end(__u64 *ctx), ladder_end(ctx))

TYPED_PROGRAM(block_bio_queue, BPF_PROG(io_bio_queue, struct bio *bio),
	      bio ? bio_queued(ctx, bio, TYPED) : 0)
PLAIN_PROGRAM(block_bio_queue, io_bio_queue_r, bio_queued(ctx, BIO, PLAIN))
/* Attached after those. */
PLAIN_PROGRAM(block_bio_queue, io_bio_file, bio_file(BIO))
PLAIN_PROGRAM(block_bio_queue, io_bio_volume, bio_from_volume(BIO))
PLAIN_PROGRAM(block_getrq, io_bio_getrq, bio_got_request(BIO, NO_WAITS))
PLAIN_PROGRAM(block_getrq, io_bio_getrq_w, bio_got_request(BIO, WAITS))
PLAIN_PROGRAM(block_split, io_bio_split, bio_was_split(BIO))
PLAIN_PROGRAM(block_bio_complete, io_bio_forget, bio_forgotten(FIRST, SECOND))
PLAIN_PROGRAM(block_rq_insert, io_insert, request_inserted(REQUEST))
PLAIN_PROGRAM(block_rq_issue, io_nvme_issue, nvme_issued(REQUEST))
PLAIN_PROGRAM(nvme_sq, io_nvme_reap, nvme_reaped(FIRST))
TYPED_PROGRAM(block_rq_complete,
	      BPF_PROG(io_request_end, struct request *rq, __u32 error, __u32 nr_bytes),
	      rq ? request_complete(MY_TABLES, rq, error, nr_bytes, bpf_ktime_get_ns(), TYPED) : 0)
PLAIN_PROGRAM(block_rq_complete, io_request_end_r,
	      request_complete(MY_TABLES, FIRST, ctx->args[1], ctx->args[2], bpf_ktime_get_ns(),
			       PLAIN))
/* Only with owners, where nothing else ends bios. */
PLAIN_PROGRAM(block_rq_complete, io_bios_forget, request_bios_forget(FIRST, ctx->args[2]))
/* These two only with bios; the first is attached before the programs that end the command. */
PLAIN_PROGRAM(block_rq_complete, io_bios_end, request_bios_end(FIRST, ctx->args[1], ctx->args[2]))
PLAIN_PROGRAM(block_bio_complete, io_bio_ended, bio_ended(FIRST, SECOND))

/* ---- waits before the request: functions that run only if an I/O waits ---- */

#define WAIT_PROGRAM(name, ...)                     \
	SEC("kprobe") int name(struct pt_regs *ctx) \
	{                                           \
		return __VA_ARGS__;                 \
	}

/* A queue of tasks in a bitmap of tags: it has eight (SBQ_WAIT_QUEUES). */
inline_always bool is_queue_of_tags(__u64 head, struct wait_queue_entry *entry)
{
	struct sbq_wait *wait = (void *)entry - bpf_core_field_offset(struct sbq_wait, wait);
	__u64 queues = (__u64)BPF_CORE_READ(wait, sbq, ws);

	return queues && head - queues < 8 * bpf_core_type_size(struct sbq_wait_state);
}

/*
 * A task goes to sleep until others wake it one by one: in rq_qos_wait, for writeback throttling or
 * for io.latency, which differ in what it calls; in blk_mq_get_tag; in other places of the kernel.
 */
inline_always int task_goes_to_sleep(__u64 head, struct wait_queue_entry *entry)
{
	struct rq_qos_wait_data *data;
	__u64 asks;

	if ((__u64)BPF_CORE_READ(entry, func) != settings.qos_wake)
		return !settings.tag_event && is_queue_of_tags(head, entry)
			       ? task_begins_wait(IO_WAIT_TAG)
			       : 0;
	data = (void *)entry - bpf_core_field_offset(struct rq_qos_wait_data, wq);
	asks = (__u64)BPF_CORE_READ(data, cb);
	return task_begins_wait(settings.iolatency_asks && asks == settings.iolatency_asks
					? IO_WAIT_IOLATENCY
					: IO_WAIT_WBT);
}

inline_always int iocost_ends_wait(void *entry)
{
	struct iocg_wait *wait = entry - bpf_core_field_offset(struct iocg_wait, wait);

	return bio_begins_wait((__u64)BPF_CORE_READ(wait, bio), IO_WAIT_IOCOST);
}

WAIT_PROGRAM(io_wait_held, bio_is_held(PT_REGS_PARM1(ctx)))
WAIT_PROGRAM(io_wait_frozen, bio_begins_wait(PT_REGS_PARM2(ctx), IO_WAIT_FROZEN))
WAIT_PROGRAM(io_wait_iocost, iocost_ends_wait((void *)PT_REGS_PARM1(ctx)))
WAIT_PROGRAM(io_wait_sleep, task_goes_to_sleep(PT_REGS_PARM1(ctx), (void *)PT_REGS_PARM2(ctx)))
/* Where the kernel has the event. */
PLAIN_PROGRAM(block_rq_tag_wait, io_wait_tag, task_begins_wait(IO_WAIT_TAG))

/* Rare events from here on: plain pointers suffice. */

SEC("raw_tp/block_rq_requeue")
int io_requeue(struct bpf_raw_tracepoint_args *ctx)
{
	struct request *rq = REQUEST;
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);

	if (!slot)
		return 0;
	if (slot->state == IO_PARKED) {
		attempt_failed(&t, slot);
		slot->state = IO_RETRY;
	} else if (slot->state == IO_OPEN) {
		/* The device had answered, or it was busy and never saw the command. */
		if (BPF_CORE_READ(rq, state) == MQ_RQ_COMPLETE) {
			attempt_repeated(&t, slot);
			slot->state = IO_RETRY;
		} else {
			count_up(counters.requeues);
			if (settings.troubles)
				slot->flags |= RECORD_TROUBLED;
			slot->state = IO_REQUEUED;
		}
	}
	return 0;
}

/* Attached before the programs that end the command, where troubles are wanted. */
PLAIN_PROGRAM(nvme_complete_rq, io_nvme_cancelled, command_cancelled(FIRST))
PLAIN_PROGRAM(nvme_async_event, io_nvme_async, controller_event(EVENT_ASYNC, FIRST, ctx->args[1]))

/* An NVMe command ended with an error: a parked one is settled, an open one never left. */
inline_always int nvme_error(struct request *rq)
{
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);
	struct gendisk *disk;

	if (!slot || slot->state <= IO_IGNORED)
		return 0;
	if (slot->state == IO_DONE || slot->state == IO_FAILED) /* the end of its request ends it */
		return 0;
	disk = req_disk(rq, BPF_CORE_READ(rq, q), PLAIN);
	if (!disk || !disk_is_nvme(disk, PLAIN))
		return 0;
	if (slot->state == IO_PARKED) {
		command_fails(&t, slot, slot->last_ns, settings.stages);
	} else if (slot->attempts > 1 || slot->state == IO_RETRY) {
		command_fails(&t, slot, bpf_ktime_get_ns(), settings.stages);
	} else {
		count_up(counters.never_sent);
		if (settings.depths)
			depth_change(&t, slot, -1);
		slot->state = IO_IDLE;
	}
	return 0;
}

PLAIN_PROGRAM(block_rq_error, io_error, nvme_error(FIRST))
/* Kernels before 5.18 have no block_rq_error. */
PLAIN_PROGRAM(block_rq_complete, io_error_old, ctx->args[1] ? nvme_error(FIRST) : 0)
