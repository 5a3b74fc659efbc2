/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cache_kernel.h: every read of a kernel struct by the page cache's programs, and every difference
 * between kernels. A page of 5.10 and a folio of later kernels are both "pages": a position, a file
 * and a number of pages.
 */
#ifndef IOSONAR_BPF_CACHE_KERNEL_H
#define IOSONAR_BPF_CACHE_KERNEL_H

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "bpf/cell.h"
#include "bpf/kernel.h"
#include "bpf/page.h"
#include "wire/page_cache.h"
#include "wire/file_id.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block___cache {
	__u32 s_dev;
};

struct inode___cache {
	__u16 i_mode;
	struct super_block___cache *i_sb;
	unsigned long i_ino;
	__u32 i_rdev;
	unsigned int i_nlink;
	long long i_size;
};

struct address_space___cache {
	struct inode___cache *host;
};

struct path___cache {
	void *dentry;
};

struct file___cache {
	struct path___cache f_path;
	struct address_space___cache *f_mapping;
	unsigned int f_flags;
};

struct kiocb___cache {
	struct file___cache *ki_filp;
	long long ki_pos;
};

struct iov_iter___cache {
	unsigned long count;
};

struct vm_area_struct___cache {
	struct file___cache *vm_file;
};

struct vm_fault___cache {
	struct vm_area_struct___cache *vma;
	unsigned long pgoff;
};

/* Its flags are a plain number in 5.10, an enum in 6.1 and later. */
struct vm_fault___plain {
	unsigned int flags;
};

enum fault_flag { FAULT_FLAG_TRIED = 1 << 5 };

struct vm_fault___named {
	enum fault_flag flags;
};

struct page___cache {
	struct address_space___cache *mapping;
	unsigned long index;
	unsigned int compound_nr; /* of the second page */
};

struct folio___cache {
	struct address_space___cache *mapping;
	unsigned long index;
};

struct folio___older {
	unsigned int _folio_nr_pages;
};

struct folio___newer {
	unsigned int _nr_pages;
};

struct bvec_iter___cache {
	__u64 bi_sector;
	unsigned int bi_size;
	unsigned int bi_idx;
	unsigned int bi_bvec_done;
};

struct bio___cache {
	struct bvec_iter___cache bi_iter;
};

struct gendisk___cache {
	int major;
	int first_minor;
};

#pragma clang attribute pop

struct folio;

enum pageflags {
	PG_head = 16,
};

/* Unchanged since 2.6 and 3.x. */
enum {
	CACHE_O_NOATIME = 01000000,
	CACHE_FAULT_NOPAGE = 0x100,
	CACHE_FAULT_RETRY = 0x400,
};

/* Which pages of which file. */
struct pages {
	__u64 mapping;
	__u64 first;
	__u64 nr;
};

/* Word 0 of a page or folio holds its flags, whatever their type is called. */
inline_always bool pages_are_many(void *folio)
{
	__u64 flags = 0;

	bpf_probe_read_kernel(&flags, sizeof(flags), folio);
	return flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1;
}

inline_always __u64 pages_nr(void *folio)
{
	struct folio___newer *newer = folio;
	struct folio___older *older = folio;
	struct page___cache *second;

	if (!pages_are_many(folio))
		return 1;
	if (bpf_core_field_exists(newer->_nr_pages))
		return BPF_CORE_READ(newer, _nr_pages);
	if (bpf_core_field_exists(older->_folio_nr_pages))
		return BPF_CORE_READ(older, _folio_nr_pages);
	second = folio + bpf_core_type_size(struct page___cache);
	return bpf_core_field_exists(second->compound_nr) ? BPF_CORE_READ(second, compound_nr) : 1;
}

inline_always struct pages pages_of(void *folio)
{
	struct folio___cache *f = folio;
	struct page___cache *page = folio;
	struct pages p = { .nr = pages_nr(folio) };

	if (bpf_core_type_exists(struct folio___cache)) {
		p.mapping = (__u64)BPF_CORE_READ(f, mapping);
		p.first = BPF_CORE_READ(f, index);
	} else {
		p.mapping = (__u64)BPF_CORE_READ(page, mapping);
		p.first = BPF_CORE_READ(page, index);
	}
	return p;
}

inline_always bool fault_is_retried(void *vmf)
{
	struct vm_fault___plain *plain = vmf;
	struct vm_fault___named *named = vmf;

	if (bpf_core_field_exists(plain->flags))
		return BPF_CORE_READ(plain, flags) & FAULT_FLAG_TRIED;
	return BPF_CORE_READ(named, flags) & FAULT_FLAG_TRIED;
}

