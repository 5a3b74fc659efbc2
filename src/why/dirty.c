/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/dirty.h"

#include <string.h>

/* NULL: there are too many. */
static struct dirty_writer *dirty_find(struct dirty *d, uint16_t host, const char *comm)
{
	struct dirty_writer *writer;

	for (size_t i = 0; i < d->nr; i++)
		if (d->writers[i].host == host &&
		    !strncmp(d->writers[i].comm, comm, sizeof(d->writers[i].comm) - 1))
			return &d->writers[i];
	if (d->nr == DIRTY_WRITERS)
		return NULL;
	writer = &d->writers[d->nr++];
	writer->host = host;
	memcpy(writer->comm, comm, strnlen(comm, sizeof(writer->comm) - 1));
	return writer;
}

static void dirty_count(struct dirty_sums *sums, uint64_t nr, uint64_t ns, uint64_t dirty_ns)
{
	sums->nr += nr;
	sums->ns += ns;
	sums->dirty_ns += dirty_ns;
}

void dirty__add(struct dirty *d, uint16_t host, const char *comm, uint64_t ns, uint64_t dirty_ns)
{
	struct dirty_writer *writer = dirty_find(d, host, comm);

	if (!writer) {
		d->left_out++;
		return;
	}
	dirty_ns = dirty_ns < ns ? dirty_ns : ns;
	writer->slowed += dirty_ns != 0;
	dirty_count(&writer->all, 1, ns, dirty_ns);
	dirty_count(&writer->cells[hist_slot(ns) >> 2], 1, ns, dirty_ns);
}

void dirty__finish(struct dirty *d)
{
	for (size_t i = 0; i < d->nr; i++) {
		struct dirty_writer *w = &d->writers[i];

		w->tail = (struct dirty_sums){ 0 };
		for (uint32_t cell = DIRTY_CELLS; cell-- > 0 && w->tail.nr * 100 < w->all.nr;)
			dirty_count(&w->tail, w->cells[cell].nr, w->cells[cell].ns,
				    w->cells[cell].dirty_ns);
	}
}

const struct dirty_writer *dirty__worst(const struct dirty *d, uint16_t host)
{
	const struct dirty_writer *worst = NULL;

	for (size_t i = 0; i < d->nr; i++)
		if (d->writers[i].host == host &&
		    d->writers[i].all.dirty_ns > (worst ? worst->all.dirty_ns : 0))
			worst = &d->writers[i];
	return worst;
}
