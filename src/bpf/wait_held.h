/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait_held.h: is I/O of a sleeping thread held back by a limit of its cgroup (io.max)? The limit
 * delays the bio, not the thread: the function that decides is seen in the thread, and the bio
 * itself when a worker queues it. Other threads pay for this only while a bio is held back.
 */
#ifndef IOSONAR_BPF_WAIT_HELD_H
#define IOSONAR_BPF_WAIT_HELD_H

#include "bpf/wait_command.h"
#include "bpf/wait_task.h"

/* Whose bio it is. The start of the call tells an entry that was never taken out from a new one. */
struct wait_holder {
	__u64 start_ns;
	__u32 tid;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WAIT_HELD);
	__type(key, __u64);
	__type(value, struct wait_holder);
} wait_held SEC(".maps");

__u32 held_anywhere = 0; /* how many entries the table has */

inline_always bool held_any(const struct wait_task *t)
{
	return t->nr_held != fresh(t->nr_released);
}

/* Noted before the limit decides: a worker may queue the bio before the function returns. */
inline_always void held_enter(__u64 bio)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct wait_task *t = task_of(tid);
	struct wait_holder holder = { .tid = tid };

	if (!t)
		return;
	holder.start_ns = t->record.start_ns;
	if (bpf_map_update_elem(&wait_held, &bio, &holder, BPF_ANY)) {
		count(no_held);
		return;
	}
	count_up(held_anywhere);
	t->nr_held++;
	t->bio = bio;
}

inline_always void held_leave(bool is_held)
{
	struct wait_task *t = task_of((__u32)bpf_get_current_pid_tgid());
	__u64 bio;

	if (!t || !t->bio)
		return;
	bio = t->bio;
	t->bio = 0;
	if (is_held) {
		t->record.bios++; /* block_bio_queue sees a worker */
		return;
	}
	t->nr_held--;
	if (!bpf_map_delete_elem(&wait_held, &bio))
		add_to(held_anywhere, -1);
}

inline_always void held_release(__u64 bio)
{
	const struct wait_holder *holder = bpf_map_lookup_elem(&wait_held, &bio);
	struct wait_task *t;

	if (!holder)
		return;
	t = task_of(holder->tid);
	if (t && t->record.start_ns == holder->start_ns) {
		t->released_ns = bpf_ktime_get_ns();
		count_up(t->nr_released);
		if (settings.commands)
			bio_follow(bio, holder->tid, holder->start_ns);
	}
	if (!bpf_map_delete_elem(&wait_held, &bio))
		add_to(held_anywhere, -1);
}

/* When the last of the bios was let go, not before the sleep and not after its end. */
inline_always __u64 held_until(const struct wait_task *t, __u64 woken)
{
	__u64 released = fresh(t->released_ns);

	if (held_any(t) || released > woken)
		return woken;
	return later(released, t->since_ns);
}

#endif
