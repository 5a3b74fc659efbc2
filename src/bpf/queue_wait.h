/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * queue_wait.h: what did an I/O wait for before it had a request? Functions that the kernel calls
 * only when an I/O has to wait note when that begins: for the bio, or for the task that submits it
 * until block_getrq tells its bio. An I/O that does not wait costs one load more. A wait lasts
 * until the next one begins or the I/O has a request; the time of a third one is in the second.
 */
#ifndef IOSONAR_BPF_QUEUE_WAIT_H
#define IOSONAR_BPF_QUEUE_WAIT_H

#include "bpf/bio.h"
#include "wire/io_stages.h"

enum { QUEUE_WAITS = 16384 };

struct queue_wait {
	__u64 queued_ns; /* of its bio; 0: not submitted yet, or a task's */
	__u64 held_ns;	 /* io.max has it since; 0: never */
	__u64 from_ns[IO_WAITS];
	__u8 cause[IO_WAITS]; /* enum io_wait */
	__u8 pad[2];
	__u32 tid; /* that submitted a bio which is held back */
};

/* By the address of a bio, or the number of a task, which is below any address. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, QUEUE_WAITS);
	__type(key, __u64);
	__type(value, struct queue_wait);
} io_waits SEC(".maps");

/* Where no waits are wanted there is no table, and the verifier leaves out what follows. */
inline_always struct queue_wait *wait_find(__u64 key)
{
	return settings.waits ? bpf_map_lookup_elem(&io_waits, &key) : 0;
}

inline_always bool wait_put(__u64 key, const struct queue_wait *wait)
{
	if (!bpf_map_update_elem(&io_waits, &key, wait, BPF_ANY))
		return true;
	count_up(counters.no_wait);
	return false;
}

/* The first of its cause counts: a task may have to sleep again for the same. True: it is new. */
inline_always bool wait_add(__u64 key, __u64 queued_ns, __u64 from_ns, __u8 cause)
{
	struct queue_wait *wait = wait_find(key);
	struct queue_wait first = { .queued_ns = queued_ns };

	if (wait && (wait->queued_ns == queued_ns || !wait->queued_ns)) {
		wait->queued_ns = queued_ns;
		if (!wait->cause[0]) {
			wait->from_ns[0] = from_ns;
			wait->cause[0] = cause;
		} else if (!wait->cause[1] && wait->cause[0] != cause &&
			   from_ns >= wait->from_ns[0]) {
			wait->from_ns[1] = from_ns;
			wait->cause[1] = cause;
		}
		return false;
	}
	first.from_ns[0] = from_ns;
	first.cause[0] = cause;
	return wait_put(key, &first);
}

inline_always struct io_bio *bio_of_wait(__u64 bio, struct tables *t)
{
	__u32 zero = 0;

	*t = tables_of(0, bpf_map_lookup_elem(&io_bios, &zero), 0);
	return t->bios ? bio_find(t, (void *)bio) : 0;
}

/* ---- where waits begin ---- */

/* io.cost tells its bio at the end: nothing but io.cost can make it wait before. */
__attribute__((noinline)) int bio_begins_wait(__u64 bio, __u32 cause)
{
	struct tables t;
	struct io_bio *cell = bio_of_wait(bio, &t);
	__u64 from_ns;

	if (!settings.waits || !cell || cell->got_ns)
		return 0;
	from_ns = cause == IO_WAIT_IOCOST ? cell->queued_ns : bpf_ktime_get_ns();
	wait_add(bio, cell->queued_ns, from_ns, cause);
	cell->busy = BIO_WAITED;
	return 0;
}

__attribute__((noinline)) int task_begins_wait(__u32 cause)
{
	if (settings.waits &&
	    wait_add((__u32)bpf_get_current_pid_tgid(), 0, bpf_ktime_get_ns(), cause))
		count_up(tasks_waiting);
	return 0;
}

/*
 * io.max holds the bio back before it is submitted. Its cell forgets it, so that block_bio_queue
 * has to take a new one and asks bio_was_held. A bio whose first part was submitted before is not
 * followed.
 */
