/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vma.h: what is mapped at an address of this process? Follows the kernel's own tree of mappings,
 * some 200 instructions a level, and takes no lock: another thread may change the tree meanwhile.
 * So what is found is checked, and may be missing. Every field is copied.
 */
#ifndef IOSONAR_BPF_VMA_H
#define IOSONAR_BPF_VMA_H

#include "bpf/cell.h"
#include "bpf/request.h"

enum {
	VMA_STEPS = 32,	  /* levels of a tree with 65536 mappings */
	VMA_PIVOTS = 16,  /* a node of the maple tree has fewer */
	VMA_LEAF = 2,	  /* of its types, those below are leaves */
	VMA_WIDE = 3,	  /* maple_arange_64 */
	VMA_QUERIED = 31, /* a bit in the nanoseconds of ctime since 6.13 */
};

/* A search. */
struct unwind_vma {
	__u64 at;
	__u64 node;
	__u64 found; /* struct vm_area_struct; 0: not yet */
	__u64 pivots[VMA_PIVOTS];
};

struct unwind_vma_file {
	__u64 inode;
	__u64 offset;
	__s64 changed_s;
	__u32 changed_ns;
	__u32 dev;
};

inline_always bool vma_has_rb(void)
{
	return bpf_core_field_exists(struct mm_struct___rb, mm_rb);
}

inline_always void vma_begin(struct unwind_vma *w, __u64 at)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	void *mm = BPF_CORE_READ(task, mm);

	w->at = at;
	w->found = 0;
	if (vma_has_rb())
		w->node = (__u64)BPF_CORE_READ((struct mm_struct___rb *)mm, mm_rb.rb_node);
	else
		w->node = (__u64)BPF_CORE_READ((struct mm_struct___maple *)mm, mm_mt.ma_root);
}

/* True: the search is over. */
inline_always bool vma_step_rb(struct unwind_vma *w)
{
	__u64 vma = w->node - bpf_core_field_offset(struct vm_area_struct___rb, vm_rb);
	struct rb_node *node = (void *)w->node;

	if (!w->node)
		return true;
	if (w->at < BPF_CORE_READ((struct vm_area_struct *)vma, vm_start)) {
		w->node = (__u64)BPF_CORE_READ(node, rb_left);
	} else if (w->at >= BPF_CORE_READ((struct vm_area_struct *)vma, vm_end)) {
		w->node = (__u64)BPF_CORE_READ(node, rb_right);
	} else {
		w->found = vma;
		return true;
	}
	return false;
}

/* The first slot whose pivot is not below the address; the last one in use has none. */
inline_always __u32 vma_slot(const struct unwind_vma *w, __u32 nr_pivots)
{
	__u32 slot = 0;

	for (__u32 i = 0; i < VMA_PIVOTS - 1; i++) {
		__u64 pivot = w->pivots[i];

		if (slot != i || i >= nr_pivots || pivot >= w->at || (i && !pivot))
			continue;
		slot = i + 1;
	}
	return slot;
}

/* A pointer to a node has its type in its bits 3 to 6; nodes are aligned to 256 bytes. */
inline_always bool vma_step_maple(struct unwind_vma *w)
{
	__u32 type = w->node >> 3 & 15;
	__u64 node = w->node & ~255ULL, slots, pivots, next = 0;
	bool is_wide = type == VMA_WIDE;

	if (!node || type > VMA_WIDE || !type)
		return true;
	pivots = node + (is_wide ? bpf_core_field_offset(struct maple_arange_64, pivot)
				 : bpf_core_field_offset(struct maple_range_64, pivot));
	slots = node + (is_wide ? bpf_core_field_offset(struct maple_arange_64, slot)
				: bpf_core_field_offset(struct maple_range_64, slot));
	if (bpf_probe_read_kernel(w->pivots, sizeof(w->pivots) - 8, (void *)pivots))
		return true;
	slots += vma_slot(w, is_wide ? 9 : 15) * 8ULL;
	if (bpf_probe_read_kernel(&next, sizeof(next), (void *)slots))
		return true;
	if (type < VMA_LEAF)
		w->found = next;
	w->node = next;
	return type < VMA_LEAF;
}

inline_always bool vma_step(struct unwind_vma *w)
{
	return vma_has_rb() ? vma_step_rb(w) : vma_step_maple(w);
}

inline_always void vma_read_change(struct inode *inode, struct unwind_vma_file *file)
{
	struct inode___ctime_parts *parts = (void *)inode;
	struct inode___ctime_private *private = (void *)inode;
	struct inode___ctime *plain = (void *)inode;

	if (bpf_core_field_exists(parts->i_ctime_sec)) {
		file->changed_s = BPF_CORE_READ(parts, i_ctime_sec);
		file->changed_ns = BPF_CORE_READ(parts, i_ctime_nsec) & ~(1U << VMA_QUERIED);
	} else if (bpf_core_field_exists(private->__i_ctime)) {
		file->changed_s = BPF_CORE_READ(private, __i_ctime.tv_sec);
		file->changed_ns = BPF_CORE_READ(private, __i_ctime.tv_nsec);
	} else {
		file->changed_s = BPF_CORE_READ(plain, i_ctime.tv_sec);
		file->changed_ns = BPF_CORE_READ(plain, i_ctime.tv_nsec);
	}
}

/* False: no file. */
inline_always bool vma_read_file(struct vm_area_struct *vma, struct unwind_vma_file *file)
{
	struct inode *inode = BPF_CORE_READ(vma, vm_file, f_inode);

	if (!inode)
		return false;
	file->inode = BPF_CORE_READ(inode, i_ino);
	file->dev = BPF_CORE_READ(inode, i_sb, s_dev);
	file->offset = BPF_CORE_READ(vma, vm_pgoff) * settings.page_bytes;
	vma_read_change(inode, file);
	return true;
}

inline_always bool vma_is_vdso(__u64 start)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct mm_struct___vdso *mm = BPF_CORE_READ(task, mm);

	return start == (__u64)BPF_CORE_READ(mm, context.vdso);
}

#endif
