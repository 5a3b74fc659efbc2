/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind.h: where was an I/O submitted, in a process without frame pointers? Follows the tables
 * that user space made from .eh_frame, frame by frame: some 500 instructions each. A process that
 * user space has not published yet is noted; its mappings are those that the kernel has, and if the
 * tables of one are not known, the stack is taken by frame pointers. A page of the stack
 * that is not in memory ends the stack: it is marked as truncated. The functions are global: the
 * verifier checks each of them once.
 */
#ifndef IOSONAR_BPF_UNWIND_H
#define IOSONAR_BPF_UNWIND_H

#include "bpf/unwind_walk.h"

/* ---- searches ---- */

/* The last mapping that begins at or before this address; -1: none. */
__attribute__((noinline)) int unwind_find_map(__u32 first, __u32 nr, __u64 at)
{
	__u32 low = 0, high = nr;

	if (!settings.unwind)
		return -1;
	for (int i = 0; i < UNWIND_MAP_STEPS; i++) {
		__u32 middle = (low + high) / 2, key = first + middle;
		struct unwind_map *map;

		if (low >= high)
			break;
		map = bpf_map_lookup_elem(&unwind_maps, &key);
		if (!map)
			return -1;
		if (map->start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return (int)low - 1;
}

/* The number of the rule at this address; 0: none. It is among the rows from low to high. */
__attribute__((noinline)) int unwind_find_rule(__u32 first, __u32 low, __u32 high, __u32 pc)
{
	struct unwind_row *row;
	__u32 key;

	if (!settings.unwind)
		return 0;
	for (int i = 0; i < UNWIND_ROW_STEPS; i++) {
		__u32 middle = (low + high) / 2;

		if (low >= high)
			break;
		key = first + middle;
		row = bpf_map_lookup_elem(&unwind_rows, &key);
		if (!row)
			return 0;
		if (row->pc <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	key = first + low - 1;
	row = low ? bpf_map_lookup_elem(&unwind_rows, &key) : 0;
	return row ? row->rule : 0;
}

/* The index leaves a few of the rows: three steps instead of fourteen in libc. */
inline_always __u32 unwind_rule_at(const struct unwind_map *map, __u32 pc)
{
	__u32 nth = (pc >> UNWIND_INDEX_SHIFT) - map->index_base, key = map->index + nth;
	struct unwind_span *span = 0;

	if (nth < map->nr_index)
		span = bpf_map_lookup_elem(&unwind_index, &key);
	if (span)
		return unwind_find_rule(map->first, span->low, span->high, pc);
	return unwind_find_rule(map->first, 0, map->nr_rows, pc);
}

/* ---- a process that is not published ---- */

__attribute__((noinline)) int unwind_vma_step(void)
{
	struct unwind_walk *s = settings.unwind ? unwind_walk() : 0;

	return !s || vma_step(&s->vma);
}

inline_always bool unwind_is_mapped(const struct unwind_mapped *m,
				    const struct unwind_vma_file *file)
{
	return m && m->is_there && m->inode == file->inode && m->offset == file->offset &&
	       m->changed_s == file->changed_s && m->changed_ns == file->changed_ns &&
	       m->dev == file->dev;
}

inline_always bool unwind_find_mapped(struct unwind_walk *s)
{
	__u32 cell = unwind_mapped_cell(s->file.inode, s->file.offset, s->file.dev);

	for (int i = 0; i < UNWIND_PROBES; i++) {
		__u32 key = (cell + i) & (UNWIND_MAPPED - 1);
		struct unwind_mapped *m = bpf_map_lookup_elem(&unwind_mapped, &key);

		if (!unwind_is_mapped(m, &s->file))
			continue;
		s->own.vaddr = m->map.vaddr;
		s->own.first = m->map.first;
		s->own.nr_rows = m->map.nr_rows;
		s->own.index = m->map.index;
		s->own.nr_index = m->map.nr_index;
		s->own.index_base = m->map.index_base;
		return true;
	}
	return false;
}

/* Into s->own. 0: nothing is mapped there, or the tables of the file are not known. */
__attribute__((noinline)) int unwind_find_own(__u64 at)
{
	struct unwind_walk *s = settings.unwind ? unwind_walk() : 0;
	struct vm_area_struct *vma;

	if (!s)
		return 0;
	vma_begin(&s->vma, at);
	for (int i = 0; i < VMA_STEPS; i++)
		if (unwind_vma_step())
			break;
	vma = (void *)s->vma.found;
	s->own.start = BPF_CORE_READ(vma, vm_start);
	s->own.end = BPF_CORE_READ(vma, vm_end);
	if (at < s->own.start || at >= s->own.end)
		return 0;
	s->own.nr_rows = 0;
	s->own.first = UNWIND_BY_FP;
	if (vma_read_file(vma, &s->file))
		return unwind_find_mapped(s);
	if (vma_is_vdso(s->own.start))
		s->own.first = UNWIND_VDSO;
	return 1;
}

/* ---- one frame ---- */

/* Where a window does not fit, at the end of the stack, the word alone is read. */
inline_always bool unwind_read(struct unwind_walk *s, __u64 *value, __u64 at)
{
	__u64 off = at - s->window_at;

	if (off >= sizeof(s->window) || off & 7) {
		off = UNWIND_BELOW;
		s->window_at = at - off;
		if (bpf_probe_read_user(s->window, sizeof(s->window), (void *)s->window_at)) {
			s->window_at = ~0ULL;
			return !bpf_probe_read_user(value, sizeof(*value), (void *)at);
		}
	}
	off /= 8;
	barrier_var(off); /* else the compiler, which knows that it fits, drops the mask */
	*value = s->window[off & (UNWIND_WINDOW - 1)];
	return true;
}

/* The word above the frame pointer is the return address. */
inline_always bool unwind_by_fp(struct unwind_walk *s)
{
	__u64 fp = s->fp, next;

	if (!s->has_fp || fp < s->sp || fp & 7 || !unwind_read(s, &next, fp) ||
	    !unwind_read(s, &s->pc, fp + 8))
		return false;
	s->sp = fp + 16;
	s->fp = next;
	return true;
}

/*
 * What the kernel saved at the signal: on x86_64 a struct ucontext, in which the registers follow
 * 40 bytes; on arm64 128 bytes of siginfo before it, and the registers 184 bytes in it.
 */
inline_always bool unwind_by_signal(struct unwind_walk *s)
{
	__u64 frame = s->sp;

#if defined(__TARGET_ARCH_x86)
	if (!unwind_read(s, &s->fp, frame + 40 + 8 * 10) ||
	    !unwind_read(s, &s->sp, frame + 40 + 8 * 15) ||
	    !unwind_read(s, &s->pc, frame + 40 + 8 * 16))
		return false;
#else
	frame += 128 + 184;
	if (!unwind_read(s, &s->fp, frame + 8 * 29) || !unwind_read(s, &s->lr, frame + 8 * 30) ||
	    !unwind_read(s, &s->sp, frame + 8 * 31) || !unwind_read(s, &s->pc, frame + 8 * 32))
		return false;
	s->has_lr = 1;
#endif
	s->has_fp = s->is_exact = 1;
	return true;
}

inline_always bool unwind_cfa(struct unwind_walk *s, const struct unwind_rule *rule, __u64 *cfa)
{
	switch (rule->cfa) {
	case UNWIND_SP: *cfa = s->sp + rule->cfa_off; return true;
	case UNWIND_FP: *cfa = s->fp + rule->cfa_off; return s->has_fp;
	case UNWIND_AT_FP: return s->has_fp && unwind_read(s, cfa, s->fp + rule->cfa_off);
	case UNWIND_PLT:
		*cfa = s->sp + 8 + ((__s32)(s->pc & 15) >= rule->cfa_off ? 8 : 0);
		return true;
	default: return false;
	}
}

inline_always bool unwind_by_rule(struct unwind_walk *s, const struct unwind_rule *rule)
{
	__u64 cfa, pc;

	if (!unwind_cfa(s, rule, &cfa) || cfa < s->sp)
		return false;
	if (rule->ra == UNWIND_KEPT) {
		if (!s->has_lr)
			return false;
		pc = s->lr;
	} else if (!unwind_read(s, &pc, (rule->ra == UNWIND_SAVED ? cfa : s->fp) + rule->ra_off)) {
		return false;
	}
	if (rule->fp == UNWIND_LOST)
		s->has_fp = 0;
	else if (rule->fp != UNWIND_KEPT &&
		 !unwind_read(s, &s->fp, (rule->fp == UNWIND_SAVED ? cfa : s->fp) + rule->fp_off))
		return false;
	s->sp = cfa;
	s->pc = pc;
	return true;
}

/* By a rule of the mapping's file; returns where that leads to. */
inline_always enum unwind_end unwind_by_table(struct unwind_walk *s, const struct unwind_map *map,
					      __u64 at)
{
	__u64 vaddr = at - map->start + map->vaddr;
	__u32 number = vaddr >> 32 ? 0 : unwind_rule_at(map, vaddr);
	struct unwind_rule *rule = bpf_map_lookup_elem(&unwind_rules, &number);

	if (!rule || rule->cfa <= UNWIND_UNKNOWN)
		return UNWIND_TRUNCATED;
	if (rule->cfa == UNWIND_OUTERMOST)
		return UNWIND_COMPLETE;
	s->is_exact = 0;
	if (rule->cfa == UNWIND_SIGNAL)
		return unwind_by_signal(s) ? UNWIND_GOES_ON : UNWIND_TRUNCATED;
	if (!unwind_by_rule(s, rule))
		return UNWIND_TRUNCATED;
	s->has_lr = 0;
	return UNWIND_GOES_ON;
}

/* A caller is often in the same file. */
inline_always struct unwind_map *unwind_published_at(struct unwind_walk *s, __u64 at)
{
	__u32 first = s->cell * UNWIND_MAPS, key = first + s->map;
	struct unwind_map *map = bpf_map_lookup_elem(&unwind_maps, &key);
	int nr;

	if (map && s->map < s->nr_maps && map->start <= at && at < map->end)
		return map;
	nr = unwind_find_map(first, s->nr_maps, at);
	if (nr < 0)
		return 0;
	s->map = nr;
	key = first + nr;
	map = bpf_map_lookup_elem(&unwind_maps, &key);
	return map && at < map->end ? map : 0;
}

inline_always struct unwind_map *unwind_map_at(struct unwind_walk *s, __u64 at)
{
	if (!s->is_own)
		return unwind_published_at(s, at);
	if ((s->own.start <= at && at < s->own.end) || unwind_find_own(at))
		return &s->own;
	return 0;
}

inline_always enum unwind_end unwind_step(struct unwind_walk *s)
{
	__u64 at = s->pc - !s->is_exact;
	struct unwind_map *map = unwind_map_at(s, at);

	if (!map)
		return UNWIND_UNMAPPED;
	if (map->nr_rows)
		return unwind_by_table(s, map, at);
	s->is_exact = 0;
	if (map->first == UNWIND_VDSO)
		return unwind_by_signal(s) ? UNWIND_GOES_ON : UNWIND_TRUNCATED;
	s->has_lr = 0;
	return map->first == UNWIND_BY_FP && unwind_by_fp(s) ? UNWIND_GOES_ON : UNWIND_TRUNCATED;
}

/* From a frame to its caller's; not 0: there is none, or it cannot be found. */
__attribute__((noinline)) int unwind_frame(void)
{
	struct unwind_walk *s = settings.unwind ? unwind_walk() : 0;
	enum unwind_end end;

	if (!s)
		return 1;
	end = unwind_step(s);
	if (end == UNWIND_GOES_ON) {
		s->pc &= settings.user_mask;
		if (!s->pc)
			end = UNWIND_COMPLETE;
		else if (s->nr >= STACK_FRAMES)
			end = UNWIND_TRUNCATED;
	}
	s->end = end;
	if (end != UNWIND_GOES_ON)
		return 1;
	s->frames[s->nr & STACK_FRAMES] = s->pc;
	s->nr++;
	s->hash = (s->hash ^ s->pc) * 0x9e3779b97f4a7c15ULL;
	s->hash ^= s->hash >> 29;
	return 0;
}
_Static_assert((STACK_FRAMES & (STACK_FRAMES + 1)) == 0, "it is a mask, too");

/* ---- the stack ---- */

/* Hands the frames to user space, for a stack of this number. False: the next one like it tries
 * again. Whoever includes this file defines it. */
inline_always bool unwind_keep(const struct unwind_walk *s, __u32 number);

/* Its number, behind those that the kernel gives; 0: the cell belongs to another stack. */
inline_always __u32 unwind_number(const struct unwind_walk *s, __u64 hash, __u32 nr)
{
	__u32 cell = (hash + nr) & (IO_MAX_STACKS - 1);
	struct unwound *unwound = bpf_map_lookup_elem(&unwind_known, &cell);

	if (!unwound) {
		struct unwound new = { .hash = hash };

		bpf_map_update_elem(&unwind_known, &cell, &new, BPF_NOEXIST);
		unwound = bpf_map_lookup_elem(&unwind_known, &cell);
	}
	if (!unwound || unwound->hash != hash)
		return 0;
	if (!unwound->sent && unwind_keep(s, IO_MAX_STACKS + cell + 1))
		unwound->sent = 1;
	return IO_MAX_STACKS + cell + 1;
}

inline_always __u32 unwind_epoch_now(void)
{
	__u32 zero = 0;
	struct unwind_epoch *epoch = bpf_map_lookup_elem(&unwind_epoch, &zero);

	return epoch ? fresh(epoch->version) : 1;
}

/* NULL: it is not published, as it is now. */
inline_always struct unwind_process *unwind_published(struct unwind_walk *s, __u32 pid, __u64 image,
						      __u32 *version)
{
	struct unwind_process *process = unwind_find_process(pid, &s->cell);

	if (!process)
		return 0;
	*version = fresh(process->version);
	return *version & 1 || process->image != image ? 0 : process;
}

inline_always void unwind_frames(struct unwind_walk *s)
{
	for (int i = 0; i < STACK_FRAMES; i++)
		if (unwind_frame())
			break;
}

/* False: a file's tables are not known, or not any more. */
inline_always bool unwind_by_own(struct unwind_walk *s)
{
	__u32 epoch = unwind_epoch_now();

	s->is_own = 1;
	s->own.end = 0;
	unwind_frames(s);
	return s->end != UNWIND_UNMAPPED && !(epoch & 1) && unwind_epoch_now() == epoch;
}

/* As unwind_stack, while the state is ours. */
inline_always int unwind_with(struct unwind_walk *s)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32, version = 0;
	struct unwind_process *process;
	__u64 image = unwind_image();
	__u64 hash;

	if (!unwind_begin(s))
		return -EFAULT;
	process = unwind_published(s, pid, image, &version);
	if (process && process->by_fp)
		return 0;
	if (process) {
		s->is_own = 0;
		s->nr_maps = process->nr_maps;
		unwind_frames(s);
		if (fresh(process->version) != version)
			s->end = UNWIND_TRUNCATED;
	}
	if (!process || s->end == UNWIND_UNMAPPED)
		unwind_want(pid, image);
	if (!process && !unwind_by_own(s))
		return 0;
	hash = s->hash ^ (s->end == UNWIND_COMPLETE);
	return unwind_number(s, hash, 0)
		       ?: unwind_number(s, hash, 1)
		       ?: unwind_number(s, hash, 2)
		       ?: unwind_number(s, hash, 3) ?: -EEXIST;
}

/* The stack's number; 0: take it by frame pointers; -EFAULT: it has none; -EEXIST: its places are
 * taken; -EBUSY: by another program on this CPU. */
__attribute__((noinline)) int unwind_stack(void)
{
	struct unwind_walk *s = settings.unwind ? unwind_walk() : 0;
	int number = -EBUSY;

	if (!s)
		return 0;
	add_to(s->busy, 1);
	if (fresh(s->busy) == 1)
		number = unwind_with(s);
	add_to(s->busy, -1);
	return number;
}

#endif
