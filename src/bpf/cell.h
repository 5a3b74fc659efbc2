/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cell.h: cells of tables that programs and user space share, and how a program takes a cell for
 * itself alone. 5.10 runs no atomic that returns a value, so we use none.
 */
#ifndef IOSONAR_BPF_CELL_H
#define IOSONAR_BPF_CELL_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <stdbool.h>

#define inline_always static __always_inline

/* TYPED: the verifier knows a pointer's type, and a field is loaded at once; PLAIN: it is copied.
 * CAST: typed, and what lies behind a request is read through bpf_rdonly_cast. */
enum pointers { PLAIN, TYPED, CAST };

#define field_of(pointers, ptr, field)                      \
	({                                                  \
		typeof((ptr)->field) value_;                \
		if (pointers)                               \
			value_ = (ptr)->field;              \
		else                                        \
			value_ = BPF_CORE_READ(ptr, field); \
		value_;                                     \
	})

/* Cells that user space maps and reads. */
#define TABLE(name, cell, nr)                      \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, nr);           \
		__type(key, __u32);                \
		__type(value, cell);               \
	} name SEC(".maps")

/* Atomic: nesting and other CPUs lose no counts. */
#define count_up(counter)      __sync_fetch_and_add(&(counter), 1)
#define add_to(counter, value) __sync_fetch_and_add(&(counter), (value))
#define fresh(variable)	       (*(volatile typeof(variable) *)&(variable))

/*
 * Takes a free cell, without compare-and-swap: each contender adds its CPU's number, and the one
 * that reads back only its own has the cell. When two meet both may lose: the cell stays unused
 * until user space sweeps it.
 */
inline_always bool cell_claim(__u32 *claim)
{
	__u32 mine = bpf_get_smp_processor_id() + 1;

	if (*claim)
		return false;
	add_to(*claim, mine);
	return fresh(*claim) == mine;
}

/* Held for a moment: a contender that does not get it leaves no trace. */
inline_always bool cell_hold(__u32 *claim, __u32 mine)
{
	add_to(*claim, mine);
	if (fresh(*claim) == mine)
		return true;
	add_to(*claim, -mine);
	return false;
}

inline_always void cell_release(__u32 *claim, __u32 mine)
{
	add_to(*claim, -mine);
}

#endif
