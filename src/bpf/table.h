/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h: the tables that the io programs and user space share, and the lock of a cell that is
 * filled once.
 */
#ifndef IOSONAR_BPF_TABLE_H
#define IOSONAR_BPF_TABLE_H

#include "bpf/cell.h"
#include "bpf/request.h"
#include "bpf/ring.h"
#include "wire/io_stages.h"

struct io_counters counters;
/* A request allocated earlier may have been sent before: NVMe; other disks, whose programs may be
 * attached when the first of them appears. */
__u64 attached_ns = ~0ULL, block_attached_ns = ~0ULL;
__u8 closing; /* starts are no longer seen: completions without one mean nothing */

/* All but the last two are sized at load. */
TABLE(io_keys, struct io_key, 1);
TABLE(io_devices, struct io_device, IO_MAX_DEVICES);
TABLE(io_names, struct io_name, IO_MAX_NAMES);

/* The tables of slots, bios and rows again, for functions that the verifier checks separately:
 * user space puts no addresses into those. Only with stages. */
TABLE(io_slots, struct io_slot, 1);
TABLE(io_bios, struct io_bio, 1);
TABLE(io_rows, struct io_row, 1);

/* The first rows of chunks that no CPU has taken. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__type(value, __u32);
} io_chunks SEC(".maps");

/* The kernel numbers stacks; those that were sent are marked. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, IO_MAX_STACKS);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, STACK_FRAMES * sizeof(__u64));
} io_stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, IO_MAX_STACKS);
	__type(key, __u32);
	__type(value, __u32);
} io_stacks_sent SEC(".maps");

struct io_slow slow;

/*
 * The lock of a cell that is filled once. A program that finds it held goes on to the next cell, so
 * a device or key may get two numbers, which user space adds up. It costs a few hundred
 * instructions, but CPUs that race for the same cells in step cannot spoil them for each other.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, __u64);
} io_locks SEC(".maps");

enum io_lock { LOCK_DEVICE, LOCK_KEY, LOCK_FAILURE };

inline_always bool cell_lock(enum io_lock which, __u32 nr)
{
	__u64 key = (__u64)which << 32 | nr;

	return !bpf_map_update_elem(&io_locks, &key, &key, BPF_NOEXIST);
}

inline_always void cell_unlock(enum io_lock which, __u32 nr)
{
	__u64 key = (__u64)which << 32 | nr;

	bpf_map_delete_elem(&io_locks, &key);
}

/* What the hot path keeps in registers. row_of lies behind the slots: see row_find. */
struct tables {
	void *slots;
	bool cells; /* the kernel runs what cells.h needs */
	bool told;  /* settings and other addresses are constants in instructions; else: */
	void *bios, *rows;
};

#define MY_TABLES (&(const struct tables){ .slots = table_address(IO_TABLE_SLOTS), .told = true })

#define TABLES_HERE                                          \
	(&(const struct tables){                             \
		.slots = table_address_here(IO_TABLE_SLOTS), \
		.told = true,                                \
	})

/* For programs that only kernels with bpf_rdonly_cast load. */
#define MY_TABLES_AND_CELLS                             \
	(&(const struct tables){                        \
		.slots = table_address(IO_TABLE_SLOTS), \
		.cells = true,                          \
		.told = true,                           \
	})

inline_always struct tables the_tables(void)
{
	return *MY_TABLES;
}

/* The same in a function that the verifier checks separately: looks up the tables' maps. */
inline_always struct tables tables_of(void *slots, void *bios, void *rows)
{
	return (struct tables){ .slots = slots, .bios = bios, .rows = rows };
}

/* Read where it is used, not earlier: the compiler would keep it on the stack. */
#define setting_of(t, field) ((t)->told ? told(field) : settings.field)

/* Tests all probed cells. Written out: clang does not unroll it, and 5.10 refuses the loop. */
#define any_of_probes(is_it, t, at, next, key, cell)                                         \
	(is_it(t, at, key, cell) || is_it(t, (at) + (next), key, cell) ||                    \
	 is_it(t, (at) + 2 * (next), key, cell) || is_it(t, (at) + 3 * (next), key, cell) || \
	 is_it(t, (at) + 4 * (next), key, cell) || is_it(t, (at) + 5 * (next), key, cell) || \
	 is_it(t, (at) + 6 * (next), key, cell) || is_it(t, (at) + 7 * (next), key, cell))
_Static_assert(IO_PROBES == 8, "as many as there are");

#endif
