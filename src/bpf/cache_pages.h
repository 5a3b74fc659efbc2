/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cache_pages.h: pages that are added (for which request?), removed, dirtied, written back. The
 * task's request (cache_request.h) tells why a page is added; a page that is added outside a
 * request is counted for none.
 */
#ifndef IOSONAR_BPF_CACHE_PAGES_H
#define IOSONAR_BPF_CACHE_PAGES_H

#include "bpf/cache_request.h"

inline_always __u64 overlap(const struct pages *p, __u64 first, __u64 last)
{
	__u64 end = p->first + p->nr - 1;
	__u64 from = p->first > first ? p->first : first, to = end < last ? end : last;

	return from <= to ? to - from + 1 : 0;
}

inline_always void added_ahead(struct cache_row *row, const struct pages *p, __u64 nr)
{
	row_add(row, CACHE_RA, nr);
	ahead_note(p->mapping, p->first, p->first + p->nr - 1);
}

inline_always void tell_now(const struct cached_file *f, enum cache_op op, __u64 page, __u64 nr)
{
	const struct missed m = {
		.start_ns = bpf_ktime_get_ns(),
		.page = page,
		.nr = nr,
		.op = op,
	};

	event_send(f, &m);
}

inline_always void fault_missed(struct cache_fault *f)
{
	if (!settings.events)
		return;
	if (settings.sees_ends)
		f->miss_ns = bpf_ktime_get_ns();
	else
		tell_now(&f->file, CACHE_MMAP, f->page, 1);
}

inline_always void added_for_fault(struct cache_task *t, const struct pages *p)
{
	struct cache_row *row = task_row(t, &t->fault.file, CACHE_MMAP);

	if (!row)
		return;
	row_add(row, CACHE_ADDED, p->nr);
	if (t->fault.is_hit) {
		row_add(row, CACHE_DEMANDED, 1);
		row_add(row, CACHE_MISSES, 1);
		row_add(row, CACHE_HITS_BACK, 1);
		fault_missed(&t->fault);
	} else { /* counted as a miss already, and the page was gone again */
		row_add(row, CACHE_OTHER, 1);
	}
	if (p->nr > 1)
		added_ahead(row, p, p->nr - 1);
	if (p->nr > 1)
		ahead_use(p->mapping, t->fault.page, t->fault.page);
	t->fault.is_hit = 0;
}

inline_always void request_note_misses(struct cache_request *r, const struct pages *p, __u64 nr)
{
	__u64 first = p->first > r->first ? p->first : r->first;

	if (settings.events && !r->misses)
		r->miss_ns = bpf_ktime_get_ns();
	if (!r->misses || first < r->miss_first)
		r->miss_first = first;
	if (!r->misses || first + nr - 1 > r->miss_last)
		r->miss_last = first + nr - 1;
	r->misses += nr;
}

inline_always void row_count_late(struct cache_row *row, const struct cache_request *r, __u64 nr)
{
	row_add(row, CACHE_MISSES, nr);
	row_add(row, CACHE_HITS_BACK, nr);
	if (r->op == CACHE_WRITE)
		row_add(row, CACHE_ALLOCATED, nr);
}

inline_always void added_for_request(struct cache_task *t, const struct pages *p)
{
	struct cache_request *r = &t->request;
	struct cache_row *row = task_row(t, &r->file, r->op);
	__u64 nr = overlap(p, r->first, r->last);

	if (!row)
		return;
	row_add(row, CACHE_ADDED, p->nr);
	if (nr) {
		row_add(row, CACHE_DEMANDED, nr);
		if (r->counted)
			row_count_late(row, r, nr);
		else
			request_note_misses(r, p, nr);
		if (settings.events && r->counted)
			tell_now(&r->file, r->op, p->first > r->first ? p->first : r->first, nr);
	}
	if (nr < p->nr)
		added_ahead(row, p, p->nr - nr);
	if (nr && nr < p->nr) {
		__u64 first = p->first > r->first ? p->first : r->first;

		ahead_use(p->mapping, first, first + nr - 1);
	}
}

/* Added for no access that we see. */
inline_always void added_for_nobody(struct cache_task *t, const struct pages *p)
{
	struct cached_file file;
	struct cache_row *row;

	if (!task_is_wanted())
		return;
	file = file_of(p->mapping);
	if (!file_is_wanted(&file))
		return;
	row = task_row(t, &file, CACHE_NO_OP);
	if (!row)
		return;
	row_add(row, CACHE_ADDED, p->nr);
	row_add(row, CACHE_OTHER, p->nr);
}

inline_always void pages_added(const struct pages *p)
{
	struct cache_task *t = settings.sees_accesses ? task_current() : 0;

	if (t && t->fault.pending && t->fault.file.mapping == p->mapping &&
	    overlap(p, t->fault.page, t->fault.page))
		added_for_fault(t, p);
	else if (t && t->request.file.mapping == p->mapping)
		added_for_request(t, p);
	else if (t && t->fault.pending && t->fault.file.mapping == p->mapping) {
		struct cache_row *row = task_row(t, &t->fault.file, CACHE_MMAP);

		if (row) {
			row_add(row, CACHE_ADDED, p->nr);
			added_ahead(row, p, p->nr);
		}
	} else
		added_for_nobody(t, p);
}

/* Counted for the current task, whatever the file is. */
inline_always struct cache_row *row_of_pages(const struct pages *p, enum cache_op op,
					     struct cache_task *t)
{
	struct cached_file file;

	if (!p->mapping || !task_is_wanted())
		return 0;
	file = file_of(p->mapping);
	return file_is_wanted(&file) ? task_row(t, &file, op) : 0;
}

inline_always void pages_removed(const struct pages *p)
{
	__u64 unused =
		settings.sees_accesses ? ahead_use(p->mapping, p->first, p->first + p->nr - 1) : 0;
	struct cache_row *row = row_of_pages(p, CACHE_NO_OP, 0);

	if (!row)
		return;
	row_add(row, CACHE_REMOVED, p->nr);
	row_add(row, pages_are_truncated(p, settings.page_shift) ? CACHE_TRUNCATED : CACHE_EVICTED,
		p->nr);
	if (unused)
		row_add(row, CACHE_UNUSED, unused);
}

inline_always void pages_dirtied(const struct pages *p)
{
	struct cache_task *t = settings.sees_accesses ? task_current() : 0;
	enum cache_op op = CACHE_NO_OP;
	struct cache_row *row;

	if (t && t->request.op == CACHE_WRITE && t->request.file.mapping == p->mapping)
		op = CACHE_WRITE;
	else if (t && t->fault.file.mapping == p->mapping)
		op = CACHE_MMAP;
	row = row_of_pages(p, op, 0);
	if (row)
		row_add(row, CACHE_DIRTIED, p->nr);
}

inline_always void pages_written(const struct pages *p)
{
	struct cache_row *row = row_of_pages(p, CACHE_NO_OP, 0);

	if (row)
		row_add(row, CACHE_WRITTEN, p->nr);
}

#endif
