// SPDX-License-Identifier: GPL-2.0-only
/*
 * cache.bpf.c: does the page cache help? Requests are seen at the functions that serve them, pages
 * at the tracepoints where they are added and removed. Each function has a program for fentry and
 * one for kprobes, for kernels without fentry; the kernel's features decide which are loaded. Costs
 * two short programs per request, whatever its size, and one per folio that is added, removed or
 * dirtied. It cannot see an access through a mapping that does not fault.
 */
#include "bpf/cache_cause.h"

char LICENSE[] SEC("license") = "GPL";

#define CONTEXT unsigned long long *ctx

/* ---- what a function was asked ---- */

inline_always bool is_wanted(const struct asked *a)
{
	return task_is_wanted() && file_is_wanted(&a->file);
}

inline_always void ask(struct kiocb___cache *iocb, struct iov_iter___cache *iter, enum cache_op op,
		       const enum pointers pointers)
{
	struct file___cache *file = field_of(pointers, iocb, ki_filp);
	struct address_space___cache *mapping = field_of(pointers, file, f_mapping);
	struct asked a = { .op = op, .iter = (__u64)iter, .iocb = (__u64)iocb };
	struct inode___cache *host = field_of(pointers, mapping, host);

	a.file = file_in(mapping, settings.tells_files, pointers);
	a.pos = field_of(pointers, iocb, ki_pos);
	a.bytes = field_of(pointers, iter, count);
	if (op == CACHE_READ)
		a.size = field_of(pointers, host, i_size);
	if (!settings.sees_ends) {
		a.path = (__u64)&file->f_path;
		a.counted = op == CACHE_WRITE || file_is_noatime(file);
	}
	if (is_wanted(&a))
		request_open(&a);
}

inline_always void ask_read(struct kiocb___cache *iocb, struct iov_iter___cache *iter)
{
	struct address_space___cache *mapping;
	struct cache_request *r;
	__u64 pos, bytes, end;
	__u32 shift;

	if (!settings.is_plain) {
		ask(iocb, iter, CACHE_READ, TYPED);
		return;
	}
	mapping = iocb->ki_filp->f_mapping;
	end = mapping->host->i_size;
	pos = iocb->ki_pos;
	bytes = iter->count;
	if (!bytes || pos >= end)
		return;
	r = plain_open();
	if (!r) {
		ask(iocb, iter, CACHE_READ, TYPED);
		return;
	}
	if (end - pos > bytes)
		end = pos + bytes;
	shift = settings.page_shift;
	r->file.mapping = (__u64)mapping;
	r->first = pos >> shift;
	r->last = (end - 1) >> shift;
	r->pos = pos;
	r->bytes = bytes;
	r->iocb = (__u64)iocb;
	r->misses = 0;
	r->op = CACHE_READ;
	r->counted = 0;
}

/* Bytes that were copied are no longer in the iterator. */
inline_always void answer(__u64 left)
{
	struct cache_task *t = task_current();

	if (t && t->request.file.mapping && t->busy)
		request_close(t, t->request.bytes > left ? t->request.bytes - left : 0);
}

inline_always void answer_iter(void)
{
	struct cache_task *t = task_current();

	if (!t || !t->busy || !t->request.file.mapping || t->request.counted)
		return;
	request_close(t, t->request.bytes - iter_bytes(t->request.iter));
}

inline_always void answer_read(__u64 left)
{
	if (!settings.is_plain || !plain_close(left))
		answer(left);
}

/* 5.10 passes the file and the position, 6.1 a kiocb. */
inline_always void ask_old_write(struct file___cache *file, __u64 iter, __u64 pos)
{
	struct asked a = {
		.op = CACHE_WRITE,
		.iter = iter,
		.pos = pos,
		.bytes = iter_bytes(iter),
		.counted = !settings.sees_ends,
	};

	a.file = file_of(file_mapping(file));
	if (is_wanted(&a))
		request_open(&a);
}

inline_always void ask_write(void *first, void *iter, __u64 pos)
{
	if (settings.write_iocb)
		ask(first, iter, CACHE_WRITE, PLAIN);
	else
		ask_old_write(first, (__u64)iter, pos);
}

/* It wants no pages itself: pages added while it runs are read ahead. */
inline_always void ask_advice(struct file___cache *file)
{
	struct asked a = { .op = CACHE_READAHEAD };
	struct cache_task *t;

	a.file = file_of(file_mapping(file));
	if (!is_wanted(&a))
		return;
	t = task_take();
	if (!t)
		return;
	t->request.file = a.file;
	t->request.first = 1;
	t->request.last = 0;
	t->request.op = CACHE_READAHEAD;
	t->request.counted = 1;
	t->fault.pending = 0;
	if (!settings.sees_ends)
		fresh(t->busy) = 0;
}

