/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait_command.h: which commands did the bios of a watched call become? Only with --slow. A bio is
 * noted when it is queued; its note gets the time of the issue and is sent when the request ends.
 * Requests of other threads cost a look-up per bio while a noted bio is in flight.
 */
#ifndef IOSONAR_BPF_WAIT_COMMAND_H
#define IOSONAR_BPF_WAIT_COMMAND_H

#include "bpf/disk.h"
#include "bpf/wait_task.h"

enum { WAIT_MERGED = 256 }; /* bios of one request: the kernel merges as many as it has segments */

struct wait_bio {
	__u64 start_ns;		   /* of the call */
	__u64 queued_ns, issue_ns; /* of a write that is followed by a flush: its end */
	__u32 tid;
	__u32 is_sent; /* such a write has ended, the flush has not */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WAIT_BIOS);
	__type(key, __u64);
	__type(value, struct wait_bio);
} wait_bios SEC(".maps");

__u32 bios_anywhere = 0; /* how many entries the table has */

/* By request: a flush in flight. By queue: the last one that ended. */
struct wait_flush {
	__u64 issue_ns, end_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WAIT_FLUSHES);
	__type(key, __u64);
	__type(value, struct wait_flush);
} wait_flushes SEC(".maps");

inline_always void bio_put(__u64 bio, const struct wait_bio *note)
{
	if (!bpf_map_update_elem(&wait_bios, &bio, note, BPF_NOEXIST))
		count_up(bios_anywhere);
	/* Or an earlier bio at this address ended without a request. */
	else if (bpf_map_update_elem(&wait_bios, &bio, note, BPF_EXIST))
		count(lost_commands);
}

/* start_ns: of the call of this thread. */
inline_always void bio_follow(__u64 bio, __u32 tid, __u64 start_ns)
{
	struct wait_bio note = { .start_ns = start_ns, .tid = tid };
	struct gendisk *disk = bio_disk((struct bio *)bio, PLAIN);

	if (!disk || !disk_has_requests(disk))
		return;
	note.queued_ns = bpf_ktime_get_ns();
	bio_put(bio, &note);
}

/* The front part is a new bio, the rest remains in the old one. */
inline_always void bio_follow_part(struct bio *front)
{
	__u64 whole = (__u64)BPF_CORE_READ(front, bi_private);
	const struct wait_bio *of_whole = bpf_map_lookup_elem(&wait_bios, &whole);
	struct wait_bio note;

	if (!of_whole)
		return;
	note = *of_whole;
	bio_put((__u64)front, &note);
}

inline_always void bio_forget(__u64 bio)
{
	if (!bpf_map_delete_elem(&wait_bios, &bio))
		add_to(bios_anywhere, -1);
}

/* ---- events ---- */

/* The queue came first before 5.11 (e8a676d61c07, a54895fa057c). Without the asm the compiler adds
 * an offset to the context, which the verifier does not allow. */
inline_always __u64 argument_of(const struct bpf_raw_tracepoint_args *ctx, bool is_second)
{
	__u64 first = ctx->args[0];

	asm volatile("" : "+r"(first));
	return is_second ? ctx->args[1] : first;
}

inline_always __u64 bio_of(const struct bpf_raw_tracepoint_args *ctx)
{
	return argument_of(ctx, settings.bio_is_second);
}

inline_always __u64 request_of(const struct bpf_raw_tracepoint_args *ctx)
{
	return argument_of(ctx, settings.request_is_second);
}

/* ---- commands ---- */

/* Not inlined: the compiler would take the offset of a field that the kernel may lack out of the
 * loop, and the verifier refuses it there. */
static __noinline void command_send(struct request *rq, const struct wait_bio *note,
				    const struct wait_flush *times, __u8 op, __u32 bytes)
{
	struct gendisk *disk = req_disk(rq, BPF_CORE_READ(rq, q), PLAIN);
	struct wait_command *c = bpf_ringbuf_reserve(&wait_records, sizeof(*c), 0);

	if (!c) {
		count(lost_commands);
		return;
	}
	c->start_ns = note->start_ns;
	c->issue_ns = times->issue_ns;
	c->end_ns = times->end_ns;
	c->sector = op == REQ_OP_FLUSH ? 0 : BPF_CORE_READ(rq, __sector);
	c->bytes = bytes;
	c->tid = note->tid;
	c->op = op;
	__builtin_memset(c->pad, 0, sizeof(c->pad));
	__builtin_memset(c->disk, 0, sizeof(c->disk));
	bpf_core_read_str(c->disk, sizeof(c->disk), &disk->disk_name);
	bpf_ringbuf_submit(c, BPF_RB_NO_WAKEUP);
}

/* The block layer flushes before some writes, with a request that has no bio. */
inline_always void flush_issued(struct request *rq)
{
	struct wait_flush flush = { .issue_ns = bpf_ktime_get_ns() };
	__u64 at = (__u64)rq;

	if ((BPF_CORE_READ(rq, cmd_flags) & 0xff) == REQ_OP_FLUSH &&
	    bpf_map_update_elem(&wait_flushes, &at, &flush, BPF_ANY))
		count(lost_commands);
}

