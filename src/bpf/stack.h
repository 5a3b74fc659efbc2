/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack.h: where was it submitted? The kernel keeps each stack once; we note its number.
 */
#ifndef IOSONAR_BPF_STACK_H
#define IOSONAR_BPF_STACK_H

#include "bpf/table.h"

#define EFAULT 14
#define EEXIST 17

/* Its frames go to user space once; a full ring is tried again by the next I/O from there. */
inline_always void stack_send(void *ctx, __u32 nr, __u64 flags)
{
	__u32 *sent = bpf_map_lookup_elem(&io_stacks_sent, &nr);
	__u32 cpu = bpf_get_smp_processor_id();
	struct io_stack *stack;
	void *ring;
	long bytes;

	if (!sent || *sent)
		return;
	ring = bpf_map_lookup_elem(&io_rings, &cpu);
	stack = ring ? bpf_ringbuf_reserve(ring, sizeof(*stack), 0) : 0;
	if (!stack)
		return;
	bytes = bpf_get_stack(ctx, stack->frames, sizeof(stack->frames), flags);
	stack->number = nr + 1;
	stack->nr = bytes > 0 ? (__u32)bytes / 8 : 0;
	stack->user = flags != 0;
	stack->pad = 0;
	*sent = 1;
	bpf_ringbuf_submit(stack, BPF_RB_NO_WAKEUP);
}

/* The number + 1; 0: there is none. A kernel thread has no stack in user space: no failure. */
inline_always __u32 stack_number(void *ctx, __u64 flags)
{
	long nr = bpf_get_stackid(ctx, &io_stacks, flags);

	if (nr >= 0) {
		stack_send(ctx, nr, flags);
		return nr + 1;
	}
	if (nr == -EEXIST)
		count_up(counters.stack_taken);
	else if (nr != -EFAULT || !flags)
		count_up(counters.stack_failed);
	return 0;
}

inline_always void stacks_take(void *ctx, __u32 *kernel, __u32 *user)
{
	*kernel = settings.kernel_stacks ? stack_number(ctx, 0) : 0;
	*user = settings.user_stacks ? stack_number(ctx, BPF_F_USER_STACK) : 0;
}

#endif