inline_always void answer_advice(void)
{
	struct cache_task *t = task_current();

	if (t && t->request.op == CACHE_READAHEAD)
		task_leave(t);
}

inline_always void ask_splice(struct file___cache *file, __u64 pos_at, __u64 bytes)
{
	struct asked a = { .op = CACHE_READ, .bytes = bytes };
	__u64 mapping = file_mapping(file);

	bpf_probe_read_kernel(&a.pos, sizeof(a.pos), (void *)pos_at);
	a.file = file_of(mapping);
	a.size = mapping_size(mapping);
	if (is_wanted(&a))
		request_open(&a);
}

inline_always void answer_bytes(__s64 done)
{
	struct cache_task *t = task_current();

	if (t && t->busy && t->request.file.mapping)
		request_close(t, done > 0 ? done : 0);
}

/* Pages mapped around the one that faulted may be used unseen: they do not count as unused. */
inline_always void fault_around(void *vmf, __u64 first, __u64 last)
{
	__u64 mapping = fault_mapping(vmf);

	fault_open(vmf, BY_AROUND);
	if (mapping && first <= last)
		ahead_use(mapping, first, last);
}

inline_always void answer_fault(bool is_over)
{
	if (is_over)
		fault_close();
}

/* tmpfs adds pages without a tracepoint; its own function has not yet filled the page in. */
inline_always void add_shmem(void *folio, __u64 mapping, __u64 index)
{
	const struct pages p = { .mapping = mapping, .first = index, .nr = pages_nr(folio) };

	pages_added(&p);
}

#define folio_did(what, folio)                                    \
	do {                                                      \
		const struct pages p = pages_of((void *)(folio)); \
		pages_##what(&p);                                 \
	} while (0)

/* ---- the programs ---- */

#define PROGRAM(section, signature, ...) \
	SEC(section) int signature       \
	{                                \
		__VA_ARGS__;             \
		return 0;                \
	}

/* At entry and return; the target is set before they are loaded. */
#define ENTRY(function, name, ...)  PROGRAM("fentry/" #function, name(CONTEXT), __VA_ARGS__)
#define RETURN(function, name, ...) PROGRAM("fexit/" #function, name(CONTEXT), __VA_ARGS__)
#define READ_ENTRY(function, name)                                                         \
	PROGRAM("fentry/" #function,                                                       \
		BPF_PROG(name, struct kiocb___cache *iocb, struct iov_iter___cache *iter), \
		ask_read(iocb, iter))
#define READ_RETURN(function, name)                                                        \
	PROGRAM("fexit/" #function,                                                        \
		BPF_PROG(name, struct kiocb___cache *iocb, struct iov_iter___cache *iter), \
		answer_read(iter->count))

READ_ENTRY(filemap_read, cache_read)
READ_RETURN(filemap_read, cache_read_end)
READ_ENTRY(shmem_file_read_iter, cache_shmem_read)
READ_RETURN(shmem_file_read_iter, cache_shmem_read_end)
ENTRY(filemap_splice_read, cache_splice, ask_splice((void *)ctx[0], ctx[1], ctx[3]))
RETURN(filemap_splice_read, cache_splice_end, answer_bytes(ctx[5]))
ENTRY(shmem_file_splice_read, cache_shmem_splice, ask_splice((void *)ctx[0], ctx[1], ctx[3]))
RETURN(shmem_file_splice_read, cache_shmem_splice_end, answer_bytes(ctx[5]))
ENTRY(generic_perform_write, cache_write,
      ask_write((void *)ctx[0], (void *)ctx[1], settings.write_iocb ? 0 : ctx[2]))
RETURN(generic_perform_write, cache_write_end, answer_iter())
ENTRY(iomap_file_buffered_write, cache_iomap_write,
      ask((void *)ctx[0], (void *)ctx[1], CACHE_WRITE, PLAIN))
RETURN(iomap_file_buffered_write, cache_iomap_write_end, answer_iter())
ENTRY(generic_fadvise, cache_advice, ask_advice((void *)ctx[0]))
RETURN(generic_fadvise, cache_advice_end, answer_advice())
ENTRY(filemap_fault, cache_fault, fault_open((void *)ctx[0], BY_FAULT))
RETURN(filemap_fault, cache_fault_end, answer_fault(!(ctx[1] & CACHE_FAULT_RETRY)))
ENTRY(shmem_fault, cache_shmem_fault, fault_open((void *)ctx[0], BY_FAULT))
RETURN(shmem_fault, cache_shmem_fault_end, answer_fault(!(ctx[1] & CACHE_FAULT_RETRY)))
ENTRY(filemap_map_pages, cache_around, fault_around((void *)ctx[0], ctx[1], ctx[2]))
RETURN(filemap_map_pages, cache_around_end, answer_fault(ctx[3] & CACHE_FAULT_NOPAGE))
ENTRY(__folio_start_writeback, cache_writeback, folio_did(written, ctx[0]))