inline_always void flush_completed(struct request *rq)
{
	__u64 at = (__u64)rq, queue = (__u64)BPF_CORE_READ(rq, q);
	const struct wait_flush *flush = bpf_map_lookup_elem(&wait_flushes, &at);
	struct wait_flush ended;

	if (!flush)
		return;
	ended.issue_ns = flush->issue_ns;
	ended.end_ns = bpf_ktime_get_ns();
	bpf_map_delete_elem(&wait_flushes, &at);
	if (bpf_map_update_elem(&wait_flushes, &queue, &ended, BPF_ANY))
		count(lost_commands);
}

/* The flush that this bio had to wait for. */
inline_always void flush_send(struct request *rq, const struct wait_bio *note)
{
	__u64 queue = (__u64)BPF_CORE_READ(rq, q);
	const struct wait_flush *flush = bpf_map_lookup_elem(&wait_flushes, &queue);

	if (flush && flush->end_ns >= note->queued_ns)
		command_send(rq, note, flush, REQ_OP_FLUSH, 0);
}

/* A function of its own: the verifier reads it once, not for every bio, which takes 40 ms less. */
__attribute__((noinline)) int bio_issued(__u64 request, __u64 at, __u64 now)
{
	struct wait_bio *note = bpf_map_lookup_elem(&wait_bios, &at);
	struct request *rq = (void *)request;
	struct bio *bio = (void *)at;

	if (!note)
		return 0;
	if (!note->issue_ns && BPF_CORE_READ(bio, bi_opf) & settings.preflush_flag)
		flush_send(rq, note);
	note->issue_ns = now;
	return 0;
}

inline_always void command_issued(struct request *rq)
{
	struct bio *bio = BPF_CORE_READ(rq, bio);
	__u64 now = bpf_ktime_get_ns();

	if (!bio) {
		flush_issued(rq);
		return;
	}
#pragma clang loop unroll(disable)
	for (int i = 0; i < WAIT_MERGED && bio; i++) {
		bio_issued((__u64)rq, (__u64)bio, now);
		bio = BPF_CORE_READ(bio, bi_next);
	}
}

/* A request without an issue is one for which another request flushed. */
inline_always void command_ended(struct request *rq, const struct wait_bio *note, __u32 bytes)
{
	const struct wait_flush times = { note->issue_ns, bpf_ktime_get_ns() };

	if (note->issue_ns && !note->is_sent)
		command_send(rq, note, &times, (__u8)BPF_CORE_READ(rq, cmd_flags), bytes);
	else
		flush_send(rq, note);
}

/* A write with FUA, on a device without FUA: a flush follows, and the request ends once more. The
 * block layer removes the flag from the request; the bio keeps it. */
inline_always bool flush_follows(struct request *rq, struct bio *bio, const struct wait_bio *note)
{
	return note->issue_ns && !note->is_sent && BPF_CORE_READ(bio, bi_opf) & settings.fua_flag &&
	       !(BPF_CORE_READ(rq, cmd_flags) & settings.fua_flag);
}

/* The note of a bio whose request has ended: it is kept for a flush that follows. */
inline_always void bio_ended(struct request *rq, struct bio *bio, struct wait_bio *note)
{
	if (!flush_follows(rq, bio, note)) {
		bio_forget((__u64)bio);
		return;
	}
	note->is_sent = 1;
	note->queued_ns = bpf_ktime_get_ns();
}

/*
 * A command is sent once for each call, also if it has several bios of it: sent_ns is the start of
 * the call that it was sent for last. Returns that of this bio. Read once, as bio_issued.
 */
__attribute__((noinline)) __u64 bio_completed(__u64 request, __u64 at, __u32 bytes, __u64 sent_ns)
{
	struct wait_bio *note = bpf_map_lookup_elem(&wait_bios, &at);
	struct request *rq = (void *)request;

	if (!note)
		return sent_ns;
	if (note->start_ns != sent_ns)
		command_ended(rq, note, bytes);
	sent_ns = note->start_ns;
	bio_ended(rq, (struct bio *)at, note);
	return sent_ns;
}

inline_always void command_completed(struct request *rq, __u32 bytes)
{
	struct bio *bio = BPF_CORE_READ(rq, bio), *next;
	__u64 sent_ns = 0;

	if (!bio) {
		flush_completed(rq);
		return;
	}
	if (bytes < BPF_CORE_READ(rq, __data_len))
		return; /* the rest follows */
#pragma clang loop unroll(disable)
	for (int i = 0; i < WAIT_MERGED && bio; i++) {
		next = BPF_CORE_READ(bio, bi_next);
		sent_ns = bio_completed((__u64)rq, (__u64)bio, bytes, sent_ns);
		bio = next;
	}
}

#endif
