/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * known.h: was there a stack like this before? To walk the stack costs thousands of instructions:
 * 2,600 where frames have pointers, 5,500 and more by ORC. The context of our program is itself on
 * the stack, and the return addresses of a stack that was walked before lie at known distances from
 * it: if all are there, it is the same stack. User space finds these places (collect/known.c). One
 * known stack in 64 is walked all the same; user space compares them if the numbers differ: these
 * also tell who called our program.
 */
#ifndef IOSONAR_BPF_KNOWN_H
#define IOSONAR_BPF_KNOWN_H

#include "bpf/cell.h"
#include "bpf/readable.h"
#include "wire/known.h"

struct known_stack known_stacks[KNOWN_SETS * KNOWN_STACKS] = { 0 };

enum { STACK_BYTES = 16384, KNOWN_IN_DOUBT = 64 };

/* type: for bpf_rdonly_cast; 0: this kernel has no such call. */
inline_always __u64 word_at(__u64 address, __u32 type)
{
	__u64 word = 0;

	if (type)
		return *(const __u64 *)readable((void *)address, type);
	bpf_probe_read_kernel(&word, sizeof(word), (void *)address);
	return word;
}

/*
 * The number of the stack that lies at the context; 0: it is not known. context: as a number, which
 * was stored in a table and read again: the verifier allows no arithmetic with a pointer to it.
 */
inline_always __u32 known_find(__u64 context, __u32 set, __u32 type)
{
	const __u32 first = (set & (KNOWN_SETS - 1)) * KNOWN_STACKS;
	__u32 i, j;

#pragma clang loop unroll(disable)
	for (i = 0; i < KNOWN_STACKS; i++) {
		const struct known_stack *known = &known_stacks[first + i];
		const __u32 nr = fresh(known->nr);

#pragma clang loop unroll(disable)
		for (j = 0; j < KNOWN_PLACES; j++) {
			if (j >= nr)
				break;
			if (!known->words[j] ||
			    known_return_address(word_at(context + 8 * known->at[j], type)) !=
				    known->words[j])
				break;
		}
		if (nr && j >= nr)
			return known->number;
	}
	return 0;
}

inline_always bool known_has_room(__u32 set)
{
	return !fresh(known_stacks[(set & (KNOWN_SETS - 1)) * KNOWN_STACKS + KNOWN_STACKS - 1].nr);
}

/* Where on the stack, and with which others it is compared. */
struct known_at {
	__u64 context; /* as known_find wants it; 0: nowhere */
	__u32 set;
	bool of_kernel_thread;
};

/*
 * Sends what lies on the stack, a few times for each: sent is 1 when its frames were. A copy ends
 * where a stack may end. It never takes the room of records.
 */
inline_always void known_send_copy(void *ring, const struct known_at *at, __u32 number, __u32 *sent)
{
	__u64 bytes = STACK_BYTES - (at->context & (STACK_BYTES - 1));
	struct known_copy *copy;

	if (!*sent || *sent > KNOWN_COPIES || !known_has_room(at->set))
		return;
	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >
	    bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 4)
		return;
	copy = bpf_ringbuf_reserve(ring, sizeof(*copy), 0);
	if (!copy)
		return;
	if (bytes > sizeof(copy->words))
		bytes = sizeof(copy->words);
	copy->number = number;
	copy->nr = bytes / 8;
	copy->set = at->set;
	copy->of_kernel_thread = at->of_kernel_thread;
	bpf_probe_read_kernel(copy->words, bytes, (void *)at->context);
	bpf_ringbuf_submit(copy, BPF_RB_NO_WAKEUP);
	*sent += 1;
}

inline_always void known_send_doubt(void *ring, __u32 known, __u32 walked)
{
	struct known_doubt doubt = { .known = known, .walked = walked };

	bpf_ringbuf_output(ring, &doubt, sizeof(doubt), BPF_RB_NO_WAKEUP);
}

#endif