/* The mapping is copied: the argument is a typed pointer, which cannot be hashed. */
SEC("fentry/shmem_add_to_page_cache")
int cache_shmem_add(CONTEXT)
{
	__u64 mapping = 0;

	bpf_probe_read_kernel(&mapping, sizeof(mapping), &ctx[1]);
	add_shmem((void *)ctx[0], mapping, ctx[2]);
	return 0;
}

#define KPROBE(name, ...) PROGRAM("kprobe", name(struct pt_regs *ctx), __VA_ARGS__)
#define FIRST		  ((void *)PT_REGS_PARM1(ctx))
#define SECOND		  ((void *)PT_REGS_PARM2(ctx))

KPROBE(cache_read_k, ask(FIRST, SECOND, CACHE_READ, PLAIN))
KPROBE(cache_shmem_read_k, ask(FIRST, SECOND, CACHE_READ, PLAIN))
KPROBE(cache_write_k, ask_write(FIRST, SECOND, PT_REGS_PARM3(ctx)))
KPROBE(cache_iomap_write_k, ask(FIRST, SECOND, CACHE_WRITE, PLAIN))
KPROBE(cache_advice_k, ask_advice(FIRST))
KPROBE(cache_fault_k, fault_open(FIRST, BY_FAULT))
KPROBE(cache_shmem_fault_k, fault_open(FIRST, BY_FAULT))
KPROBE(cache_around_k, fault_around(FIRST, PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx)))
KPROBE(cache_shmem_add_k, add_shmem(FIRST, PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx)))
KPROBE(cache_writeback_k, folio_did(written, FIRST))

/* touch_atime: the last thing that a read does. */
SEC("kprobe")
int cache_read_end_k(struct pt_regs *ctx)
{
	struct cache_task *t = task_current();

	if (t && t->busy && t->request.path == PT_REGS_PARM1(ctx))
		answer_iter();
	return 0;
}

/* Tracepoints: every kernel has them. 5.10 has the last one instead of the last but one. */
#define TRACEPOINT(event, name, ...) \
	PROGRAM("raw_tp/" #event, name(struct bpf_raw_tracepoint_args *ctx), __VA_ARGS__)

TRACEPOINT(mm_filemap_add_to_page_cache, cache_added, folio_did(added, ctx->args[0]))
TRACEPOINT(mm_filemap_delete_from_page_cache, cache_removed, folio_did(removed, ctx->args[0]))
TRACEPOINT(writeback_dirty_folio, cache_dirtied, folio_did(dirtied, ctx->args[0]))
TRACEPOINT(writeback_dirty_page, cache_dirtied_old, folio_did(dirtied, ctx->args[0]))

/* ---- --then-io ---- */

/*
 * Before 5.11 (e8a676d61c07, a54895fa057c) the queue is the first argument. The setting is read
 * twice: else the compiler does arithmetic on the context's address, which the verifier refuses.
 */
#define argument_after_queue(ctx, there)                    \
	({                                                  \
		__u64 first_ = (ctx)->args[0], second_ = 0; \
		if (there)                                  \
			second_ = (ctx)->args[1];           \
		(void *)((there) ? second_ : first_);       \
	})

SEC("raw_tp/block_bio_queue")
int cache_bio_queued(struct bpf_raw_tracepoint_args *ctx)
{
	return cause_note((__u64)argument_after_queue(ctx, settings.bio_queue_argument));
}

SEC("raw_tp/block_split")
int cache_bio_split(struct bpf_raw_tracepoint_args *ctx)
{
	return cause_split(argument_after_queue(ctx, settings.bio_queue_argument));
}

SEC("raw_tp/block_rq_issue")
int cache_issued(struct bpf_raw_tracepoint_args *ctx)
{
	return cause_issued(argument_after_queue(ctx, settings.queue_argument));
}

SEC("raw_tp/block_rq_complete")
int cache_ended(struct bpf_raw_tracepoint_args *ctx)
{
	return cause_ended((void *)ctx->args[0], (int)ctx->args[1] != 0, ctx->args[2]);
}

SEC("raw_tp/block_bio_complete")
int cache_bio_ended(struct bpf_raw_tracepoint_args *ctx)
{
	return cause_forget((void *)ctx->args[1]);
}
