/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cache_request.h: requests under way. A request is one call of a read, splice, write or fault
 * function by one task: which pages of which file it wants. A page that the same task adds to the
 * cache meanwhile is a miss if the request wants it, else it was read ahead. So the request tells
 * misses from read-ahead, whatever code adds the pages; a page of another file is `other`:
 * metadata. Two requests per task, since copying to or from memory can fault.
 */
#ifndef IOSONAR_BPF_CACHE_REQUEST_H
#define IOSONAR_BPF_CACHE_REQUEST_H

#include "bpf/cache_ahead.h"
#include "bpf/cache_event.h"

enum { TASKS_MOST = 8192, BACK_MOST = 1024, TASK_KEYS = 8 };
_Static_assert(NR_CACHE_OPS <= TASK_KEYS, "one for each");

/* first > last: it wants no page, like fadvise. */
struct cache_request {
	struct cached_file file; /* mapping 0: no request */
	__u64 first, last;
	__u64 pos, bytes; /* asked for */
	__u64 iter;	  /* struct iov_iter *: what is left of the bytes */
	__u64 iocb;
	__u64 path;		     /* struct path *, as touch_atime gets it */
	__u64 miss_first, miss_last; /* those of its pages that were added */
	__u64 misses;
	__u64 miss_ns; /* when the first of them was added; with events */
	__u32 op;
	__u32 counted; /* as hits, at its start: its end is not seen */
};

struct cache_fault {
	struct cached_file file;
	__u64 page;
	__u64 miss_ns;	/* 0: no miss */
	__u8 pending;	/* until it ends; a retry is the same fault */
	__u8 is_hit;	/* it was counted as a hit */
	__u8 by_around; /* filemap_map_pages saw it, filemap_fault may follow */
};

/*
 * One task. Another task may take its cell unless it is busy with a request that will be seen to
 * end: one without a visible end must not keep the cell, for the task may have ended.
 */
struct cache_task {
	__u64 task;
	__u32 claim, busy;
	__u32 tid, pad;	       /* where ends are not seen: tells a new task at the same address */
	__u32 keys[TASK_KEYS]; /* remembered, see row_of */
	struct cache_request request;
	struct cache_fault fault;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TASKS_MOST);
	__type(key, __u32);
	__type(value, struct cache_task);
} cache_tasks SEC(".maps");

/* Pages added for a request that ended before it reached them (EAGAIN): a retry with the same
 * kiocb, maybe by another task, counts them as misses. */
struct cache_back {
	__u64 iocb, pos;
	__u64 first, last, nr, miss_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BACK_MOST);
	__type(key, __u32);
	__type(value, struct cache_back);
} cache_backs SEC(".maps");

static __u32 any_back; /* until one is given back, no start has to look */

/* ---- tasks ---- */

inline_always __u32 task_home(__u64 task)
{
	return (task >> 6) * 0x9e3779b97f4a7c15ULL >> 40;
}

inline_always struct cache_task *task_at(__u64 task, __u32 i)
{
	__u32 nr = (task_home(task) + i) & (TASKS_MOST - 1);

	return bpf_map_lookup_elem(&cache_tasks, &nr);
}

inline_always struct cache_task *task_find(__u64 task)
{
#pragma unroll
	for (__u32 i = 0; i < CACHE_PROBES; i++) {
		struct cache_task *t = task_at(task, i);

		if (t && t->task == task)
			return t;
	}
	return 0;
}

inline_always bool task_is_mine(struct cache_task *t, __u64 task, __u32 mine)
{
	bool same;

	if (!cell_hold(&t->claim, mine))
		return false;
	same = t->task == task;
	t->busy |= same;
	cell_release(&t->claim, mine);
	return same;
}

inline_always void task_begin(struct cache_task *t)
{
	t->tid = settings.sees_ends ? 0 : (__u32)bpf_get_current_pid_tgid();
	t->request.file.mapping = 0;
	t->fault.pending = 0;
}

/* UNSEEN: the end of its last request was not seen. */
enum claim { IDLE_ALONE, UNSEEN_TOO };

