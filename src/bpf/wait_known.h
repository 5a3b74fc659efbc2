/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait_known.h: has a thread slept at this place before? To walk the stack costs thousands of
 * instructions. The context of our program is itself on the stack, and the return addresses of a
 * stack that was walked before lie at known distances from it: if all are there, it is the same
 * stack. User space finds these places (collect/waits_known.c). One known stack in 64 is walked all
 * the same; user space compares them if the numbers differ: these also tell who called our program.
 */
#ifndef IOSONAR_BPF_WAIT_KNOWN_H
#define IOSONAR_BPF_WAIT_KNOWN_H

#include "bpf/readable.h"
#include "bpf/wait_task.h"

struct wait_known_stack wait_known[WAIT_FUNCTIONS * WAIT_KNOWN] = { 0 };

enum { STACK_BYTES = 16384, DOUBT_BITS = 63 << 5 }; /* the lowest bits of a time are coarse */

inline_always __u64 word_at(__u64 address)
{
	__u64 word = 0;

	if (settings.cast_type)
		return *(const __u64 *)readable((void *)address, settings.cast_type);
	bpf_probe_read_kernel(&word, sizeof(word), (void *)address);
	return word;
}

/* The number of the stack that lies at the context; 0: it is not known. */
inline_always __u32 known_find(const struct wait_task *t)
{
	const __u64 context = t->context;
	const __u32 first = (t->by & (WAIT_FUNCTIONS - 1)) * WAIT_KNOWN;
	__u32 i, j;

#pragma clang loop unroll(disable)
	for (i = 0; i < WAIT_KNOWN; i++) {
		const struct wait_known_stack *known = &wait_known[first + i];
		const __u32 nr = fresh(known->nr);

#pragma clang loop unroll(disable)
		for (j = 0; j < WAIT_PLACES; j++) {
			if (j >= nr)
				break;
			if (!known->words[j] ||
			    wait_return_address(word_at(context + 8 * known->at[j])) !=
				    known->words[j])
				break;
		}
		if (nr && j >= nr)
			return known->number;
	}
	return 0;
}

inline_always bool known_is_in_doubt(const struct wait_task *t)
{
	return !(t->since_ns & DOUBT_BITS);
}

/* Sends what lies on the stack, a few times for each. A copy ends where a stack may end. */
inline_always void known_send_copy(const struct wait_task *t, __u32 nr, __u32 *sent)
{
	__u64 bytes = STACK_BYTES - (t->context & (STACK_BYTES - 1));
	struct wait_copy *copy;

	if (!*sent || *sent > WAIT_COPIES)
		return;
	copy = bpf_ringbuf_reserve(&wait_records, sizeof(*copy), 0);
	if (!copy)
		return;
	if (bytes > sizeof(copy->words))
		bytes = sizeof(copy->words);
	copy->number = nr + 1;
	copy->nr = bytes / 8;
	copy->by = t->by;
	bpf_probe_read_kernel(copy->words, bytes, (void *)t->context);
	bpf_ringbuf_submit(copy, BPF_RB_NO_WAKEUP);
	*sent += 1;
}

inline_always void known_doubt(__u32 known, __u32 walked)
{
	struct wait_doubt doubt = { .known = known, .walked = walked };

	bpf_ringbuf_output(&wait_records, &doubt, sizeof(doubt), BPF_RB_NO_WAKEUP);
}

#endif
