// SPDX-License-Identifier: GPL-2.0-only
/*
 * async.bpf.c: where was a request of io_uring between its submission and its completion? Raw
 * tracepoints of io_uring open, mark and close its cell, which is known by the request's address.
 * Two programs around io_issue_sqe, for fentry or for kprobes, tell which thread works for which
 * request: so a bio finds its request. A command passed to a driver has no bio, but is known by its
 * address, too. Requests of libaio have no tracepoints, only functions. It cannot see when the
 * program reads the completion.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "bpf/async_request.h"
#include "bpf/cgroup.h"
#include "bpf/names.h"
#include "wire/async.h"

char LICENSE[] SEC("license") = "GPL";

/* ---- submission ---- */

/* flags: of the request. With SQPOLL a thread of the kernel submits; its process has the name. comm
 * is zeroes: kernels may keep the end of an earlier name behind a shorter one. */
inline_always void submitter_comm(void *comm, __u8 flags)
{
	struct task_struct___leader *task = (void *)bpf_get_current_task();

	if (flags & ASYNC_SQPOLL)
		BPF_CORE_READ_STR_INTO((char(*)[ASYNC_COMM_LEN])comm, task, group_leader, comm);
	else
		bpf_get_current_comm(comm, ASYNC_COMM_LEN);
}

inline_always bool task_is_wanted(__u8 flags)
{
	__u64 comm[ASYNC_COMM_LEN / 8] = { 0 };
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	if (pid == async.self || (async.filter_pid && pid != async.filter_pid))
		return false;
	if (async.filter_comm[0]) {
		submitter_comm(comm, flags);
		if (comm[0] != async.filter_comm[0] || comm[1] != async.filter_comm[1])
			return false;
	}
	return !async.filter_cgroup ||
	       cgroup_ancestor(async.filter_cgroup_level) == async.filter_cgroup;
}

inline_always __u64 user_data_of(struct io_kiocb *request)
{
	struct io_kiocb___plain *plain = (void *)request;

	return bpf_core_field_exists(plain->user_data) ? BPF_CORE_READ(plain, user_data)
						       : BPF_CORE_READ(request, cqe.user_data);
}

inline_always __u8 ring_flags(struct io_kiocb *request)
{
	unsigned int flags = BPF_CORE_READ(request, ctx, flags);

	return (flags & ASYNC_SETUP_IOPOLL ? ASYNC_POLLED : 0) |
	       (flags & ASYNC_SETUP_SQPOLL ? ASYNC_SQPOLL : 0);
}

/* Which of several a completion is of is not known: the earlier one is not followed any more. */
inline_always void name_again(struct async_named *named)
{
	__u64 address = named->request;

	count_up(named->nr);
	named->request = 0;
	if (address && !bpf_map_delete_elem(&async_requests, &address))
		count(twins);
}

/* False: it is not followed, and counted. */
inline_always bool name_request(struct io_kiocb *request, __u64 user_data)
{
	struct async_name name = { .user_data = user_data };
	struct async_named new = { (__u64)request, 1 }, *named;

	if (!async.complete_is_named)
		return true;
	name.ring = (__u64)BPF_CORE_READ(request, ctx);
	if (!bpf_map_update_elem(&async_names, &name, &new, BPF_NOEXIST))
		return true;
	named = bpf_map_lookup_elem(&async_names, &name);
	if (!named) {
		count(no_room);
		return false;
	}
	name_again(named);
	count(twins);
	return false;
}

inline_always void fill_task(struct async_record *r)
{
	__u64 task = bpf_get_current_pid_tgid();

	r->pid = task >> 32;
	r->tid = (__u32)task;
	r->cgroup = bpf_get_current_cgroup_id();
	submitter_comm(r->comm, r->flags);
}

inline_always void fill_request(struct async_record *r, struct io_kiocb *request)
{
	fill_task(r);
	r->opcode = BPF_CORE_READ(request, opcode);
	r->user_data = user_data_of(request);
	if (is_command(r->opcode) && !commands_anywhere)
		commands_anywhere = 1;
}

inline_always void request_put(__u64 address, const struct async_record *r)
{
	if (!bpf_map_update_elem(&async_requests, &address, r, BPF_NOEXIST))
		return;
	if (!bpf_map_update_elem(&async_requests, &address, r, BPF_EXIST))
		count(unclosed); /* of the request that was here before */
	else
		count(no_room);
}

