/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * row.h: distributions: one row per key and CPU, from a pool that all CPUs share.
 */
#ifndef IOSONAR_BPF_ROW_H
#define IOSONAR_BPF_ROW_H

#include "bpf/table.h"

inline_always struct io_row *row_at(const struct tables *t, __u32 nr)
{
	__u32 at = nr * sizeof(struct io_row);

	if (at > setting_of(t, rows_end))
		return 0;
	return (t->told ? table_address(IO_TABLE_ROWS) : t->rows) + at;
}

/*
 * A row from the CPU's chunk of the pool, or from a new chunk: its number + 1; 0: none is left. An
 * interrupt may take the same row meanwhile: the claim shows it, and the next row is tried.
 */
inline_always __u32 row_take(const struct tables *t, __u32 cpu, __u32 key_nr, bool is_far)
{
	struct io_row *other = row_at(t, cpu), *row;
	__u32 nr;

#pragma unroll
	for (__u32 i = 0; other && i < IO_MAX_DEPTH; i++) {
		nr = other->next;
		if (!(nr & settings.chunk_mask) && bpf_map_pop_elem(&io_chunks, &nr))
			return 0;
		fresh(other->next) = nr + 1;
		row = row_at(t, nr);
		if (row && cell_claim(&row->claim)) {
			row->key_nr = key_nr;
			row->is_far = is_far;
			return nr + 1;
		}
	}
	return 0;
}

/* row_of holds the row number + 1 of each (CPU, key), 0: none yet. Without a row left: `other`. */
inline_always struct io_row *row_find(const struct tables *t, __u32 key_nr)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 at = (cpu * (setting_of(t, key_mask) + 1) + key_nr) * sizeof(__u32);
	__u32 *row_of = t->slots + setting_of(t, row_of_at) + (at & setting_of(t, row_of_mask));

	if (!*row_of)
		*row_of = row_take(t, cpu, key_nr, false) ?: cpu + 1;
	return row_at(t, *row_of - 1);
}

/* far_of holds the row number + 1 of each key. CPUs may race and take two: both are read. */
inline_always struct io_row *row_find_far(const struct tables *t, __u32 key_nr)
{
	__u32 at = key_nr * sizeof(__u32) & setting_of(t, far_of_mask);
	__u32 *far_of = t->slots + setting_of(t, far_of_at) + at;

	if (!*far_of)
		*far_of = row_take(t, bpf_get_smp_processor_id(), key_nr, true);
	return *far_of ? row_at(t, *far_of - 1) : 0;
}

/* A program nested in this one (an interrupt, on 5.10) writes another depth's maximum. */
inline_always void row_max(struct io_row *row, __u64 ns)
{
	__u32 depth = row->depth & (IO_MAX_DEPTH - 1);

	fresh(row->depth) = depth + 1;
	if (ns > row->max_ns[depth])
		fresh(row->max_ns[depth]) = ns;
	fresh(row->depth) = depth;
}

/* A row as words: its head and its cells have one index, as an atomic addition at an offset costs
 * more. */
enum { ROW_WORDS = sizeof(struct io_row) / 4, ROW_HEAD_WORDS = ROW_WORDS - ROW_CELLS };

inline_always void row_add(struct io_row *row, __u32 word)
{
	if (word < ROW_WORDS)
		count_up(((__u32 *)row)[word]);
}

/* The row that the sums belong to. */
inline_always struct io_row *row_count_far(const struct tables *t, struct io_row *row, __u32 key_nr,
					   __u64 ns)
{
	struct io_row *far = row_find_far(t, key_nr);

	if (!far) {
		row = row_at(t, bpf_get_smp_processor_id());
		far = row_at(t, settings.nr_cpus);
	}
	if (far)
		row_add(far, ROW_HEAD_WORDS + row_far_cell(hist_slot(ns)));
	return row;
}

inline_always void row_count(const struct tables *t, __u32 key_nr, __u64 ns, __u32 bytes)
{
	struct io_row *row = row_find(t, key_nr);

	if (!row)
		return;
	if (setting_of(t, zoom))
		row_add(row,
			ROW_HEAD_WORDS + zoom_slot(ns, settings.zoom_min_us, settings.zoom_shift));
	else if (row_is_near(ns))
		row_add(row, row_near_slot(ns) - (ROW_FIRST - ROW_HEAD_WORDS));
	else
		row = row_count_far(t, row, key_nr, ns);
	if (!row)
		return;
	add_to(row->sum_ns, ns);
	add_to(row->bytes, bytes);
	if (ns > row->max_ns[0])
		row_max(row, ns);
}

#endif
