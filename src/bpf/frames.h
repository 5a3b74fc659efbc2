/* SPDX-License-Identifier: GPL-2.0-only */
/* frames.h: the frames of a stack, on their way to user space. */
#ifndef IOSONAR_BPF_FRAMES_H
#define IOSONAR_BPF_FRAMES_H

#include "bpf/cell.h"
#include "wire/io_stages.h"

/* False: the ring is full. ring: of one CPU, or of all. */
inline_always bool frames_send(void *ring, void *ctx, __u32 number, __u64 flags)
{
	struct io_stack *stack = bpf_ringbuf_reserve(ring, sizeof(*stack), 0);
	long bytes;

	if (!stack)
		return false;
	bytes = bpf_get_stack(ctx, stack->frames, sizeof(stack->frames), flags);
	stack->number = number;
	stack->nr = bytes > 0 ? (__u32)bytes / 8 : 0;
	stack->user = flags != 0;
	stack->is_truncated = stack->nr == STACK_FRAMES;
	bpf_ringbuf_submit(stack, BPF_RB_NO_WAKEUP);
	return true;
}

#endif
