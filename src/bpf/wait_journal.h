/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait_journal.h: who made a commit of ext4's journal long? Only with --slow. The tasks that had
 * handles in its transaction, and those that dirtied the data that it had to write. A handle that
 * ends costs a cell of its transaction and task, a page that becomes dirty costs a look-up. A
 * worker that writes pages stands for the task that dirtied the file last.
 */
#ifndef IOSONAR_BPF_WAIT_JOURNAL_H
#define IOSONAR_BPF_WAIT_JOURNAL_H

#include "bpf/wait_command.h"

/* One commit per journal at a time: by the number of the journal's thread. */
struct wait_commit_cell {
	__u64 start_ns, flushing_ns, logging_ns;
	__u64 inode; /* whose data it writes; 0: none */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WAIT_COMMITS);
	__type(key, __u32);
	__type(value, struct wait_commit_cell);
} wait_commits SEC(".maps");

__u32 commits_anywhere = 0; /* how many entries the table has */

struct wait_person {
	__u32 tid, pid;
	char comm[WAIT_COMM_LEN];
};

/* By inode: the task that dirtied it last. An old file makes room for a new one. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WAIT_DIRTIERS);
	__type(key, __u64);
	__type(value, struct wait_person);
} wait_dirtiers SEC(".maps");

/* By the number of a worker: the inode that it writes. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WAIT_WRITERS);
	__type(key, __u32);
	__type(value, __u64);
} wait_writers SEC(".maps");

/* What a task has in a transaction, or (dev is 0) in the data of a commit, by its start. */
struct wait_share {
	__u32 claim;
	__u32 dev, transaction;
	__u32 handles, blocks;
	struct wait_person person;
	__u32 pad;
	__u64 bytes, last_ns;
};

static struct wait_share wait_shares[WAIT_SHARES];

/* ---- tasks ---- */

inline_always bool is_kernel_thread(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	return !BPF_CORE_READ(task, mm);
}

inline_always void person_fill(struct wait_person *person)
{
	__u64 both = bpf_get_current_pid_tgid();

	person->tid = (__u32)both;
	person->pid = both >> 32;
	bpf_get_current_comm(person->comm, sizeof(person->comm));
}

inline_always void inode_dirtied(__u64 inode)
{
	const struct wait_person *known = bpf_map_lookup_elem(&wait_dirtiers, &inode);
	struct wait_person person;

	if ((known && known->tid == (__u32)bpf_get_current_pid_tgid()) || is_kernel_thread())
		return;
	person_fill(&person);
	bpf_map_update_elem(&wait_dirtiers, &inode, &person, BPF_ANY);
}

inline_always void inode_written(__u64 inode)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	if (is_kernel_thread())
		bpf_map_update_elem(&wait_writers, &tid, &inode, BPF_ANY);
}

/* The task of a handle. */
inline_always void person_of_handle(struct wait_person *person)
{
	const struct wait_person *dirtier;
	const __u64 *inode;

	person_fill(person);
	inode = bpf_map_lookup_elem(&wait_writers, &person->tid);
	dirtier = inode ? bpf_map_lookup_elem(&wait_dirtiers, inode) : 0;
	if (dirtier)
		*person = *dirtier;
}

/* ---- shares ---- */

/* NULL: all places for it are taken. */
inline_always struct wait_share *share_find(__u32 dev, __u32 transaction,
					    const struct wait_person *person)
{
	__u32 at = (transaction * 31 + person->tid) * 2654435761u >> 16;
	__u32 mine = bpf_get_smp_processor_id() + 1;
	struct wait_share *share;

#pragma clang loop unroll(disable)
	for (int i = 0; i < 8; i++) {
		share = &wait_shares[(at + i) & (WAIT_SHARES - 1)];
		if (share->claim && share->dev == dev && share->transaction == transaction &&
		    share->person.tid == person->tid)
			return share;
		if (share->claim || !cell_hold(&share->claim, mine))
			continue;
		share->dev = dev;
		share->transaction = transaction;
		share->handles = share->blocks = 0;
		share->bytes = share->last_ns = 0;
		share->person = *person;
		return share;
	}
	count(lost_shares);
	return 0;
}

inline_always void handle_ended(__u32 dev, __u32 transaction, __u32 blocks)
{
	struct wait_person person;
	struct wait_share *share;

	person_of_handle(&person);
	share = share_find(dev, transaction, &person);
	if (!share)
		return;
	count_up(share->handles);
	add_to(share->blocks, blocks);
	share->last_ns = bpf_ktime_get_ns();
}

/* ---- a commit ---- */

inline_always struct wait_commit_cell *commit_of_thread(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	return commits_anywhere ? bpf_map_lookup_elem(&wait_commits, &tid) : 0;
}

inline_always __u32 commit_number(__u64 start_ns)
{
	return (__u32)(start_ns >> 10);
}

inline_always void commit_begins(void)
{
	struct wait_commit_cell cell = { .start_ns = bpf_ktime_get_ns() };
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	if (!bpf_map_update_elem(&wait_commits, &tid, &cell, BPF_NOEXIST))
		count_up(commits_anywhere);
	else if (bpf_map_update_elem(&wait_commits, &tid, &cell, BPF_EXIST))
		count(lost_shares);
}

