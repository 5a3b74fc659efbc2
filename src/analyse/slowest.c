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
	if (!s->each_device) {
		*count = s->nr;
		return s->nr ? s->nr - 1 : s->nr;
	}
	for (size_t i = 0; i < s->nr; i++)
		if (s->ios[i].device == device) {
			last = i;
			++*count;
		}
	return last;
}

/* Given what slowest_last returned. */
static bool slowest_has_place(const struct slowest *s, uint64_t ns, size_t last, size_t count)
{
	return count < s->most || (s->most && ns > s->ios[last].ns);
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
	size_t count, last = slowest_last(slowest, device, &count), at = 0;
	struct slow_io *io;

	*err = 0;
	if (!slowest_has_place(slowest, ns, last, count))
		return NULL;
	if (count == slowest->most)
		slowest_drop(slowest, last);
	*err = GROW(slowest->ios, slowest->room, slowest->nr + 1);
	if (*err)
		return NULL;
	while (at < slowest->nr && slowest->ios[at].ns >= ns)
		at++;
	memmove(&slowest->ios[at + 1], &slowest->ios[at],
		(slowest->nr - at) * sizeof(*slowest->ios));
	slowest->nr++;
	io = &slowest->ios[at];
	*io = (struct slow_io){ .ns = ns, .device = device };
	memcpy(&io->record, record, sizeof(io->record));
	if (io_record__stages(record))
		memcpy(&io->stages, io_record__stages(record), sizeof(io->stages));
	return io;
}

void slowest__clear(struct slowest *slowest)
{
	while (slowest->nr)
		slowest_drop(slowest, slowest->nr - 1);
}

void slowest__free(struct slowest *slowest)
{
	slowest__clear(slowest);
	free(slowest->ios);
	memset(slowest, 0, sizeof(*slowest));
}