/* A file, and what identifies it. */
struct cached_file {
	__u64 mapping;
	__u64 inode; /* FILE_METADATA: a block device's own cache */
	__u64 host;  /* struct inode * */
	__u32 dev;
};

/* told: the file's identity is needed. */
inline_always struct cached_file file_in(struct address_space___cache *mapping, const bool told,
					 const enum pointers pointers)
{
	struct inode___cache *host = field_of(pointers, mapping, host);
	struct cached_file f = { .mapping = (__u64)mapping, .host = (__u64)host };

	if (!told)
		return f;
	if ((field_of(pointers, host, i_mode) & S_IFMT) == S_IFBLK) {
		f.inode = FILE_METADATA;
		f.dev = field_of(pointers, host, i_rdev);
	} else {
		struct super_block___cache *sb = field_of(pointers, host, i_sb);

		f.inode = field_of(pointers, host, i_ino);
		f.dev = field_of(pointers, sb, s_dev);
	}
	return f;
}

/* ---- what functions are given ---- */

inline_always __u64 file_mapping(struct file___cache *file)
{
	return (__u64)BPF_CORE_READ(file, f_mapping);
}

/* Reads do not update its access time. */
inline_always bool file_is_noatime(struct file___cache *file)
{
	return BPF_CORE_READ(file, f_flags) & CACHE_O_NOATIME;
}

inline_always __u64 mapping_size(__u64 mapping)
{
	struct address_space___cache *space = (void *)mapping;

	return BPF_CORE_READ(space, host, i_size);
}

inline_always __u64 iter_bytes(__u64 iter)
{
	return BPF_CORE_READ((struct iov_iter___cache *)iter, count);
}

inline_always __u64 fault_mapping(struct vm_fault___cache *vmf)
{
	return (__u64)BPF_CORE_READ(vmf, vma, vm_file, f_mapping);
}

inline_always __u64 fault_page(struct vm_fault___cache *vmf)
{
	return BPF_CORE_READ(vmf, pgoff);
}

/* ---- bios and commands ---- */

inline_always bool bio_fills_pages(struct bio *bio)
{
	return BPF_CORE_READ(bio, bi_iter.bi_size) && !(BPF_CORE_READ(bio, bi_opf) & 0xff);
}

/*
 * Which pages of which file: from its first page on, since a bio's pages are consecutive. Memory of
 * no file (direct I/O) has no mapping, or a marked one.
 */
inline_always struct pages bio_pages(struct bio *bio, __u32 page_shift)
{
	struct bvec_iter___cache *iter = &((struct bio___cache *)bio)->bi_iter;
	struct bio_vec *vec = BPF_CORE_READ(bio, bi_io_vec);
	__u64 at, bytes = BPF_CORE_READ(iter, bi_size);
	struct pages p = {};
	struct page *page, *head;

	if (!vec)
		return p;
	vec = (void *)vec + BPF_CORE_READ(iter, bi_idx) * bpf_core_type_size(*vec);
	page = BPF_CORE_READ(vec, bv_page);
	if (!page)
		return p;
	head = page_head(page);
	p = pages_of(head);
	at = BPF_CORE_READ(vec, bv_offset) + BPF_CORE_READ(iter, bi_bvec_done);
	p.first += ((__u64)page - (__u64)head) / bpf_core_type_size(struct page);
	p.first += at >> page_shift;
	at &= (1ULL << page_shift) - 1;
	p.nr = ((at + bytes - 1) >> page_shift) + 1;
	if (p.mapping & PAGE_MAPPING_FLAGS)
		p.mapping = 0;
	return p;
}

inline_always __u32 request_disk(struct request *rq)
{
	struct request___rq_disk *old = (void *)rq;
	struct gendisk___cache *disk;

	if (bpf_core_field_exists(struct request_queue, disk))
		disk = (void *)BPF_CORE_READ(rq, q, disk);
	else
		disk = (void *)BPF_CORE_READ(old, rq_disk);
	return disk ? BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor) : 0;
}

/* Pages past the end of the file, or of a file without a name, are not a loss. */
inline_always bool pages_are_truncated(const struct pages *p, __u32 page_shift)
{
	struct address_space___cache *space = (void *)p->mapping;
	struct inode___cache *host = BPF_CORE_READ(space, host);

	if ((BPF_CORE_READ(host, i_mode) & S_IFMT) == S_IFBLK)
		return false;
	return !BPF_CORE_READ(host, i_nlink) ||
	       (__s64)(p->first << page_shift) >= BPF_CORE_READ(host, i_size);
}

#endif