inline_always void request_submitted(struct io_kiocb *request)
{
	struct async_record r = { .submit_ns = bpf_ktime_get_ns() };
	unsigned int flags = 0;

	r.flags = ring_flags(request);
	if (!task_is_wanted(r.flags))
		return;
	count(submitted);
	bpf_core_read(&flags, sizeof(flags), &request->flags);
	if (flags & ASYNC_SKIP_SUCCESS) {
		count(silent);
		return;
	}
	fill_request(&r, request);
	if (name_request(request, r.user_data))
		request_put((__u64)request, &r);
}

SEC("raw_tp/io_uring_submit_sqe")
int async_submit_sqe(struct bpf_raw_tracepoint_args *ctx)
{
	request_submitted((void *)argument(ctx, async.submit_at));
	return 0;
}

SEC("raw_tp/io_uring_submit_req")
int async_submit_req(struct bpf_raw_tracepoint_args *ctx)
{
	request_submitted((void *)argument(ctx, async.submit_at));
	return 0;
}

/* ---- on the way ---- */

SEC("raw_tp/io_uring_queue_async_work")
int async_punt(struct bpf_raw_tracepoint_args *ctx)
{
	struct async_record *r = request_of(argument(ctx, async.punt_at));

	if (!r)
		return 0;
	r->worker_ns = 0;
	r->flags |= ASYNC_PUNTED;
	r->punt_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("raw_tp/io_uring_link")
int async_link(struct bpf_raw_tracepoint_args *ctx)
{
	struct async_record *r = request_of(argument(ctx, async.link_at));

	if (r)
		r->flags |= ASYNC_LINKED;
	return 0;
}

SEC("raw_tp/io_uring_defer")
int async_defer(struct bpf_raw_tracepoint_args *ctx)
{
	struct async_record *r = request_of(argument(ctx, async.defer_at));

	if (r)
		r->flags |= ASYNC_LINKED;
	return 0;
}

/* From now on this thread works for the request. */
inline_always void issue_note(const struct async_whose *w)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	if (!bpf_map_update_elem(&async_issues, &tid, w, BPF_NOEXIST))
		count_up(issues_anywhere);
	/* Or the end of an earlier one was not seen. */
	else if (bpf_map_update_elem(&async_issues, &tid, w, BPF_EXIST))
		count(no_issue);
}

inline_always void issue_begins(__u64 request)
{
	struct async_record *r = request_of(request);
	struct async_whose w = { .request = request };

	if (!r)
		return;
	r->issue_ns = bpf_ktime_get_ns();
	if (!r->start_ns)
		r->start_ns = r->issue_ns;
	if (r->punt_ns && !r->worker_ns)
		r->worker_ns = r->issue_ns;
	w.submit_ns = r->submit_ns;
	issue_note(&w);
}

/* is_refused: there will be no completion. */
inline_always void issue_ends(bool is_refused)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct async_whose *w;
	struct async_record *r;

	if (!issues_anywhere)
		return;
	w = bpf_map_lookup_elem(&async_issues, &tid);
	if (!w)
		return;
	r = whose(w);
	if (r)
		r->return_ns = bpf_ktime_get_ns();
	if (r && is_refused) {
		__u64 address = w->request;

		count(refused);
		bpf_map_delete_elem(&async_requests, &address);
	}
	if (!bpf_map_delete_elem(&async_issues, &tid))
		add_to(issues_anywhere, -1);
}

SEC("fentry/io_issue_sqe")
int async_issue(__u64 *ctx)
{
	issue_begins(ctx[0]);
	return 0;
}

SEC("fexit/io_issue_sqe")
int async_issue_end(void *ctx)
{
	issue_ends(false);
	return 0;
}

SEC("kprobe")
int async_issue_k(struct pt_regs *ctx)
{
	issue_begins(PT_REGS_PARM1(ctx));
	return 0;
}

SEC("kretprobe")
int async_issue_k_end(void *ctx)
{
	issue_ends(false);
	return 0;
}

/* ---- libaio ---- */

inline_always void aio_begins(__u64 request, __u8 opcode)
{
	struct async_record r = { .submit_ns = bpf_ktime_get_ns(), .opcode = opcode };
	struct async_whose w = { .request = request, .submit_ns = r.submit_ns };

	if (!task_is_wanted(0))
		return;
	count(submitted);
	fill_task(&r);
	r.start_ns = r.issue_ns = r.submit_ns;
	r.user_data = BPF_CORE_READ((struct aio_kiocb *)request, ki_res.data);
	request_put(request, &r);
	issue_note(&w);
}

