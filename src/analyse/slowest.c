/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/slowest.h"

#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

/* The last entry that this device competes with, and their number; nr: none. */
static size_t slowest_last(const struct slowest *s, int32_t device, size_t *count)
{
	size_t last = s->nr;

	*count = 0;
	for (size_t i = 0; i < s->nr; i++)
		if (!s->each_device || s->ios[i].device == device) {
			last = i;
			++*count;
		}
	return last;
}

bool slowest__takes(const struct slowest *slowest, uint64_t ns, int32_t device)
{
	size_t count, last = slowest_last(slowest, device, &count);

	return count < slowest->most || (slowest->most && ns > slowest->ios[last].ns);
}

static void slowest_drop(struct slowest *s, size_t at)
{
	free(s->ios[at].below);
	memmove(&s->ios[at], &s->ios[at + 1], (s->nr - at - 1) * sizeof(*s->ios));
	s->nr--;
}

struct slow_io *slowest__add(struct slowest *slowest, uint64_t ns, int32_t device,
			     const struct io_record *record, int *err)
{
	struct slow_io io = { .ns = ns, .device = device };
	size_t count, last = slowest_last(slowest, device, &count), at = 0;

	*err = 0;
	if (!slowest__takes(slowest, ns, device))
		return NULL;
	if (count == slowest->most)
		slowest_drop(slowest, last);
	*err = GROW(slowest->ios, slowest->room, slowest->nr + 1);
	if (*err)
		return NULL;
	memcpy(&io.record, record, sizeof(io.record));
	if (io_record__stages(record))
		memcpy(&io.stages, io_record__stages(record), sizeof(io.stages));
	while (at < slowest->nr && slowest->ios[at].ns >= ns)
		at++;
	memmove(&slowest->ios[at + 1], &slowest->ios[at],
		(slowest->nr - at) * sizeof(*slowest->ios));
	slowest->ios[at] = io;
	slowest->nr++;
	return &slowest->ios[at];
}

void slowest__free(struct slowest *slowest)
{
	while (slowest->nr)
		slowest_drop(slowest, slowest->nr - 1);
	free(slowest->ios);
	memset(slowest, 0, sizeof(*slowest));
}
