/* SPDX-License-Identifier: BSD-2-Clause */
/* rule_dirty.c: writers are slowed down for dirty pages. Told of its machine's most written disk.
 */
#include <inttypes.h>
#include <stdio.h>
#include "why/rules.h"

enum { DIRTY_FEW = 20 };

static uint64_t dirty_written(const struct facts *facts, int32_t device)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < facts->nr; i++)
		if (facts->groups[i]->key.device == device &&
		    facts->groups[i]->key.class == FACT_WRITE)
			bytes += facts->groups[i]->bytes;
	return bytes;
}

static bool dirty_is_told_for(const struct why_case *c)
{
	const struct fact_device *most = NULL;

	for (size_t i = 0; i < c->facts->nr_devices; i++) {
		const struct fact_device *d = c->facts->devices[i];

		if (d->place.host == c->device->place.host &&
		    (!most ||
		     dirty_written(c->facts, d->device) > dirty_written(c->facts, most->device)))
			most = d;
	}
	return most == c->device;
}

static bool dirty_test(const struct why_case *c, struct why_finding *f)
{
	const struct dirty_writer *w =
		c->facts->dirty ? dirty__worst(c->facts->dirty, c->device->place.host) : NULL;

	if (!w || w->slowed < DIRTY_FEW || !dirty_is_told_for(c))
		return false;
	f->cost_ns = w->all.dirty_ns;
	f->total = why_share(w->all.dirty_ns, w->all.ns);
	f->tail = why_share(w->tail.dirty_ns, w->tail.ns);
	f->affected = w->slowed;
	if (f->total < c->least)
		return false;
	snprintf(f->whose, sizeof(f->whose), "calls of %s", w->comm);
	verdict__say(f, "%s is slowed down: too many pages are dirty", w->comm);
	verdict__prove(f, "%" PRIu64 " of %" PRIu64 " calls of %s that wrote and waited, %s each",
		       w->slowed, w->all.nr, w->comm,
		       why_ns((double)w->all.dirty_ns / (double)w->slowed).text);
	verdict__prove(f, "the disk that is written most took %" PRIu64 " MiB meanwhile",
		       dirty_written(c->facts, c->device->device) >> 20);
	verdict__more(f, "waits", "--comm", w->comm);
	return true;
}

const struct why_rule rule_dirty = { "dirty", false, false, dirty_test, { NULL } };
