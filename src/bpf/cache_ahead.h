/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cache_ahead.h: pages that were read ahead and are not used yet. A cell holds 64 pages of a file,
 * a byte each, since two CPUs cannot change two bits of one word here. The table is bounded: a page
 * without a place is counted as lost, and its first use is a plain hit.
 */
#ifndef IOSONAR_BPF_CACHE_AHEAD_H
#define IOSONAR_BPF_CACHE_AHEAD_H

#include "bpf/cache_count.h"

enum {
	AHEAD_SHIFT = 6,
	AHEAD_PAGES = 1 << AHEAD_SHIFT,
	AHEAD_BLOCKS = 32, /* per step */
	AHEAD_BLOCKS_SHIFT = AHEAD_SHIFT + 5,
	AHEAD_MOST = 32, /* steps: 64 Ki pages of one request */
	AHEAD_WAYS = CACHE_AHEAD_WAYS,
};

struct cache_ahead {
	__u64 mapping;
	__u64 block; /* index >> AHEAD_SHIFT */
	__u32 nr;    /* of its pages; 0: free, whatever it held */
	__u32 claim;
	__u8 pages[AHEAD_PAGES];
};

/* Where the cells of a block may be: one lookup finds all. */
struct cache_ahead_set {
	struct cache_ahead ways[AHEAD_WAYS];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cache_ahead_set);
} cache_aheads SEC(".maps");

inline_always __u32 ahead_home(__u64 mapping, __u64 block)
{
	return ((mapping >> 3) * 0x9e3779b97f4a7c15ULL ^ block * 0xd6e8feb86659fd93ULL) >> 40;
}

inline_always struct cache_ahead_set *ahead_set(__u64 mapping, __u64 block)
{
	__u32 nr = ahead_home(mapping, block) & settings.ra_mask;

	return bpf_map_lookup_elem(&cache_aheads, &nr);
}

inline_always bool ahead_is(const struct cache_ahead *cell, __u64 mapping, __u64 block)
{
	return cell->mapping == mapping && cell->block == block;
}

inline_always struct cache_ahead *ahead_in(struct cache_ahead_set *set, __u64 mapping, __u64 block)
{
#pragma unroll
	for (__u32 i = 0; i < AHEAD_WAYS; i++)
		if (ahead_is(&set->ways[i], mapping, block))
			return &set->ways[i];
	return 0;
}

inline_always struct cache_ahead *ahead_find(__u64 mapping, __u64 block)
{
	struct cache_ahead_set *set = ahead_set(mapping, block);

	return set ? ahead_in(set, mapping, block) : 0;
}

inline_always struct cache_ahead *ahead_take(__u64 mapping, __u64 block, __u32 mine)
{
	struct cache_ahead_set *set = ahead_set(mapping, block);
	struct cache_ahead *cell = set ? ahead_in(set, mapping, block) : 0;

	if (cell && cell_hold(&cell->claim, mine)) {
		if (ahead_is(cell, mapping, block))
			return cell;
		cell_release(&cell->claim, mine);
	}
#pragma unroll
	for (__u32 i = 0; i < AHEAD_WAYS && set; i++) {
		cell = &set->ways[i];
		if (fresh(cell->nr) || !cell_hold(&cell->claim, mine))
			continue;
		if (!fresh(cell->nr)) {
			cell->mapping = mapping;
			cell->block = block;
			return cell;
		}
		cell_release(&cell->claim, mine);
	}
	return 0;
}

/* Marks pages first..last, all of one block, as present and unused. */
__attribute__((noinline)) int ahead_note_block(__u64 mapping, __u64 first, __u64 last)
{
	__u32 mine = bpf_get_smp_processor_id() + 1, nr = last - first + 1;
	struct cache_ahead *cell = ahead_take(mapping, first >> AHEAD_SHIFT, mine);

	if (!cell) {
		add_to(counters.ra_lost, nr);
		return 0;
	}
	for (__u32 i = 0; i < AHEAD_PAGES && i < nr; i++) {
		__u8 *page = &cell->pages[(first + i) & (AHEAD_PAGES - 1)];

		if (*page)
			continue;
		*page = 1;
		add_to(cell->nr, 1);
	}
	cell_release(&cell->claim, mine);
	return 0;
}

/* Returns how many of these pages were present and unused; marks them used. */
__attribute__((noinline)) int ahead_use_block(__u64 mapping, __u64 first, __u64 last)
{
	struct cache_ahead *cell = ahead_find(mapping, first >> AHEAD_SHIFT);
	__u32 asked = last - first + 1;
	int nr = 0;

	if (!cell || !cell->nr)
		return 0;
	for (__u32 i = 0; i < AHEAD_PAGES && i < asked; i++) {
		__u8 *page = &cell->pages[(first + i) & (AHEAD_PAGES - 1)];

		if (!*page)
			continue;
		*page = 0;
		add_to(cell->nr, -1);
		nr++;
	}
	return nr;
}

/*
 * Many pages in pieces of 1 << shift, at most `most`. Two steps, each a separate function: the
 * verifier walks every iteration of a loop, and would take ten times as long for a single loop.
 */
#define AHEAD_EACH(piece_fn, shift, most, mapping, first, last)                        \
	({                                                                             \
		__u64 at_ = (first), sum_ = 0;                                         \
		for (__u32 i_ = 0; i_ < (most) && at_ <= (last); i_++) {               \
			__u64 end_ = at_ | ((1ULL << (shift)) - 1);                    \
			sum_ += piece_fn(mapping, at_, end_ < (last) ? end_ : (last)); \
			at_ = end_ + 1;                                                \
		}                                                                      \
		if (at_ <= (last))                                                     \
			add_to(counters.ra_lost, (last)-at_ + 1);                      \
		sum_;                                                                  \
	})

__attribute__((noinline)) int ahead_note_blocks(__u64 mapping, __u64 first, __u64 last)
{
	AHEAD_EACH(ahead_note_block, AHEAD_SHIFT, AHEAD_BLOCKS, mapping, first, last);
	return 0;
}

__attribute__((noinline)) int ahead_note(__u64 mapping, __u64 first, __u64 last)
{
	AHEAD_EACH(ahead_note_blocks, AHEAD_BLOCKS_SHIFT, AHEAD_MOST, mapping, first, last);
	return 0;
}

__attribute__((noinline)) int ahead_use_blocks(__u64 mapping, __u64 first, __u64 last)
{
	return AHEAD_EACH(ahead_use_block, AHEAD_SHIFT, AHEAD_BLOCKS, mapping, first, last);
}

__attribute__((noinline)) int ahead_use(__u64 mapping, __u64 first, __u64 last)
{
	if (first >> AHEAD_SHIFT == last >> AHEAD_SHIFT) /* most requests are small */
		return ahead_use_block(mapping, first, last);
	return AHEAD_EACH(ahead_use_blocks, AHEAD_BLOCKS_SHIFT, AHEAD_MOST, mapping, first, last);
}

#endif
