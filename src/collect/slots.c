/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t slot_grace_ns = 100000000;     /* no program runs that long */
static const uint64_t slot_dead_ns = 10000000000ULL; /* unused for this long: may be swept */

struct slot_seen {
	uint32_t issued, completed;
	uint32_t claim; /* of a slot without a key when the sweep began */
	bool is_dead;	/* the device of its last command went */
};

int slot_table__init(struct slot_table *table, struct io_slot *slots, uint32_t nr)
{
	memset(table, 0, sizeof(*table));
	table->slots = slots;
	table->nr = nr;
	table->seen = calloc(nr, sizeof(*table->seen));
	return table->seen ? 0 : -ENOMEM;
}

void slot_table__free(struct slot_table *table)
{
	free(table->seen);
	table->seen = NULL;
}

/* The slot at one moment, approximately: programs run while we read. */
static struct io_slot slot_read(const struct io_slot *slot)
{
	struct io_slot copy;

	memcpy(&copy, slot, sizeof(copy));
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return copy;
}

static void slot_take_counts(struct slot_table *table, uint32_t nr, const struct io_slot *slot)
{
	struct slot_seen *seen = &table->seen[nr];

	table->issued += (uint32_t)(slot->issued - seen->issued);
	table->completed += (uint32_t)(slot->completed - seen->completed);
	seen->issued = slot->issued;
	seen->completed = slot->completed;
}

static bool slot_is_settled(const struct io_slot *slot, uint64_t now_ns)
{
	return slot->last_ns + SLOT_SETTLED_NS < now_ns;
}

void slot_table__scan(struct slot_table *table, uint64_t now_ns, struct slot_counts *counts,
		      const struct slot_tells *tells)
{
	static const struct slot_tells none;

	tells = tells ?: &none;
	memset(counts, 0, sizeof(*counts));
	for (uint32_t nr = 0; nr < table->nr; nr++) {
		struct io_slot slot;

		if (table->slots[nr].key <= IO_TOMB)
			continue;
		slot = slot_read(&table->slots[nr]);
		counts->used++;
		slot_take_counts(table, nr, &slot);
		if (slot.state <= IO_IGNORED)
			continue;
		if (slot.state == IO_PARKED && slot_is_settled(&slot, now_ns)) {
			counts->parked++;
			if (tells->parked)
				tells->parked(tells->arg, nr, &slot);
			continue;
		}
		counts->in_flight++;
		if (tells->open)
			tells->open(tells->arg, nr, &slot);
		if (!counts->oldest_ns || slot.first_ns < counts->oldest_ns)
			counts->oldest_ns = slot.first_ns;
	}
}

/* Searches as the programs do: bpf/slot.h. */
bool slot_table__find(const struct slot_table *table, uint64_t request, struct io_slot *slot,
		      uint32_t *nr)
{
	uint32_t home = (io_hash((uint32_t)request) >> 6) / (uint32_t)sizeof(struct io_slot);

	for (uint32_t i = 0; i < IO_PROBES; i++) {
		*nr = (home + i) & (table->nr - 1);
		*slot = slot_read(&table->slots[*nr]);
		if (slot->key == request)
			return true;
		if (!slot->key && !slot->claim)
			return false;
	}
	return false;
}

bool slot_table__is_unsettled(const struct slot_table *table, uint64_t now_ns)
{
	for (uint32_t nr = 0; nr < table->nr; nr++) {
		const struct io_slot *slot = &table->slots[nr];

		if (slot->key > IO_TOMB && slot->state == IO_PARKED &&
		    !slot_is_settled(slot, now_ns))
			return true;
	}
	return false;
}

void slot_table__tell_parked(const struct slot_table *table, uint64_t now_ns, slot_fn fn, void *arg)
{
	for (uint32_t nr = 0; nr < table->nr; nr++) {
		struct io_slot slot;

		if (table->slots[nr].key <= IO_TOMB || table->slots[nr].state != IO_PARKED)
			continue;
		slot = slot_read(&table->slots[nr]);
		if (slot.state == IO_PARKED && slot_is_settled(&slot, now_ns))
			fn(arg, nr, &slot);
	}
}

static void slot_sweep_mark(struct slot_table *table, uint64_t now_ns)
{
	for (uint32_t nr = 0; nr < table->nr; nr++) {
		struct io_slot *slot = &table->slots[nr];

		table->seen[nr].claim = slot->key <= IO_TOMB ? slot->claim : 0;
		if (slot->key > IO_TOMB && slot->state == IO_IDLE &&
		    (table->seen[nr].is_dead || slot->first_ns + slot_dead_ns < now_ns))
			__atomic_fetch_or(&slot->key, IO_SWEEPING, __ATOMIC_SEQ_CST);
	}
}

/* Two CPUs raced for this slot, both lost it and went on: searches still pass it. */
static bool slot_is_burnt(const struct slot_table *table, uint32_t nr)
{
	const struct io_slot *slot = &table->slots[nr];

	return slot->key <= IO_TOMB && table->seen[nr].claim &&
	       slot->claim == table->seen[nr].claim;
}

/* A program that found the slot just before it was marked has opened it by now: unmark it. */
static void slot_sweep_clear(struct slot_table *table)
{
	for (uint32_t nr = 0; nr < table->nr; nr++) {
		struct io_slot *slot = &table->slots[nr];

		if (slot_is_burnt(table, nr)) {
			slot->claim = 0;
			slot->key = IO_TOMB;
		}
		if (!(slot->key & IO_SWEEPING) || slot->key == IO_TOMB)
			continue;
		if (slot->state != IO_IDLE) {
			__atomic_fetch_and(&slot->key, ~(uint64_t)IO_SWEEPING, __ATOMIC_SEQ_CST);
			continue;
		}
		slot_take_counts(table, nr, slot);
		memset(&table->seen[nr], 0, sizeof(table->seen[nr]));
		slot->issued = slot->completed = 0;
		slot->queue = slot->first_ns = slot->alloc_ns = 0;
		slot->state = IO_IDLE;
		slot->claim = 0;
		__atomic_store_n(&slot->key, IO_TOMB, __ATOMIC_SEQ_CST);
	}
}

void slot_table__sweep(struct slot_table *table, uint64_t now_ns, uint64_t used)
{
	if (table->sweep_began_ns) {
		if (now_ns - table->sweep_began_ns < slot_grace_ns)
			return;
		slot_sweep_clear(table);
		table->sweep_began_ns = 0;
	} else if (used > table->nr / 2 || table->some_are_dead) {
		slot_sweep_mark(table, now_ns);
		table->some_are_dead = false;
		table->sweep_began_ns = now_ns;
	}
}

void slot_table__forget_queue(struct slot_table *table, uint64_t queue)
{
	for (uint32_t nr = 0; nr < table->nr; nr++) {
		if (table->slots[nr].queue != queue)
			continue;
		table->slots[nr].queue = 0;
		table->seen[nr].is_dead = table->some_are_dead = true;
	}
}
