/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

enum {
	ORDER_UNIT = 8, /* every record size is a multiple of it */
	ORDER_LEAST_BYTES = 1 << 17
};

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

/* Makes room for one more record of any size. */
static int order_grow(struct order *order)
{
	size_t room_bytes = order->room_bytes ? 2 * order->room_bytes : ORDER_LEAST_BYTES;
	size_t room = order->room;

	if (order->nr == order->room)
		return GROW(order->entries, room, order->nr + 1)
			       ?: GROW(order->spare, order->room, order->nr + 1);
	if (room_bytes / ORDER_UNIT > UINT32_MAX || grow__to(&order->held, room_bytes, 1))
		return -ENOMEM;
	order->room_bytes = room_bytes;
	return 0;
}

/* Copies it to the end; the caller made room. */
static void order_append(struct order *order, const struct io_record *record)
{
	struct io_record *to = (struct io_record *)(order->held + order->bytes);

	order->entries[order->nr] = (struct order_entry){
		.at_ns = io_record__time_ns(record),
		.place = (uint32_t)(order->bytes / ORDER_UNIT),
		.nth = (uint32_t)order->nr,
	};
	*to = *record;
	if (record->flags & RECORD_STAGES)
		*(struct io_stages *)(to + 1) = *io_record__stages(record);
	order->bytes += io_record__size(record);
	order->nr++;
}

int order__add(struct order *order, const struct io_record *record)
{
	int err = 0;

	while (!err && (order->nr == order->room ||
			order->room_bytes - order->bytes < sizeof(struct record_with_stages)))
		err = order_grow(order);
	if (!err)
		order_append(order, record);
	return err;
}

/* End of the run that begins here: a run lasts while times do not fall. */
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

/* One pass joins neighbouring runs in pairs. False: there was only one run. */
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

/*
 * The remaining records close up, in order of arrival, which one pass finds without sorting. A
 * record never moves up, so a copy does not overwrite a later one.
 */
static void order_keep(struct order *order, size_t taken)
{
	uint32_t *places = (uint32_t *)order->spare; /* by arrival; fills a quarter of the room */
	size_t nr = order->nr;

	memset(places, 0xff, nr * sizeof(*places));
	for (size_t i = taken; i < nr; i++)
		places[order->entries[i].nth] = order->entries[i].place;
	order->nr = order->bytes = 0;
	for (size_t i = 0; i < nr; i++) {
		struct record_with_stages copy;

		if (places[i] == UINT32_MAX)
			continue;
		copy.record = *order_record(order, places[i]);
		if (copy.record.flags & RECORD_STAGES)
			copy.stages = *io_record__stages(order_record(order, places[i]));
		order_append(order, &copy.record);
	}
}

/*
 * A process that got no turn finds its rings full: 8 MiB on two CPUs, where 100 KiB are usual. Such
 * room goes back when it was not needed for some time. Without memory it stays.
 */
static void order_shrink(struct order *order)
{
	const size_t bytes = 2 * order->most_bytes + ORDER_LEAST_BYTES,
		     room = 2 * order->most_nr + 1;

	order->takes = 0;
	order->most_bytes = order->most_nr = 0;
	if (order->room_bytes < 4 * bytes || order->room < room)
		return;
	if (!grow__to(&order->held, bytes, 1))
		order->room_bytes = bytes;
	order->room = room; /* of two arrays; one may be larger */
	if (!grow__to(&order->entries, room, sizeof(*order->entries)) &&
	    !grow__to(&order->spare, room, sizeof(*order->spare)))
		grow__release();
}

static void order_look(struct order *order)
{
	if (order->bytes > order->most_bytes)
		order->most_bytes = order->bytes;
	if (order->nr > order->most_nr)
		order->most_nr = order->nr;
	if (++order->takes == ORDER_TAKES)
		order_shrink(order);
}

void order__take(struct order *order, uint64_t until_ns, order_fn fn, void *arg)
{
	size_t taken = 0;

	order_look(order);
	if (!order->nr)
		return;
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
