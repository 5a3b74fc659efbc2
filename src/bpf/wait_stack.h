/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait_stack.h: the place where a thread sleeps: the number of the kernel's stack. Its frames are
 * sent once. Known stacks are told without a walk.
 */
#ifndef IOSONAR_BPF_WAIT_STACK_H
#define IOSONAR_BPF_WAIT_STACK_H

#include "bpf/frames.h"
#include "bpf/known.h"
#include "bpf/wait_task.h"

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, WAIT_STACKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, STACK_FRAMES * sizeof(__u64));
} wait_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WAIT_STACKS);
	__type(key, __u32);
	__type(value, __u32); /* frames and copies */
} wait_stacks_sent SEC(".maps");

/* If the ring is full, the next sleep there tries again. */
inline_always void stack_send(void *ctx, const struct wait_task *t, __u32 nr)
{
	__u32 *sent = bpf_map_lookup_elem(&wait_stacks_sent, &nr);
	const struct known_at at = { .context = t->context, .set = t->by };

	if (!sent)
		return;
	if (!*sent)
		*sent = frames_send(&wait_records, ctx, nr + 1, 0);
	known_send_copy(&wait_records, &at, nr + 1, sent);
}

/* By chance, as far as a time tells; its lowest bits are coarse. */
inline_always bool stack_is_in_doubt(const struct wait_task *t)
{
	return !(t->since_ns >> 5 & (KNOWN_IN_DOUBT - 1));
}

inline_always __u32 stack_number(void *ctx, struct wait_task *t)
{
	__u32 known;
	long nr;

	fresh(t->context) = (__u64)ctx;
	known = known_find(t->context, t->by, settings.cast_type);
	if (known && !stack_is_in_doubt(t))
		return known;
	asm volatile("" : "+r"(known)); /* one call: its own address is in the stack */
	nr = bpf_get_stackid(ctx, &wait_stacks, 0);
	if (nr < 0) {
		count(no_stack);
		return 0;
	}
	stack_send(ctx, t, nr);
	if (!known)
		return nr + 1;
	if (known != nr + 1)
		known_send_doubt(&wait_records, known, nr + 1);
	return known;
}

#endif
