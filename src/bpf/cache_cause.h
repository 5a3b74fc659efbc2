/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cache_cause.h: why is the disk read? A bio that fills pages of a file is submitted while the
 * task's request is under way: mapping and offset tell which of its pages were asked for, and which
 * are read ahead. This is noted until the command that carries the bio ends. Only with --then-io; a
 * few lookups per bio. If another task submits the bio (dm-crypt), the request is unknown: then the
 * op is none.
 */
#ifndef IOSONAR_BPF_CACHE_CAUSE_H
#define IOSONAR_BPF_CACHE_CAUSE_H

#include "bpf/cache_pages.h"

enum { CAUSES_MOST = 16384, CAUSE_BIOS = 64 };

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, CAUSES_MOST);
	__type(key, __u64); /* struct bio *: what is known before it ends */
	__type(value, struct cache_command);
} cache_causes SEC(".maps");

/* Which access are the pages for? Sets op and missed. */
inline_always void cause_find_access(struct cache_command *c, const struct pages *p)
{
	struct cache_task *t = task_current();
	bool faults = t && t->fault.pending && t->fault.file.mapping == p->mapping;
	bool asks = t && t->request.file.mapping == p->mapping;

	c->event.op = CACHE_NO_OP;
	c->missed = 0;
	if (faults && overlap(p, t->fault.page, t->fault.page)) {
		c->event.op = CACHE_MMAP;
		c->missed = 1;
	} else if (asks) {
		c->event.op = t->request.op;
		c->missed = overlap(p, t->request.first, t->request.last);
	} else if (faults) {
		c->event.op = CACHE_MMAP;
	}
}

inline_always void cause_fill(struct cache_command *c, const struct cached_file *f,
			      const struct pages *p)
{
	__u64 id = bpf_get_current_pid_tgid();

	__builtin_memset(c, 0, sizeof(*c));
	c->event.start_ns = bpf_ktime_get_ns();
	c->event.inode = f->inode;
	c->event.page = p->first;
	c->event.dev = f->dev;
	c->event.pages = p->nr;
	c->event.pid = id >> 32;
	c->event.tid = (__u32)id;
	c->event.nth = cached_file_nth(f);
	c->event.told = CACHE_TOLD_COMMAND;
	bpf_get_current_comm(c->event.comm, sizeof(c->event.comm));
	cause_find_access(c, p);
}

/* The verifier checks it separately: the bio is passed as a number. */
__attribute__((noinline)) int cause_note(__u64 bio)
{
	struct cache_command c;
	struct cached_file file;
	struct pages p;

	if (!bio_fills_pages((void *)bio) || !task_is_wanted())
		return 0;
	p = bio_pages((void *)bio, settings.page_shift);
	if (!p.mapping)
		return 0;
	file = file_of(p.mapping);
	if (!file_is_wanted(&file))
		return 0;
	cause_fill(&c, &file, &p);
	if (bpf_map_update_elem(&cache_causes, &bio, &c, BPF_ANY))
		count_up(counters.no_cause);
	return 0;
}

/* The front part is now a bio of its own, the rest is shorter: each is noted with its own pages. */
inline_always int cause_split(struct bio *front)
{
	__u64 rest = (__u64)BPF_CORE_READ(front, bi_private);

	if (!bpf_map_lookup_elem(&cache_causes, &rest))
		return 0;
	cause_note((__u64)front);
	return cause_note(rest);
}

inline_always int cause_issued(struct request *rq)
{
	struct bio *bio = BPF_CORE_READ(rq, bio);
	__u64 now = bpf_ktime_get_ns();

	for (__u32 i = 0; i < CAUSE_BIOS && bio; i++) {
		__u64 key = (__u64)bio;
		struct cache_command *cause = bpf_map_lookup_elem(&cache_causes, &key);

		if (cause)
			cause->issued_ns = now;
		bio = BPF_CORE_READ(bio, bi_next);
	}
	return 0;
}

/* The command, which is the same for all its bios. */
struct carrier {
	__u64 sector;
	__u32 bytes, disk;
	bool failed;
};

inline_always void cause_tell(struct cache_command *cause, struct bio *bio,
			      const struct carrier *carrier)
{
	struct cache_command *c;

	cause->event.end_ns = bpf_ktime_get_ns();
	cause->sector = BPF_CORE_READ(bio, bi_iter.bi_sector);
	cause->bytes = BPF_CORE_READ(bio, bi_iter.bi_size);
	cause->command_sector = carrier->sector;
	cause->command_bytes = carrier->bytes;
	cause->disk = carrier->disk;
	cause->failed = carrier->failed;
	count_up(counters.events);
	c = bpf_ringbuf_reserve(&cache_events, sizeof(*c), 0);
	if (!c) {
		count_up(counters.events_lost);
		return;
	}
	*c = *cause;
	bpf_ringbuf_submit(c, BPF_RB_NO_WAKEUP);
}

/* Reports those bios of the request that end with its first `bytes` bytes. */
inline_always int cause_ended(struct request *rq, bool failed, __u32 bytes)
{
	struct carrier carrier = {
		.sector = BPF_CORE_READ(rq, __sector),
		.bytes = BPF_CORE_READ(rq, __data_len),
		.disk = request_disk(rq),
		.failed = failed,
	};
	struct bio *bio = BPF_CORE_READ(rq, bio);
	__u32 i;

	for (i = 0; i < CAUSE_BIOS && bio; i++) {
		__u64 key = (__u64)bio;
		struct cache_command *cause = bpf_map_lookup_elem(&cache_causes, &key);
		__u32 size = BPF_CORE_READ(bio, bi_iter.bi_size);

		if (bytes < size)
			break;
		bytes -= size;
		if (cause) {
			cause_tell(cause, bio, &carrier);
			bpf_map_delete_elem(&cache_causes, &key);
		}
		bio = BPF_CORE_READ(bio, bi_next);
	}
	if (i == CAUSE_BIOS && bio)
		count_up(counters.no_cause);
	return 0;
}

/* A bio that no command carried: of a volume (its parts were reported), or one that failed
 * before. */
inline_always int cause_forget(struct bio *bio)
{
	__u64 key = (__u64)bio;

	bpf_map_delete_elem(&cache_causes, &key);
	return 0;
}

#endif