inline_always bool task_claim(__u64 task, const enum claim which)
{
	__u32 mine = bpf_get_smp_processor_id() + 1;

	for (__u32 i = 0; i < CACHE_PROBES; i++) {
		struct cache_task *t = task_at(task, i);

		if (!t || t->busy || (which == IDLE_ALONE && t->request.file.mapping) ||
		    !cell_hold(&t->claim, mine))
			continue;
		if (!fresh(t->busy)) {
			t->task = task;
			t->busy = 1;
			task_begin(t);
			cell_release(&t->claim, mine);
			return true;
		}
		cell_release(&t->claim, mine);
	}
	return false;
}

/* A function of its own: only a task's first request comes here. */
__attribute__((noinline)) int task_settle(__u64 task)
{
	if (task_claim(task, IDLE_ALONE) || task_claim(task, UNSEEN_TOO))
		return 1;
	count_up(counters.no_task);
	return 0;
}

inline_always bool task_is_same(const struct cache_task *t)
{
	return settings.sees_ends || t->tid == (__u32)bpf_get_current_pid_tgid();
}

/* The task's own cell, which no other task takes while it is busy. */
inline_always struct cache_task *task_take(void)
{
	__u64 task = bpf_get_current_task();
	struct cache_task *t = task_find(task);

	if (t && (t->busy || task_is_mine(t, task, bpf_get_smp_processor_id() + 1))) {
		if (!task_is_same(t))
			task_begin(t);
		return t;
	}
	return task_settle(task) ? task_find(task) : 0;
}

inline_always struct cache_task *task_current(void)
{
	struct cache_task *t = task_find(bpf_get_current_task());

	return t && task_is_same(t) ? t : 0;
}

inline_always void task_leave(struct cache_task *t)
{
	t->request.file.mapping = 0;
	fresh(t->busy) = 0;
}

inline_always struct cache_row *task_row(struct cache_task *t, const struct cached_file *f,
					 enum cache_op op)
{
	__u32 none = 0;

	return row_of(f, op, t ? &t->keys[op & (TASK_KEYS - 1)] : &none);
}

/* ---- requests of read and write ---- */

/* Counts hits; a page that has to be read after all corrects this. */
inline_always void request_count_early(struct cache_task *t, struct cache_request *r)
{
	struct cache_row *row = task_row(t, &r->file, r->op);
	__u64 nr = r->last - r->first + 1, ahead = ahead_use(r->file.mapping, r->first, r->last);

	if (!row)
		return;
	row_add(row, CACHE_ACCESSES, nr);
	row_add(row, CACHE_RA_HITS, ahead);
	row_add(row, CACHE_HITS, nr - ahead);
}

inline_always struct cache_back *back_of(__u64 iocb)
{
	__u32 nr = (iocb >> 6) * 0x9e3779b97f4a7c15ULL >> 54;

	_Static_assert(BACK_MOST == 1 << 10, "as many bits as the hash has");
	return bpf_map_lookup_elem(&cache_backs, &nr);
}

inline_always void request_take_back(struct cache_request *r)
{
	struct cache_back *back = back_of(r->iocb);

	if (!back || !back->nr || back->iocb != r->iocb || back->pos != r->pos)
		return;
	r->misses = back->nr;
	r->miss_ns = back->miss_ns;
	r->miss_first = back->first;
	r->miss_last = back->last;
	back->nr = 0;
}

inline_always void request_give_back(const struct cache_request *r, __u64 pos, __u64 nr)
{
	struct cache_back *back = back_of(r->iocb);

	if (!back || !r->iocb)
		return;
	fresh(any_back) = 1;
	back->iocb = r->iocb;
	back->pos = pos;
	back->first = pos >> settings.page_shift;
	back->last = r->miss_last;
	back->nr = nr;
	back->miss_ns = r->miss_ns;
}

/* What is asked for, from the arguments of a function. */
struct asked {
	struct cached_file file;
	__u64 pos, bytes, size; /* size: of the file, where reads end */
	__u64 iter, iocb, path;
	enum cache_op op;
	bool counted; /* at its start: its end will not be seen */
};

