/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cache_event.h: sends each request that missed when it ends; where ends are not seen, at once. One
 * ring for all CPUs: a task that misses waits for a device anyway.
 */
#ifndef IOSONAR_BPF_CACHE_EVENT_H
#define IOSONAR_BPF_CACHE_EVENT_H

#include "bpf/cache_count.h"

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} cache_events SEC(".maps");

struct missed {
	__u64 start_ns, page, nr;
	enum cache_op op;
	bool ended; /* now */
};

inline_always void event_send(const struct cached_file *f, const struct missed *m)
{
	__u64 id = bpf_get_current_pid_tgid();
	__u32 nth = cached_file_nth(f);
	struct cache_event *e;

	count_up(counters.events);
	e = bpf_ringbuf_reserve(&cache_events, sizeof(*e), 0);
	if (!e) {
		count_up(counters.events_lost);
		return;
	}
	e->start_ns = m->start_ns;
	e->end_ns = m->ended ? bpf_ktime_get_ns() : 0;
	e->inode = f->inode;
	e->page = m->page;
	e->dev = f->dev;
	e->pages = m->nr;
	e->pid = id >> 32;
	e->tid = (__u32)id;
	e->op = m->op;
	e->nth = nth;
	e->told = CACHE_TOLD_MISS;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
}

#endif
