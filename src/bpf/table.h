/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h: the tables that programs and user space share, and how a program takes a cell of one
 * that no other may take at the same time.
 */
#ifndef IOSONAR_BPF_TABLE_H
#define IOSONAR_BPF_TABLE_H

#include "bpf/request.h"
#include "wire/stage.h"

struct io_counters counters;
__u64 attached_ns = ~0ULL; /* a request allocated before may have been sent before */
__u8 closing;		   /* starts are no longer seen: completions without one mean nothing */

/* Cells that user space maps and reads; all but the last two are sized at load. */
#define TABLE(name, cell, nr)                      \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, nr);           \
		__type(key, __u32);                \
		__type(value, cell);               \
	} name SEC(".maps")

TABLE(io_keys, struct io_key, 1);
TABLE(io_devices, struct io_device, IO_MAX_DEVICES);
TABLE(io_names, struct io_name, IO_MAX_NAMES);

/* The tables of slots and bios once more, for functions that the verifier looks at by themselves:
 * user space puts no address into those. Only with stages. */
TABLE(io_slots, struct io_slot, 1);
TABLE(io_bios, struct io_bio, 1);

/* A ring per CPU: one for all is six times slower with two CPUs. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct ring);
} io_rings SEC(".maps");

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

/* 5.10 runs no atomic that returns a value, so neither do we; nesting and other CPUs lose nothing.
 */
#define count_up(counter)      __sync_fetch_and_add(&(counter), 1)
#define add_to(counter, value) __sync_fetch_and_add(&(counter), (value))
#define fresh(variable)	       (*(volatile typeof(variable) *)&(variable))

/*
 * Takes a free cell, without compare-and-swap: everyone adds his CPU's number, and he who finds
 * only his own has it. When two meet both may lose: the cell stays unused until user space sweeps
 * it.
 */
inline_always bool cell_claim(__u32 *claim)
{
	__u32 mine = bpf_get_smp_processor_id() + 1;

	if (*claim)
		return false;
	add_to(*claim, mine);
	return fresh(*claim) == mine;
}

/* Held for a moment: he who does not get it leaves no trace. */
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

/*
 * The lock of a cell that is filled once. Whoever finds it held goes on to the next cell, so a
 * device or key may get two numbers, which user space adds up. It costs a few hundred instructions,
 * but CPUs that race for the same cells in step cannot spoil them for each other.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, __u64);
} io_locks SEC(".maps");

enum io_lock { LOCK_DEVICE, LOCK_KEY };

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

/* What the hot path keeps in registers. Behind the slots lies row_of: see row_find. */
struct tables {
	const volatile struct io_settings *set;
	void *slots;
};

inline_always struct tables the_tables(void)
{
	return (struct tables){ the_settings(), table_address(IO_MARK_SLOTS) };
}

#endif