inline_always void request_fill(struct cache_request *r, const struct asked *a)
{
	__u64 end = a->pos + a->bytes;

	if (a->op == CACHE_READ && end > a->size)
		end = a->size;
	r->file = a->file;
	r->first = a->pos >> settings.page_shift;
	r->last = (end - 1) >> settings.page_shift;
	r->pos = a->pos;
	r->bytes = a->bytes;
	r->iter = a->iter;
	r->iocb = a->iocb;
	r->path = a->path;
	r->misses = 0;
	r->op = a->op;
	r->counted = a->counted;
}

inline_always void request_open(const struct asked *a)
{
	struct cache_task *t;

	if (!a->bytes || (a->op == CACHE_READ && a->pos >= a->size))
		return;
	t = task_take();
	if (!t)
		return;
	if (t->request.file.mapping && !t->request.counted)
		count_up(counters.unclosed);
	request_fill(&t->request, a);
	if (!settings.sees_ends)
		t->fault.pending = 0;
	/* Loaded from memory they are numbers, not typed pointers, which cannot be hashed. */
	asm volatile("" : : : "memory");
	if (a->counted) {
		request_count_early(t, &t->request);
		fresh(t->busy) = 0;
	} else if (a->iocb && fresh(any_back)) {
		request_take_back(&t->request);
	}
}

/* Of the pages that were added for it, those that it reached. */
inline_always __u64 request_missed(const struct cache_request *r, __u64 reached, __u64 accesses)
{
	__u64 beyond = r->miss_last > reached ? r->miss_last - reached : 0;

	if (!r->misses || !accesses || reached < r->miss_first || beyond >= r->misses)
		return 0;
	return r->misses - beyond < accesses ? r->misses - beyond : accesses;
}

inline_always void request_tell(const struct cache_request *r, __u64 misses)
{
	const struct missed m = {
		.start_ns = r->miss_ns,
		.page = r->miss_first,
		.nr = misses,
		.op = r->op,
		.ended = true,
	};

	event_send(&r->file, &m);
}

/* done: bytes that were read or written. */
inline_always void request_close(struct cache_task *t, __u64 done)
{
	struct cache_request *r = &t->request;
	__u64 reached = (r->pos + done - 1) >> settings.page_shift;
	__u64 accesses = done ? reached - r->first + 1 : 0, ahead = 0;
	__u64 misses = request_missed(r, reached, accesses);
	struct cache_row *row;

	if (r->misses > misses)
		request_give_back(r, r->pos + done, r->misses - misses);
	row = accesses ? task_row(t, &r->file, r->op) : 0;
	if (row) {
		if (accesses > misses)
			ahead = ahead_use(r->file.mapping, r->first, reached);
		if (ahead > accesses - misses)
			ahead = accesses - misses;
		row_add(row, CACHE_ACCESSES, accesses);
		if (accesses > misses + ahead)
			row_add(row, CACHE_HITS, accesses - misses - ahead);
		if (ahead)
			row_add(row, CACHE_RA_HITS, ahead);
		if (misses) {
			row_add(row, CACHE_MISSES, misses);
			if (r->op == CACHE_WRITE)
				row_add(row, CACHE_ALLOCATED, misses);
		}
	}
	if (settings.events && misses)
		request_tell(r, misses);
	task_leave(t);
}

/* ---- the short way ---- */

/*
 * settings.is_plain: nothing is distinguished, and the usual read finds its cell at the first
 * place, its pages in the cache, and none of them marked. False: nothing was done, the way above is
 * taken.
 */
inline_always struct cache_task *plain_task(__u64 task)
{
	struct cache_task *t = task_at(task, 0);

	return t && t->task == task ? t : 0;
}

inline_always struct cache_request *plain_open(void)
{
	__u64 task = bpf_get_current_task();
	struct cache_task *t = plain_task(task);

	if (!t || t->busy || t->request.file.mapping || fresh(any_back) ||
	    !task_is_mine(t, task, bpf_get_smp_processor_id() + 1))
		return 0;
	return &t->request;
}

