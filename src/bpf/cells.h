/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cells.h: a ring of cells per CPU that user space maps, for what nearly every command sends: its
 * ladder, or its record. A fifth of the instructions of a kernel ring. A program that finds it
 * full, or held by a program that it interrupted, uses the kernel's ring. It requires an atomic
 * that returns a value: only programs for kernels with bpf_rdonly_cast may include it.
 */
#ifndef IOSONAR_BPF_CELLS_H
#define IOSONAR_BPF_CELLS_H

#include "bpf/table.h"

/* The ring of a CPU, and the mask of its cells; NULL: there is none. On a machine whose CPUs are
 * all online the verifier removes what is below the first comparison. */
inline_always struct io_ladders *cells_of(__u64 cpu, __u64 *mask)
{
	void *rings = table_address(IO_TABLE_LADDERS);

	if (cpu < told(ladder_cpus)) {
		*mask = told(ladder_mask);
		return rings + cpu * told(ladder_bytes);
	}
	if (cpu >= told(nr_cpus))
		return 0;
	*mask = told(late_ladder_mask);
	return rings + told(late_ladders_at) + (cpu - told(ladder_cpus)) * told(late_ladder_bytes);
}

/* True: the ring is ours, and *cell is the next cell. False: it is full, or held by a program
 * that we interrupted. */
inline_always bool cells_hold(struct io_ladders *ring, __u64 mask, void **cell)
{
	const __u64 bytes = sizeof(struct io_ladder);
	__u64 head;

	if (!cell_hold(&ring->claim, 1))
		return false;
	head = ring->head;
	if ((head - ring->tail) * bytes > mask) {
		cell_release(&ring->claim, 1);
		return false;
	}
	*cell = (void *)(ring + 1) + (head * bytes & mask);
	return true;
}

/*
 * Its cell is filled. An atomic that returns a value is a full barrier in both directions: a reader
 * that sees the new head sees the cell. Kernels with bpf_rdonly_cast (6.2) run it: 5.12 and later
 * do, arm64's JIT since 5.18. The asm uses the value: clang turns an atomic with an unused value
 * into an unordered addition.
 */
inline_always void cells_release(struct io_ladders *ring)
{
	__u64 head = __sync_fetch_and_add(&ring->head, 1);

	asm volatile("" ::"r"(head));
	cell_release(&ring->claim, 1);
}

#endif
