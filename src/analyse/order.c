/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/order.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct order_entry {
	uint64_t at_ns;
	size_t place;
};

static size_t order_stride(const struct order *order)
{
	return sizeof(struct io_record) + (order->wide ? sizeof(struct io_stages) : 0);
}

static struct io_record *order_at(const struct order *order, size_t place)
{
	return (struct io_record *)(void *)(order->held + place * order_stride(order));
}

static int order_grow(struct order *order)
{
	size_t room = order->room ? 2 * order->room : 1024;
	char *held = realloc(order->held, room * order_stride(order));
	struct order_entry *entries, *spare;

	if (!held)
		return -ENOMEM;
	order->held = held;
	entries = realloc(order->entries, room * sizeof(*entries));
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

int order__add(struct order *order, const struct io_record *record)
{
	int err = order->nr == order->room ? order_grow(order) : 0;

	if (!err)
		memcpy(order_at(order, order->nr++), record, io_record__size(record));
	return err;
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
	size_t to = 0;

	memset(stays, 0, order->nr);
	for (size_t i = taken; i < order->nr; i++)
		stays[order->entries[i].place] = 1;
	for (size_t i = 0; i < order->nr; i++)
		if (stays[i])
			memmove(order_at(order, to++), order_at(order, i), order_stride(order));
	order->nr = to;
}

void order__take(struct order *order, uint64_t until_ns, order_fn fn, void *arg)
{
	size_t taken = 0;

	if (!order->nr)
		return;
	for (size_t i = 0; i < order->nr; i++)
		order->entries[i] =
			(struct order_entry){ io_record__time_ns(order_at(order, i)), i };
	while (order_pass(order))
		;
	for (; taken < order->nr && order->entries[taken].at_ns < until_ns; taken++)
		fn(arg, order_at(order, order->entries[taken].place));
	if (taken == order->nr)
		order->nr = 0;
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