/* A bio that the journal's thread queues: its command, and the bytes of a file's data. */
inline_always void commit_queues(__u64 bio)
{
	const struct wait_commit_cell *commit = commit_of_thread();
	const struct wait_person *dirtier;
	struct wait_share *share;
	__u64 inode;

	if (!commit)
		return;
	bio_follow(bio, (__u32)bpf_get_current_pid_tgid(), commit->start_ns);
	inode = commit->inode;
	dirtier = inode ? bpf_map_lookup_elem(&wait_dirtiers, &inode) : 0;
	share = dirtier ? share_find(0, commit_number(commit->start_ns), dirtier) : 0;
	if (share)
		share->bytes += BPF_CORE_READ((struct bio *)bio, bi_iter.bi_size);
}

/* Sends what a task has in a commit, and makes room. */
inline_always void share_send(struct wait_share *share, __u64 start_ns)
{
	struct wait_who *who = bpf_ringbuf_reserve(&wait_records, sizeof(*who), 0);

	if (who) {
		who->start_ns = start_ns;
		who->last_ns = share->last_ns;
		who->bytes = share->bytes;
		who->commit_tid = (__u32)bpf_get_current_pid_tgid();
		who->tid = share->person.tid;
		who->pid = share->person.pid;
		who->handles = share->handles;
		who->blocks = share->blocks;
		who->pad = 0;
		__builtin_memcpy(who->comm, share->person.comm, sizeof(who->comm));
		bpf_ringbuf_submit(who, BPF_RB_NO_WAKEUP);
	} else {
		count(lost_shares);
	}
	cell_release(&share->claim, share->claim);
}

/* If this share is one of the commit's. The verifier reads it once, not 1,024 times: 60 ms less. */
__attribute__((noinline)) int share_ends(__u32 at, __u32 dev, __u32 transaction, __u64 start_ns)
{
	struct wait_share *share = &wait_shares[at & (WAIT_SHARES - 1)];

	if (share->claim && ((share->dev == dev && share->transaction == transaction) ||
			     (!share->dev && share->transaction == commit_number(start_ns))))
		share_send(share, start_ns);
	return 0;
}

inline_always void shares_send(const struct wait_commit *commit)
{
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < WAIT_SHARES; i++)
		share_ends(i, commit->dev, commit->transaction, commit->start_ns);
}

/* Before the threads that wait for it are woken. */
inline_always void commit_ends(__u32 dev, __u32 transaction)
{
	const struct wait_commit_cell *cell = commit_of_thread();
	struct wait_commit commit = { .dev = dev, .transaction = transaction };

	if (!cell)
		return;
	commit.tid = (__u32)bpf_get_current_pid_tgid();
	commit.start_ns = cell->start_ns;
	commit.flushing_ns = cell->flushing_ns;
	commit.logging_ns = cell->logging_ns;
	commit.end_ns = bpf_ktime_get_ns();
	if (!bpf_map_delete_elem(&wait_commits, &commit.tid))
		add_to(commits_anywhere, -1);
	shares_send(&commit);
	if (bpf_ringbuf_output(&wait_records, &commit, sizeof(commit), BPF_RB_NO_WAKEUP))
		count(lost_shares);
}

/* ---- programs ---- */

SEC("raw_tp/jbd2_commit_flushing")
int waits_flushing(void *ctx)
{
	struct wait_commit_cell *c = commit_of_thread();

	if (c)
		c->flushing_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("raw_tp/jbd2_submit_inode_data")
int waits_data(struct bpf_raw_tracepoint_args *ctx)
{
	struct wait_commit_cell *c = commit_of_thread();

	if (c)
		c->inode = ctx->args[0];
	return 0;
}

SEC("raw_tp/jbd2_commit_logging")
int waits_logging(void *ctx)
{
	struct wait_commit_cell *c = commit_of_thread();

	if (!c)
		return 0;
	c->logging_ns = bpf_ktime_get_ns();
	c->inode = 0;
	return 0;
}

SEC("raw_tp/jbd2_start_commit")
int waits_commit(void *ctx)
{
	commit_begins();
	return 0;
}

SEC("raw_tp/jbd2_run_stats")
int waits_commit_end(struct bpf_raw_tracepoint_args *ctx)
{
	commit_ends((__u32)ctx->args[0], (__u32)ctx->args[1]);
	return 0;
}

SEC("raw_tp/jbd2_handle_stats")
int waits_handle(struct bpf_raw_tracepoint_args *ctx)
{
	handle_ended((__u32)ctx->args[0], (__u32)ctx->args[1], (__u32)ctx->args[7]);
	return 0;
}

SEC("raw_tp/writeback_mark_inode_dirty")
int waits_dirty(struct bpf_raw_tracepoint_args *ctx)
{
	inode_dirtied(ctx->args[0]);
	return 0;
}

SEC("raw_tp/writeback_single_inode_start")
int waits_writer(struct bpf_raw_tracepoint_args *ctx)
{
	inode_written(ctx->args[0]);
	return 0;
}

SEC("raw_tp/writeback_single_inode")
int waits_writer_end(void *ctx)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	bpf_map_delete_elem(&wait_writers, &tid);
	return 0;
}

#endif
