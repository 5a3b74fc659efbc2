/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * time_queue.c: does the earliest leave first, in whatever order they came? Thousands of entries in
 * order, nearly in order, far from it and backwards, taken while others are added, are compared
 * with a plain search for the earliest; ASan sees to the memory.
 */
#include <stdlib.h>
#include "analyse/time_queue.h"
#include "draw.h"
#include "tap.h"

enum { NR = 5003 };

static bool is_before(const struct waiter *a, const struct waiter *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->from_byte < b->from_byte;
}

/* Takes the earliest out of an unordered array. */
static struct waiter take_plainly(struct waiter *all, size_t *nr)
{
	size_t least = 0;
	struct waiter first;

	for (size_t i = 1; i < *nr; i++)
		if (is_before(&all[i], &all[least]))
			least = i;
	first = all[least];
	all[least] = all[--*nr];
	return first;
}

/* The number of entries that leave as they do from the plain array; the last one, too, is taken. */
static size_t compare(uint64_t step, uint64_t spread, uint64_t most_held)
{
	static struct waiter plain[NR];
	struct time_queue q = { 0 };
	size_t nr = 0, alike = 0;

	for (uint64_t i = 0; i < NR || nr;) {
		/* Of equal times and places none is first: the place is different for each. */
		struct waiter waiter = { .at_ns = (1 << 20) + i * step - draw(spread),
					 .from_byte = i * 7919 % NR,
					 .end_ns = i };

		if (i++ < NR) {
			plain[nr++] = waiter;
			if (time_queue__add(&q, &waiter))
				printf("Bail out! no memory\n");
		}
		while (nr > most_held || (i >= NR && nr)) {
			uint64_t first_ns = time_queue__first(&q)->at_ns;
			struct waiter a = time_queue__take(&q), b = take_plainly(plain, &nr);

			alike += a.end_ns == b.end_ns && first_ns == a.at_ns && q.nr == nr;
		}
	}
	time_queue__free(&q);
	return alike;
}

int main(void)
{
	is_u64(compare(1, 1, 100), NR, "in order");
	is_u64(compare(0, 1, 100), NR, "all at once: by place");
	is_u64(compare(10, 200, 100), NR, "nearly in order");
	is_u64(compare(10, 640, 1000), NR, "about as far apart as those that are near");
	is_u64(compare(10, 100000, 1000), NR, "far from it");
	is_u64(compare((uint64_t)-10, 1, 1000), NR, "backwards");
	is_u64(compare(10, 30000, 0), NR, "none waits");
	is_u64(compare(10, 30000, NR), NR, "all wait");
	return done_testing();
}
