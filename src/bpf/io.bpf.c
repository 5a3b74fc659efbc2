// SPDX-License-Identifier: GPL-2.0-only
/*
 * io.bpf.c: how long does every command take? Two short programs per I/O: setup (or issue) opens a
 * slot found by the request's address, completion closes it and counts in a row of this CPU.
 * Requeue and error events are rare and only steer the slot's state. It cannot see bio-based
 * devices, nor the time before the command is built. Each event is here twice: for pointers that
 * the verifier knows and for plain ones.
 */
#include "bpf/file.h"
#include "bpf/ladder.h"
#include "bpf/trouble.h"

char LICENSE[] SEC("license") = "GPL";

SEC("tp_btf/nvme_setup_cmd")
int BPF_PROG(io_nvme_setup, struct request *rq, struct nvme_command *cmd)
{
	return rq && cmd ? nvme_setup(MY_TABLES, rq, cmd, TYPED, LEAN) : 0;
}

SEC("raw_tp/nvme_setup_cmd")
int io_nvme_setup_r(struct bpf_raw_tracepoint_args *ctx)
{
	return nvme_setup(MY_TABLES, (void *)ctx->args[0], (void *)ctx->args[1], PLAIN, LEAN);
}

SEC("tp_btf/nvme_complete_rq")
int BPF_PROG(io_nvme_end, struct request *rq)
{
	return rq ? nvme_complete(MY_TABLES, rq, bpf_ktime_get_ns(), TYPED) : 0;
}

/* Kernels with bpf_rdonly_cast read the status at a hundredth of the helper's instructions. */
SEC("tp_btf/nvme_complete_rq")
int BPF_PROG(io_nvme_end_c, struct request *rq)
{
	return rq ? nvme_complete(MY_TABLES, rq, bpf_ktime_get_ns(), CAST) : 0;
}

