/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait_stack.h: the place where a thread sleeps: the number of the kernel's stack. Its frames are
 * sent once. A walk of the stack costs 2,600 instructions where frames have pointers, and 9,500 by
 * ORC: known stacks are told without.
 */
#ifndef IOSONAR_BPF_WAIT_STACK_H
#define IOSONAR_BPF_WAIT_STACK_H

#include "bpf/wait_known.h"
#include "bpf/wait_task.h"
#include "wire/io_stages.h"

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

/* Sends the frames to user space; if the ring is full, the next sleep there tries again. */
inline_always void stack_send_frames(void *ctx, __u32 nr, __u32 *sent)
{
	struct io_stack *stack = bpf_ringbuf_reserve(&wait_records, sizeof(*stack), 0);
	long bytes;

	if (!stack)
		return;
	bytes = bpf_get_stack(ctx, stack->frames, sizeof(stack->frames), 0);
	stack->number = nr + 1;
	stack->nr = bytes > 0 ? (__u32)bytes / 8 : 0;
	stack->user = 0;
	stack->is_truncated = stack->nr == STACK_FRAMES;
	*sent = 1;
	bpf_ringbuf_submit(stack, BPF_RB_NO_WAKEUP);
}

inline_always void stack_send(void *ctx, const struct wait_task *t, __u32 nr)
{
	__u32 *sent = bpf_map_lookup_elem(&wait_stacks_sent, &nr);

	if (!sent)
		return;
	if (!*sent)
		stack_send_frames(ctx, nr, sent);
	known_send_copy(t, nr, sent);
}

inline_always __u32 stack_number(void *ctx, struct wait_task *t)
{
	__u32 known;
	long nr;

	fresh(t->context) = (__u64)ctx; /* as a pointer the verifier allows no arithmetic with it */
	known = known_find(t);
	if (known && !known_is_in_doubt(t))
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
		known_doubt(known, nr + 1);
	return known;
}

#endif
