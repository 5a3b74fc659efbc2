/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER_UNIT = 8 }; /* the size of any record is a multiple of it */

struct order_entry {
	uint64_t at_ns;
	uint32_t place; /* in units from the first record */
	uint32_t nth;	/* to arrive */
};

_Static_assert(!(sizeof(struct io_record) % ORDER_UNIT || sizeof(struct io_stages) % ORDER_UNIT),
	       "places are whole");

static const struct io_record *order_record(const struct order *order, uint32_t place)
{
	return (const struct io_record *)(order->held + (size_t)place * ORDER_UNIT);
}

static int order_grow_entries(struct order *order)
{
	size_t room = order->room ? 2 * order->room : 1024;
	struct order_entry *entries = realloc(order->entries, room * sizeof(*entries)), *spare;

	if (!entries)
		return -ENOMEM;
	order->entries = entries;
	spare = realloc(order->spare, room * sizeof(*spare));
	if (!spare)
		return -ENOMEM;
	order->spare = spare;
	order->room = room;
	return 0;
}

/* Room for one more of any size. */
static int order_grow(struct order *order)
{
	size_t room_bytes = order->room_bytes ? 2 * order->room_bytes : 1 << 17;
	char *held;

	if (order->nr == order->room)
		return order_grow_entries(order);
	held = room_bytes / ORDER_UNIT > UINT32_MAX ? NULL : realloc(order->held, room_bytes);
	if (!held)
		return -ENOMEM;
	order->held = held;
	order->room_bytes = room_bytes;
	return 0;
}

static bool order_is_full(const struct order *order)
{
	return order->nr == order->room ||
	       order->room_bytes - order->bytes <
		       sizeof(struct io_record) + sizeof(struct io_stages);
}

int order__add(struct order *order, const struct io_record *record)
{
	int err = 0;

	while (!err && order_is_full(order))
		err = order_grow(order);
	if (err)
		return err;
	memcpy(order->held + order->bytes, record, sizeof(*record));
	order->bytes += sizeof(*record);
	if (record->flags & RECORD_STAGES) {
		memcpy(order->held + order->bytes, io_record__stages(record),
		       sizeof(struct io_stages));
		order->bytes += sizeof(struct io_stages);
	}
	order->nr++;
	return 0;
}

/* Where the run that begins here ends: as long as times do not fall. */
static size_t order_run_end(const struct order_entry *entries, size_t from, size_t nr)
{
	size_t end = from + 1;

	while (end < nr && entries[end - 1].at_ns <= entries[end].at_ns)
		end++;
	return end < nr ? end : nr;
}

static void order_merge(struct order_entry *out, const struct order_entry *in, size_t left,
			size_t right, size_t end)
{
	for (size_t i = left, j = right, k = left; k < end; k++) {
		if (j >= end || (i < right && in[i].at_ns <= in[j].at_ns))
			out[k] = in[i++];
		else
			out[k] = in[j++];
	}
}

/* One pass joins neighbouring runs, two and two. False: there was only one. */
static bool order_pass(struct order *order)
{
	struct order_entry *in = order->entries, *out = order->spare;
	size_t nr = order->nr, left = 0, right = order_run_end(in, 0, nr), end;

	if (right == nr)
		return false;
	for (; left < nr; left = end) {
		right = order_run_end(in, left, nr);
		end = right < nr ? order_run_end(in, right, nr) : nr;
		order_merge(out, in, left, right, end);
	}
	order->entries = out;
	order->spare = in;
	return true;
}

/* Those that stay close up, in the order in which they came. */
static void order_keep(struct order *order, size_t taken)
{
	char *stays = (char *)order->spare; /* 16 times as much as is needed */
	size_t nr = order->nr, from = 0, to = 0;

	memset(stays, 0, nr);
	for (size_t i = taken; i < nr; i++)
		stays[order->entries[i].nth] = 1;
	for (size_t i = 0; i < nr; i++) {
		size_t size = io_record__size((const struct io_record *)(order->held + from));

		if (stays[i]) {
			memmove(order->held + to, order->held + from, size);
			to += size;
		}
		from += size;
	}
	order->nr = nr - taken;
	order->bytes = to;
}

static void order_make_entries(struct order *order)
{
	size_t at = 0;

	for (size_t i = 0; i < order->nr; i++) {
		uint32_t place = (uint32_t)(at / ORDER_UNIT);
		const struct io_record *record = order_record(order, place);

		order->entries[i] =
			(struct order_entry){ io_record__time_ns(record), place, (uint32_t)i };
		at += io_record__size(record);
	}
}

void order__take(struct order *order, uint64_t until_ns, order_fn fn, void *arg)
{
	size_t taken = 0;

	if (!order->nr)
		return;
	order_make_entries(order);
	while (order_pass(order))
		;
	for (; taken < order->nr && order->entries[taken].at_ns < until_ns; taken++)
		fn(arg, order_record(order, order->entries[taken].place));
	if (taken == order->nr)
		order->nr = order->bytes = 0;
	else if (taken)
		order_keep(order, taken);
}

void order__free(struct order *order)
{
	free(order->held);
	free(order->entries);
	free(order->spare);
	memset(order, 0, sizeof(*order));
}
