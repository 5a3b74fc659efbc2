/* SPDX-License-Identifier: GPL-2.0-only */
/* stack.h: where was an I/O submitted? The kernel keeps each stack once; we note its number. */
#ifndef IOSONAR_BPF_STACK_H
#define IOSONAR_BPF_STACK_H

#include "bpf/frames.h"
#include "bpf/known.h"
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

/* Sends the frames once; if the ring is full, the next I/O from there tries again. */
inline_always void stack_send(void *ctx, __u32 nr, __u64 flags, const struct known_at *at)
{
	__u32 *sent = bpf_map_lookup_elem(&io_stacks_sent, &nr);
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring;

	if (!sent || *sent > (at->context ? KNOWN_COPIES : 0))
		return;
	ring = bpf_map_lookup_elem(&io_rings, &cpu);
	if (!ring)
		return;
	if (!*sent)
		*sent = frames_send(ring, ctx, nr + 1, flags);
	if (at->context)
		known_send_copy(ring, at, nr + 1, sent);
}

inline_always void stack_doubt(__u32 known, __u32 walked)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&io_rings, &cpu);

	if (ring)
		known_send_doubt(ring, known, walked);
}

/*
 * The stack's number + 1; 0: none, and losses says why. A kernel thread has no user stack: that is
 * not a failure.
 */
inline_always __u32 stack_walk(void *ctx, __u64 flags, const struct known_at *at, __u32 *losses)
{
	long nr = flags && settings.unwind ? unwind_stack() : 0;

	if (nr > 0)
		return nr;
	if (!nr) {
		nr = bpf_get_stackid(ctx, &io_stacks, flags);
		if (nr >= 0) {
			stack_send(ctx, nr, flags, at);
			return nr + 1;
		}
	}
	if (nr == -EEXIST)
		*losses |= flags ? STACK_USER_TAKEN : STACK_KERNEL_TAKEN;
	else if (nr != -EFAULT || !flags)
		*losses |= flags ? STACK_USER_FAILED : STACK_KERNEL_FAILED;
	return 0;
}

inline_always __u32 stack_of_kernel(void *ctx, const struct known_at *at, __u32 *losses)
{
	__u32 known = at->context ? known_find(at->context, at->set, settings.cast_type) : 0;
	__u32 not_counted = 0, number;

	if (known && bpf_get_prandom_u32() & (KNOWN_IN_DOUBT - 1))
		return known;
	asm volatile("" : "+r"(known)); /* one walk: its own address is in the stack */
	number = stack_walk(ctx, 0, at, known ? &not_counted : losses);
	if (known && number && known != number)
		stack_doubt(known, number);
	return known ? known : number;
}

/* enum stack_loss. */
inline_always __u32 stacks_take(void *ctx, const struct known_at *at, __u32 *kernel, __u32 *user)
{
	const struct known_at nowhere = {};
	__u32 losses = 0;

	*kernel = settings.kernel_stacks ? stack_of_kernel(ctx, at, &losses) : 0;
	*user = settings.user_stacks ? stack_walk(ctx, BPF_F_USER_STACK, &nowhere, &losses) : 0;
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