inline_always bool plain_is_marked(__u64 mapping, __u64 block)
{
	const struct cache_ahead *cell = ahead_find(mapping, block);

	return cell && cell->nr;
}

inline_always bool plain_close(__u64 left)
{
	struct cache_task *t = plain_task(bpf_get_current_task());
	__u64 first, reached;
	struct cache_request *r;
	struct cache_row *row;
	__u32 cpu;

	if (!t || !t->busy || !t->request.file.mapping || t->request.misses ||
	    t->request.bytes <= left)
		return false;
	r = &t->request;
	first = r->first;
	reached = (r->pos + r->bytes - left - 1) >> settings.page_shift;
	if (first >> AHEAD_SHIFT != reached >> AHEAD_SHIFT ||
	    plain_is_marked(r->file.mapping, first >> AHEAD_SHIFT))
		return false;
	cpu = bpf_get_smp_processor_id();
	row = bpf_map_lookup_elem(&cache_rows, &cpu);
	if (!row)
		return false;
	row_add(row, CACHE_ACCESSES, reached - first + 1);
	row_add(row, CACHE_HITS, reached - first + 1);
	task_leave(t);
	return true;
}

/* ---- faults ---- */

inline_always bool fault_is_same(const struct cache_fault *f, __u64 mapping, __u64 page)
{
	return f->pending && f->file.mapping == mapping && f->page == page;
}

/* filemap_fault, filemap_map_pages */
enum fault_by { BY_FAULT, BY_AROUND };

/*
 * A fault that filemap_map_pages could not serve goes on to filemap_fault; one that had to wait is
 * retried. Where ends are seen, a fault is open until its end; elsewhere `tried` marks a retry.
 * Before 5.12 (f9ce0be71d1f) filemap_map_pages does not return whether it served the fault: then
 * only filemap_fault goes on with it.
 */
inline_always bool fault_goes_on(struct cache_fault *f, __u64 mapping, __u64 page, enum fault_by by,
				 bool tried)
{
	bool same = fault_is_same(f, mapping, page);

	if (settings.sees_ends && (settings.sees_around_ends || !f->by_around))
		return same;
	if (same && f->by_around && by == BY_FAULT) {
		f->by_around = 0;
		return true;
	}
	return tried;
}

inline_always void fault_count(struct cache_task *t, struct cache_fault *f)
{
	struct cache_row *row = task_row(t, &f->file, CACHE_MMAP);
	bool ahead = ahead_use(f->file.mapping, f->page, f->page);

	f->is_hit = !ahead;
	if (!row)
		return;
	row_add(row, CACHE_ACCESSES, 1);
	if (ahead)
		row_add(row, CACHE_RA_HITS, 1);
	else
		row_add(row, CACHE_HITS, 1);
}

inline_always void fault_open(struct vm_fault___cache *vmf, enum fault_by by)
{
	__u64 mapping = fault_mapping(vmf), page = fault_page(vmf);
	struct cached_file file;
	struct cache_task *t;

	if (!mapping || !task_is_wanted())
		return;
	file = file_of(mapping);
	t = file_is_wanted(&file) ? task_take() : 0;
	if (!t)
		return;
	if (!fault_goes_on(&t->fault, mapping, page, by,
			   !settings.sees_ends && fault_is_retried(vmf))) {
		t->fault.file = file;
		t->fault.page = page;
		t->fault.pending = 1;
		t->fault.by_around = by == BY_AROUND;
		t->fault.miss_ns = 0;
		fault_count(t, &t->fault);
	}
	/* Only a request keeps the cell: a fault may be given up without an end. */
	if (!t->request.file.mapping || t->request.counted)
		fresh(t->busy) = 0;
}

inline_always void fault_close(void)
{
	struct cache_task *t = task_current();

	if (!t)
		return;
	t->fault.pending = 0;
	if (settings.events && t->fault.miss_ns) {
		const struct missed m = {
			.start_ns = t->fault.miss_ns,
			.page = t->fault.page,
			.nr = 1,
			.op = CACHE_MMAP,
			.ended = true,
		};

		event_send(&t->fault.file, &m);
		t->fault.miss_ns = 0;
	}
}

#endif