__attribute__((noinline)) int bio_is_held(__u64 bio)
{
	struct queue_wait held = { .held_ns = bpf_ktime_get_ns() }, *before;
	__u32 mine = bpf_get_smp_processor_id() + 1, zero = 0;
	void *bios = bpf_map_lookup_elem(&io_bios, &zero);
	const struct tables t = tables_of(0, bios, 0);
	struct io_bio *cell = bios ? bio_cell(&t, (void *)bio) : 0;

	if (!settings.waits || !bios || (cell && cell->busy))
		return 0;
	before = wait_find(bio);
	if (before && before->held_ns && !before->queued_ns) /* it goes on to the group above */
		return 0;
	held.tid = bpf_get_current_pid_tgid();
	if (!wait_put(bio, &held))
		return 0;
	count_up(bios_held);
	if (!cell || !cell_hold(&cell->claim, mine))
		return 0;
	if (cell->key == bio && !fresh(cell->busy))
		cell->key = 0;
	cell_release(&cell->claim, mine);
	return 0;
}

/* ---- where they end ---- */

/* A worker submits what io.max held back: the same task means that it let the bio pass. */
__attribute__((noinline)) int bio_was_held(__u64 bio)
{
	struct queue_wait *wait = wait_find(bio);
	struct tables t;
	struct io_bio *cell;

	if (!wait)
		return 0;
	if (!wait->queued_ns)
		add_to(bios_held, -1);
	if (wait->queued_ns || wait->tid == (__u32)bpf_get_current_pid_tgid()) {
		bpf_map_delete_elem(&io_waits, &bio);
		return 0;
	}
	cell = bio_of_wait(bio, &t);
	if (cell)
		cell->busy = BIO_WAITED;
	return 0;
}

/* The bio got a request: what its task has waited for since the submission is its own wait. */
__attribute__((noinline)) int bio_ends_wait(__u64 bio)
{
	__u64 task = (__u32)bpf_get_current_pid_tgid();
	struct queue_wait *mine = wait_find(task), wait;
	struct tables t;
	struct io_bio *cell;

	if (!mine)
		return 0;
	wait = *mine;
	if (!bpf_map_delete_elem(&io_waits, &task))
		add_to(tasks_waiting, -1);
	cell = bio_of_wait(bio, &t);
	if (!cell || wait.from_ns[0] < cell->queued_ns)
		return 0;
	wait_add(bio, cell->queued_ns, wait.from_ns[0], wait.cause[0]);
	if (wait.cause[1])
		wait_add(bio, cell->queued_ns, wait.from_ns[1], wait.cause[1]);
	cell->busy = BIO_WAITED;
	return 0;
}

/* The front part of a split bio has waited with the whole. */
__attribute__((noinline)) int bio_shares_wait(__u64 front, __u64 whole)
{
	struct queue_wait *wait = wait_find(whole), copy;
	struct tables t;
	struct io_bio *cell = bio_of_wait(front, &t);

	if (!wait || !cell)
		return 0;
	copy = *wait;
	if (wait_put(front, &copy))
		cell->busy = BIO_WAITED;
	return 0;
}

__attribute__((noinline)) int bio_forgets_wait(__u64 bio)
{
	return settings.waits ? bpf_map_delete_elem(&io_waits, &bio) : 0;
}

inline_always __u64 wait_word(const struct queue_wait *wait, int nr, __u64 queued_ns)
{
	return wait->cause[nr] && wait->from_ns[nr] >= queued_ns
		       ? (wait->from_ns[nr] - queued_ns) << 8 | wait->cause[nr]
		       : 0;
}

/* Into the record of a bio that ends. */
inline_always void waits_fill(struct io_stages *s, const struct io_bio *bio)
{
	__u64 key = bio->key, queued_ns = bio->queued_ns;
	struct queue_wait *wait = wait_find(key);

	if (!wait)
		return;
	if (wait->held_ns && wait->held_ns <= queued_ns) {
		s->waits[0] = (queued_ns - wait->held_ns) << 8 | IO_WAIT_HELD;
		s->waits[1] = wait_word(wait, 0, queued_ns);
	} else {
		s->waits[0] = wait_word(wait, 0, queued_ns);
		s->waits[1] = wait_word(wait, 1, queued_ns);
	}
	bpf_map_delete_elem(&io_waits, &key);
}

#endif