#define AIO(function, name, opcode)                                    \
	SEC("fentry/" #function) int name(__u64 *ctx)                  \
	{                                                              \
		aio_begins(ctx[0], opcode);                            \
		return 0;                                              \
	}                                                              \
	SEC("fexit/" #function) int name##_end(__u64 *ctx)             \
	{                                                              \
		issue_ends((__u32)ctx[4]); /* behind four arguments */ \
		return 0;                                              \
	}                                                              \
	SEC("kprobe") int name##_k(struct pt_regs *ctx)                \
	{                                                              \
		aio_begins(PT_REGS_PARM1(ctx), opcode);                \
		return 0;                                              \
	}                                                              \
	SEC("kretprobe") int name##_k_end(struct pt_regs *ctx)         \
	{                                                              \
		issue_ends((__u32)PT_REGS_RC(ctx));                    \
		return 0;                                              \
	}

AIO(aio_read, async_aio_read, ASYNC_AIO_READ)
AIO(aio_write, async_aio_write, ASYNC_AIO_WRITE)

/* ---- bios ---- */

inline_always void bio_follow(__u64 bio, const struct async_whose *w)
{
	struct async_record *r = whose(w);

	if (!r)
		return;
	if (!bpf_map_update_elem(&async_bios, &bio, w, BPF_NOEXIST)) {
		count_up(bios_anywhere);
		/* Or an earlier bio at this address ended unseen. */
	} else if (bpf_map_update_elem(&async_bios, &bio, w, BPF_EXIST)) {
		count(no_bio);
		return;
	}
	if (!r->queued_ns)
		r->queued_ns = bpf_ktime_get_ns();
	count_up(r->bios);
}

inline_always void bio_ended(__u64 bio)
{
	struct async_whose *at = bpf_map_lookup_elem(&async_bios, &bio), w;
	struct async_record *r;

	if (!at)
		return;
	w = *at;
	if (bpf_map_delete_elem(&async_bios, &bio))
		return;
	add_to(bios_anywhere, -1);
	r = whose(&w);
	if (!r)
		return;
	r->ended_ns = bpf_ktime_get_ns();
	count_up(r->ended);
}

SEC("raw_tp/block_bio_queue")
int async_bio(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct async_whose *at, w;

	if (!issues_anywhere)
		return 0;
	at = bpf_map_lookup_elem(&async_issues, &tid);
	if (!at)
		return 0;
	w = *at;
	bio_follow(argument(ctx, async.bio_is_second ? ASYNC_SECOND : ASYNC_FIRST), &w);
	return 0;
}

/* The front part is a new bio, the rest remains in the old one. */
SEC("raw_tp/block_split")
int async_split(struct bpf_raw_tracepoint_args *ctx)
{
	struct async_whose *at, w;
	struct bio *front;
	__u64 whole;

	if (!bios_anywhere)
		return 0;
	front = (void *)argument(ctx, async.bio_is_second ? ASYNC_SECOND : ASYNC_FIRST);
	whole = (__u64)BPF_CORE_READ(front, bi_private);
	at = bpf_map_lookup_elem(&async_bios, &whole);
	if (!at)
		return 0;
	w = *at;
	bio_follow((__u64)front, &w);
	return 0;
}

inline_always void bios_ended(struct request *rq)
{
	struct bio *bio = BPF_CORE_READ(rq, bio);

#pragma clang loop unroll(disable)
	for (int i = 0; i < ASYNC_MERGED && bio; i++) {
		__u64 at = (__u64)bio;

		bio = BPF_CORE_READ(bio, bi_next);
		bio_ended(at);
	}
}

/* Of devices without requests (device mapper). */
SEC("raw_tp/block_bio_complete")
int async_bio_end(struct bpf_raw_tracepoint_args *ctx)
{
	if (bios_anywhere)
		bio_ended(ctx->args[1]);
	return 0;
}

/* ---- commands that are passed to a driver: no bio is queued ---- */

/* Such a request of the block layer has the command in end_io_data, since 5.19 (456cba386e94). */
inline_always struct async_record *command_of(struct request *rq)
{
	__u64 command = (__u64)BPF_CORE_READ((struct request___command *)rq, end_io_data);
	struct async_record *r;

	if (!command)
		return 0;
	r = request_of(command - bpf_core_field_offset(struct io_kiocb, file));
	return r && is_command(r->opcode) ? r : 0;
}

/* Issued again, after the device was busy, it is under way since the first time. */
SEC("raw_tp/block_rq_issue")
int async_rq_issue(struct bpf_raw_tracepoint_args *ctx)
{
	struct async_record *r;

	if (!commands_anywhere)
		return 0;
	r = command_of((void *)ctx->args[0]);
	if (!r || r->queued_ns)
		return 0;
	r->queued_ns = bpf_ktime_get_ns();
	r->bios = 1;
	return 0;
}

inline_always void command_ended(struct request *rq)
{
	struct async_record *r = command_of(rq);

	if (!r || !r->queued_ns)
		return;
	r->ended_ns = bpf_ktime_get_ns();
	r->ended = 1;
}

/* ---- requests of the block layer ---- */

SEC("raw_tp/block_rq_complete")
int async_rq_end(struct bpf_raw_tracepoint_args *ctx)
{
	struct request *rq = (void *)ctx->args[0];

	if (!bios_anywhere && !commands_anywhere)
		return 0;
	if ((__u32)ctx->args[2] < BPF_CORE_READ(rq, __data_len))
		return 0; /* of a part of a request the rest follows */
	if (bios_anywhere)
		bios_ended(rq);
	if (commands_anywhere)
		command_ended(rq);
	return 0;
}

/* ---- completion ---- */

inline_always void record_file(struct async_record *r, struct file *file)
{
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : 0;
	__u16 kind = inode ? BPF_CORE_READ(inode, i_mode) & S_IFMT : 0;
	struct file_seen seen = { .address = (__u64)inode };
	__u32 cpu = bpf_get_smp_processor_id();
	struct async_counters *c;

	if (kind == S_IFBLK) {
		r->inode = FILE_METADATA;
		r->dev = BPF_CORE_READ(inode, i_rdev);
		return;
	}
	if (kind != ASYNC_S_IFREG && kind != ASYNC_S_IFDIR)
		return;
	r->inode = seen.inode = BPF_CORE_READ(inode, i_ino);
	r->dev = seen.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	seen.generation = inode_generation(inode);
	c = bpf_map_lookup_elem(&async_counts, &cpu);
	if (c)
		r->nth = file_find_nth(&async_files, &seen, &c->no_file);
}

inline_always void record_send(struct async_record *r, struct file *file)
{
	record_file(r, file);
	if (async.filter_file && (r->dev != async.filter_dev || r->inode != async.filter_inode)) {
		count(elsewhere);
		return;
	}
	if (r->post_ns - r->submit_ns < async.min_ns) {
		count(shorter);
		return;
	}
	if (bpf_ringbuf_output(&async_records, r, sizeof(*r), BPF_RB_NO_WAKEUP))
		count(lost);
	else
		count(sent);
}

inline_always void record_end(struct async_record *r, __u64 address, struct file *file)
{
	r->post_ns = bpf_ktime_get_ns();
	count(ended);
	record_send(r, file);
	bpf_map_delete_elem(&async_requests, &address);
}

inline_always void request_completed(struct io_kiocb *request)
{
	struct async_record *r = request_of((__u64)request);

	if (r)
		record_end(r, (__u64)request, BPF_CORE_READ(request, file));
}

/* Only where the event does not have the request. */
inline_always void named_completed(const struct bpf_raw_tracepoint_args *ctx)
{
	struct async_name name = { ctx->args[0], ctx->args[1] };
	struct async_named *named;
	__u64 request;

	if ((__u32)ctx->args[3] & ASYNC_CQE_MORE)
		return;
	named = bpf_map_lookup_elem(&async_names, &name);
	if (!named)
		return;
	request = named->request;
	add_to(named->nr, -1);
	if (!named->nr)
		bpf_map_delete_elem(&async_names, &name);
	if (request)
		request_completed((void *)request);
}

SEC("raw_tp/io_uring_complete")
int async_complete(struct bpf_raw_tracepoint_args *ctx)
{
	if (async.complete_is_named)
		named_completed(ctx);
	else
		request_completed((void *)ctx->args[1]);
	return 0;
}

inline_always void aio_completed(struct kiocb *request)
{
	struct async_record *r = request_of((__u64)request);

	if (r)
		record_end(r, (__u64)request, BPF_CORE_READ(request, ki_filp));
}

SEC("fentry/aio_complete")
int async_aio_complete(__u64 *ctx)
{
	aio_completed((void *)ctx[0]);
	return 0;
}

SEC("kprobe")
int async_aio_complete_k(struct pt_regs *ctx)
{
	aio_completed((void *)PT_REGS_PARM1(ctx));
	return 0;
}
