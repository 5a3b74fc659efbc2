/* SPDX-License-Identifier: GPL-2.0-only */
/* stack.h: where was an I/O submitted? The kernel keeps each stack once; we note its number. */
#ifndef IOSONAR_BPF_STACK_H
#define IOSONAR_BPF_STACK_H

#include "bpf/table.h"
#include "bpf/unwind.h"

/* False: the ring is full, and the next I/O from there tries again. */
inline_always bool unwind_keep(const struct unwind_walk *s, __u32 number)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&io_rings, &cpu);
	struct io_stack *stack = ring ? bpf_ringbuf_reserve(ring, sizeof(*stack), 0) : 0;

	if (!stack)
		return false;
	bpf_probe_read_kernel(stack->frames, sizeof(stack->frames), s->frames);
	stack->number = number;
	stack->nr = s->nr;
	stack->user = 1;
	stack->is_truncated = s->end != UNWIND_COMPLETE;
	bpf_ringbuf_submit(stack, BPF_RB_NO_WAKEUP);
	return true;
}

/* Sends the frames to user space once; if the ring is full, the next I/O from there tries again. */
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
	stack->is_truncated = stack->nr == STACK_FRAMES;
	*sent = 1;
	bpf_ringbuf_submit(stack, BPF_RB_NO_WAKEUP);
}

/*
 * The stack's number + 1; 0: none, and losses says why. A kernel thread has no user stack: that is
 * not a failure.
 */
inline_always __u32 stack_number(void *ctx, __u64 flags, __u32 *losses)
{
	long nr = flags && settings.unwind ? unwind_stack() : 0;

	if (nr > 0)
		return nr;
	if (!nr) {
		nr = bpf_get_stackid(ctx, &io_stacks, flags);
		if (nr >= 0) {
			stack_send(ctx, nr, flags);
			return nr + 1;
		}
	}
	if (nr == -EEXIST)
		*losses |= flags ? STACK_USER_TAKEN : STACK_KERNEL_TAKEN;
	else if (nr != -EFAULT || !flags)
		*losses |= flags ? STACK_USER_FAILED : STACK_KERNEL_FAILED;
	return 0;
}

/* enum stack_loss. */
inline_always __u32 stacks_take(void *ctx, __u32 *kernel, __u32 *user)
{
	__u32 losses = 0;

	*kernel = settings.kernel_stacks ? stack_number(ctx, 0, &losses) : 0;
	*user = settings.user_stacks ? stack_number(ctx, BPF_F_USER_STACK, &losses) : 0;
	return losses;
}

/* Counted when the record that lacks the stacks is sent. */
inline_always void stack_losses_count(__u32 losses)
{
	if (losses & STACK_KERNEL_TAKEN)
		count_up(counters.stack_taken);
	if (losses & STACK_USER_TAKEN)
		count_up(counters.stack_taken);
	if (losses & STACK_KERNEL_FAILED)
		count_up(counters.stack_failed);
	if (losses & STACK_USER_FAILED)
		count_up(counters.stack_failed);
}

#endif
