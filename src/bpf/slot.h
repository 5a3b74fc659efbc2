/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slot.h: the slot of a request, found by its address in an open-addressed array of eight probes.
 */
#ifndef IOSONAR_BPF_SLOT_H
#define IOSONAR_BPF_SLOT_H

#include "bpf/table.h"

/* `at` is a byte offset; the mask keeps it at the start of a cell. */
inline_always struct io_slot *slot_at(const struct tables *t, __u32 at)
{
	return t->slots + (at & setting_of(t, slot_mask));
}

inline_always __u32 slot_home(const void *rq)
{
	return io_hash(low_half(rq)) >> 6;
}

/* The first cell alone, where most searches end. */
inline_always struct io_slot *slot_first(const void *rq)
{
	struct io_slot *slot =
		table_address_here(IO_TABLE_SLOTS) + (slot_home(rq) & told_here(slot_mask));

	if (!slot)
		__builtin_unreachable();
	return slot;
}

/* Does the search end at this cell, with the slot or, at an empty cell, without? */
inline_always bool slot_ends(const struct tables *t, __u32 at, const void *rq,
			     struct io_slot **slot)
{
	*slot = slot_at(t, at);
	if (!*slot) /* it points into a table: no NULL test is needed */
		__builtin_unreachable();
	if ((*slot)->key == (__u64)rq)
		return true;
	if ((*slot)->key || (*slot)->claim)
		return false;
	*slot = 0;
	return true;
}

inline_always struct io_slot *slot_search(const struct tables *t, const void *rq)
{
	const __u32 at = slot_home(rq), next = sizeof(struct io_slot);
	struct io_slot *slot;

	return any_of_probes(slot_ends, t, at, next, rq, &slot) ? slot : 0;
}

/* The slot of this request, or NULL. */
inline_always struct io_slot *slot_find(const struct tables *t, const void *rq)
{
	struct io_slot *slot;

	if (!t->told)
		return slot_search(t, rq);
	slot = slot_first(rq);
	if (__builtin_expect(slot->key == (__u64)rq, 1))
		return slot;
	return slot_search(TABLES_HERE, rq);
}

/* Finds or takes a slot. An empty cell ends the search; a tomb is taken if there is no empty
 * cell. */
inline_always struct io_slot *slot_take(const struct tables *t, const void *rq)
{
	__u32 home = slot_home(rq);
	struct io_slot *slot;

#pragma unroll
	for (__u32 i = 0; i < IO_PROBES; i++) {
		slot = slot_at(t, home + i * sizeof(*slot));
		if (slot->key == (__u64)rq)
			return slot;
		if (!slot->key && cell_claim(&slot->claim)) {
			slot->key = (__u64)rq;
			return slot;
		}
	}
#pragma unroll
	for (__u32 i = 0; i < IO_PROBES; i++) {
		slot = slot_at(t, home + i * sizeof(*slot));
		if (slot->key == IO_TOMB && cell_claim(&slot->claim)) {
			slot->key = (__u64)rq;
			return slot;
		}
	}
	count_up(counters.no_slot);
	return 0;
}

#endif
