// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind.bpf.c: user stacks for programs that we generate: probe/run/unwind.c appends unwind_stack,
 * and what it calls, to each of them. The program here is loaded, so that libbpf relocates them,
 * and never attached.
 */
#include "bpf/unwind.h"

char LICENSE[] SEC("license") = "GPL";

TABLE(unwind_stacks, struct io_stack, IO_MAX_STACKS);

/* Two CPUs that keep the same stack at once write the same. */
inline_always bool unwind_keep(const struct unwind_walk *s, __u32 number)
{
	__u32 cell = number - IO_MAX_STACKS - 1;
	struct io_stack *stack = bpf_map_lookup_elem(&unwind_stacks, &cell);

	if (!stack)
		return false;
	bpf_probe_read_kernel(stack->frames, sizeof(stack->frames), s->frames);
	stack->user = 1;
	stack->is_truncated = s->end != UNWIND_COMPLETE;
	barrier();
	stack->nr = s->nr;
	return true;
}

SEC("raw_tp/sys_enter") int unwind_entry(void *ctx)
{
	(void)ctx;
	return unwind_stack();
}
