/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * row.h: distributions: one row per key and CPU, from that CPU's part of a pool.
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
 * A row from the CPU's part of the pool; when that is used up, its row `other`. An interrupt may
 * take the same row meanwhile: the claim shows it, and the next row is tried.
 */
inline_always __u32 row_take(const struct tables *t, __u32 cpu, __u32 key_nr, __u32 *row_of)
{
	struct io_row *other = row_at(t, cpu), *row;
	__u32 first = settings.nr_cpus + cpu * settings.cpu_rows, taken;

#pragma unroll
	for (__u32 i = 0; other && i < IO_MAX_DEPTH; i++) {
		taken = other->next;
		if (taken >= settings.cpu_rows)
			break;
		fresh(other->next) = taken + 1;
		row = row_at(t, first + taken);
		if (row && cell_claim(&row->claim)) {
			row->key_nr = key_nr;
			*row_of = first + taken + 1;
			return first + taken;
		}
	}
	if (key_nr) /* 0 was counted when no key was left */
		count_up(counters.row_other);
	return cpu;
}

/* row_of holds the row number + 1 of each (CPU, key), 0: none yet. */
inline_always struct io_row *row_find(const struct tables *t, __u32 key_nr)
{
	__u32 cpu = bpf_get_smp_processor_id();
	__u32 at = (cpu * (setting_of(t, key_mask) + 1) + key_nr) * sizeof(__u32);
	__u32 *row_of = t->slots + setting_of(t, row_of_at) + (at & setting_of(t, row_of_mask));

	return row_at(t, *row_of ? *row_of - 1 : row_take(t, cpu, key_nr, row_of));
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

inline_always void row_count(const struct tables *t, __u32 key_nr, __u64 ns, __u32 bytes)
{
	struct io_row *row = row_find(t, key_nr);
	__u32 cell = setting_of(t, zoom) ? zoom_slot(ns, settings.zoom_min_us, settings.zoom_shift)
					 : hist_slot(ns);

	if (!row)
		return;
	if (cell >= HIST_CELLS)
		cell = HIST_OVER;
	count_up(row->cells[cell]);
	add_to(row->sum_ns, ns);
	add_to(row->bytes, bytes);
	if (ns > row->max_ns[0])
		row_max(row, ns);
}

#endif