SEC("raw_tp/nvme_complete_rq")
int io_nvme_end_r(struct bpf_raw_tracepoint_args *ctx)
{
	return nvme_complete(MY_TABLES, (void *)ctx->args[0], bpf_ktime_get_ns(), PLAIN);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(io_block_issue, struct request *rq)
{
	return rq ? block_issue(MY_TABLES, rq, TYPED, LEAN) : 0;
}

/* Else an offset would be reckoned, and the verifier takes none on a context. */
#define loaded(value) asm volatile("" : "+r"(value))

/* block_rq_* lost their queue argument in 5.11 (a54895fa057c) and in 5.10.137. */
inline_always struct request *request_argument(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 address = ctx->args[0];

	loaded(address);
	if (told(queue_argument))
		address = ctx->args[1];
	return (void *)address;
}

SEC("raw_tp/block_rq_issue")
int io_block_issue_r(struct bpf_raw_tracepoint_args *ctx)
{
	return block_issue(MY_TABLES, request_argument(ctx), PLAIN, LEAN);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(io_block_end, struct request *rq, __u32 error, __u32 nr_bytes)
{
	return rq ? block_complete(rq, error, nr_bytes, TYPED) : 0;
}

SEC("raw_tp/block_rq_complete")
int io_block_end_r(struct bpf_raw_tracepoint_args *ctx)
{
	return block_complete((void *)ctx->args[0], ctx->args[1], ctx->args[2], PLAIN);
}

/* ---- stages: attached only where a view wants them; those that read no field have plain pointers
 * only ---- */

SEC("tp_btf/nvme_setup_cmd")
int BPF_PROG(io_nvme_setup_s, struct request *rq, struct nvme_command *cmd)
{
	return rq && cmd ? nvme_setup(MY_TABLES, rq, cmd, TYPED, RICH) : 0;
}

SEC("raw_tp/nvme_setup_cmd")
int io_nvme_setup_sr(struct bpf_raw_tracepoint_args *ctx)
{
	return nvme_setup(MY_TABLES, (void *)ctx->args[0], (void *)ctx->args[1], PLAIN, RICH);
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(io_block_issue_s, struct request *rq)
{
	return rq ? block_issue(MY_TABLES, rq, TYPED, RICH) : 0;
}

SEC("raw_tp/block_rq_issue")
int io_block_issue_sr(struct bpf_raw_tracepoint_args *ctx)
{
	return block_issue(MY_TABLES, request_argument(ctx), PLAIN, RICH);
}

/* Times alone: */
SEC("tp_btf/nvme_setup_cmd")
int io_ladder_setup(__u64 *ctx)
{
	return ladder_setup(ctx);
}

SEC("tp_btf/nvme_complete_rq")
int io_ladder_done_c(__u64 *ctx)
{
	return ladder_completion(ctx);
}

SEC("tp_btf/block_rq_complete")
int io_ladder_end(__u64 *ctx)
{
	return ladder_end(ctx);
}

/* Events of bios had the queue as their first argument before 5.11 (e8a676d61c07). */
inline_always struct bio *bio_argument(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 address = ctx->args[0];

	loaded(address);
	if (told(bio_queue_argument))
		address = ctx->args[1];
	return (void *)address;
}

SEC("tp_btf/block_bio_queue")
int BPF_PROG(io_bio_queue, struct bio *bio)
{
	return bio ? bio_queued(ctx, bio, TYPED) : 0;
}

SEC("raw_tp/block_bio_queue")
int io_bio_queue_r(struct bpf_raw_tracepoint_args *ctx)
{
	return bio_queued(ctx, bio_argument(ctx), PLAIN);
}

/* Attached after those. */
SEC("raw_tp/block_bio_queue")
int io_bio_file(struct bpf_raw_tracepoint_args *ctx)
{
	return bio_file(bio_argument(ctx));
}

SEC("raw_tp/block_bio_queue")
int io_bio_volume(struct bpf_raw_tracepoint_args *ctx)
{
	return bio_from_volume(bio_argument(ctx));
}

SEC("raw_tp/block_getrq")
int io_bio_getrq(struct bpf_raw_tracepoint_args *ctx)
{
	return bio_got_request(bio_argument(ctx));
}

SEC("raw_tp/block_split")
int io_bio_split(struct bpf_raw_tracepoint_args *ctx)
{
	return bio_was_split(bio_argument(ctx));
}

SEC("raw_tp/block_bio_complete")
int io_bio_forget(struct bpf_raw_tracepoint_args *ctx)
{
	return bio_forgotten((void *)ctx->args[0], (void *)ctx->args[1]);
}

SEC("raw_tp/block_rq_insert")
int io_insert(struct bpf_raw_tracepoint_args *ctx)
{
	return request_inserted(request_argument(ctx));
}

SEC("raw_tp/block_rq_issue")
int io_nvme_issue(struct bpf_raw_tracepoint_args *ctx)
{
	return nvme_issued(request_argument(ctx));
}

/* Attached after the program that makes the command's slot. */
SEC("raw_tp/nvme_setup_cmd")
int io_nvme_submit(struct bpf_raw_tracepoint_args *ctx)
{
	return nvme_submitted(ctx, (void *)ctx->args[0]);
}

SEC("raw_tp/nvme_sq")
int io_nvme_reap(struct bpf_raw_tracepoint_args *ctx)
{
	return nvme_reaped((void *)ctx->args[0]);
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(io_request_end, struct request *rq, __u32 error, __u32 nr_bytes)
{
	return rq ? request_complete(MY_TABLES, rq, error, nr_bytes, bpf_ktime_get_ns(), TYPED) : 0;
}

SEC("raw_tp/block_rq_complete")
int io_request_end_r(struct bpf_raw_tracepoint_args *ctx)
{
	return request_complete(MY_TABLES, (void *)ctx->args[0], ctx->args[1], ctx->args[2],
				bpf_ktime_get_ns(), PLAIN);
}

/* Only with owners, where nothing else ends bios. */
SEC("raw_tp/block_rq_complete")
int io_bios_forget(struct bpf_raw_tracepoint_args *ctx)
{
	return request_bios_forget((void *)ctx->args[0], ctx->args[2]);
}

/* Only with bios, these two; the first is attached before the programs that end the command. */
SEC("raw_tp/block_rq_complete")
int io_bios_end(struct bpf_raw_tracepoint_args *ctx)
{
	return request_bios_end((void *)ctx->args[0], ctx->args[1], ctx->args[2]);
}

SEC("raw_tp/block_bio_complete")
int io_bio_ended(struct bpf_raw_tracepoint_args *ctx)
{
	return bio_ended((void *)ctx->args[0], (void *)ctx->args[1]);
}

/* Rare from here on: plain pointers will do. */

SEC("raw_tp/block_rq_requeue")
int io_requeue(struct bpf_raw_tracepoint_args *ctx)
{
	struct request *rq = request_argument(ctx);
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);

	if (!slot)
		return 0;
	if (slot->state == IO_PARKED) {
		attempt_failed(&t, slot);
		slot->state = IO_RETRY;
	} else if (slot->state == IO_OPEN) {
		/* The device had answered, or it was busy and never saw it. */
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
SEC("raw_tp/nvme_complete_rq")
int io_nvme_cancelled(struct bpf_raw_tracepoint_args *ctx)
{
	return command_cancelled((void *)ctx->args[0]);
}

SEC("raw_tp/nvme_async_event")
int io_nvme_async(struct bpf_raw_tracepoint_args *ctx)
{
	return controller_event(EVENT_ASYNC, (void *)ctx->args[0], ctx->args[1]);
}

/* An NVMe command ended with an error: one that was parked is settled, one still open never left.
 */
inline_always int nvme_error(struct request *rq)
{
	const struct tables t = the_tables();
	struct io_slot *slot = slot_find(&t, rq);
	struct gendisk *disk;

	if (!slot || slot->state <= IO_IGNORED)
		return 0;
	if (slot->state == IO_DONE || slot->state == IO_FAILED) /* its request's end will end it */
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

SEC("raw_tp/block_rq_error")
int io_error(struct bpf_raw_tracepoint_args *ctx)
{
	return nvme_error((void *)ctx->args[0]);
}

/* Kernels before 5.18 have no block_rq_error. */
SEC("raw_tp/block_rq_complete")
int io_error_old(struct bpf_raw_tracepoint_args *ctx)
{
	return ctx->args[1] ? nvme_error((void *)ctx->args[0]) : 0;
}
