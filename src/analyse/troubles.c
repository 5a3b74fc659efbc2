/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/troubles.h"

#include <string.h>
#include "wire/io_tables.h"

static uint64_t trouble_where(const struct io_record *r)
{
	return (uint64_t)r->cdw10[1] << 32 | r->cdw10[0];
}

static struct trouble *troubles_find(struct troubles *all, const struct io_record *r)
{
	for (size_t i = 0; i < all->nr; i++) {
		struct trouble *t = &all->open[i];

		if (t->first_ns == r->first_ns && t->device == r->device &&
		    t->where == trouble_where(r))
			return t;
	}
	return NULL;
}

static void troubles_forget(struct troubles *all, size_t at)
{
	memmove(&all->open[at], &all->open[at + 1], (all->nr - at - 1) * sizeof(all->open[0]));
	all->nr--;
}

static struct trouble trouble_of(const struct io_record *r)
{
	return (struct trouble){ .first_ns = r->first_ns,
				 .where = trouble_where(r),
				 .device = r->device };
}

static struct trouble *troubles_take(struct troubles *all, const struct io_record *r)
{
	struct trouble *t = troubles_find(all, r);

	if (t)
		return t;
	if (all->nr == TROUBLES_MOST)
		troubles_forget(all, 0);
	t = &all->open[all->nr++];
	*t = trouble_of(r);
	return t;
}

static void trouble_try(struct trouble *t, const struct io_record *r)
{
	if (t->nr_tries < TROUBLE_TRIES)
		t->tries[t->nr_tries] =
			(struct trouble_try){ r->last_ns, r->end_ns, r->status, r->cid };
	t->nr_tries++;
}

void troubles__add(struct troubles *all, const struct io_record *r)
{
	switch (r->what) {
	case RECORD_ATTEMPT: trouble_try(troubles_take(all, r), r); break;
	case RECORD_CANCELLED:
	case RECORD_TIMEOUT: troubles_take(all, r)->timed_out = true; break;
	default: break;
	}
}

void troubles__abort(struct troubles *all, const struct io_record *abort, int ctrl)
{
	all->aborts[all->nr_aborts++ % TROUBLE_ABORTS] = (struct trouble_abort){
		.sent_ns = abort->first_ns,
		.ctrl = ctrl,
		.qid = (uint16_t)abort->cdw10[0],
		.cid = (uint16_t)(abort->cdw10[0] >> 16),
	};
}

static bool troubles_was_aborted(const struct troubles *all, const struct io_record *r, int ctrl,
				 uint16_t cid)
{
	size_t nr = all->nr_aborts < TROUBLE_ABORTS ? all->nr_aborts : TROUBLE_ABORTS;

	for (size_t i = 0; i < nr; i++) {
		const struct trouble_abort *a = &all->aborts[i];

		if (a->ctrl == ctrl && a->qid == r->qid && a->cid == cid &&
		    a->sent_ns > r->first_ns && a->sent_ns < r->end_ns)
			return true;
	}
	return false;
}

struct trouble troubles__end(struct troubles *all, const struct io_record *r, int ctrl)
{
	struct trouble *found = troubles_find(all, r), t = found ? *found : trouble_of(r);

	if (found)
		troubles_forget(all, (size_t)(found - all->open));
	if (r->kind != IO_NVME)
		return t;
	t.timed_out |= troubles_was_aborted(all, r, ctrl, r->cid);
	for (uint32_t i = 0; i < t.nr_tries && i < TROUBLE_TRIES; i++)
		t.timed_out |= troubles_was_aborted(all, r, ctrl, t.tries[i].cid);
	return t;
}
