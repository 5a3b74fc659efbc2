/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_walk.h: the state of a walk through a user stack: where it starts, whose stack it is, and
 * the tables that it goes by. unwind.h walks.
 */
#ifndef IOSONAR_BPF_UNWIND_WALK_H
#define IOSONAR_BPF_UNWIND_WALK_H

#include "bpf/cell.h"
#include "bpf/request.h"
#include "bpf/vma.h"
#include "wire/io_stages.h"
#include "wire/unwind.h"

#define EBUSY  16
#define EFAULT 14
#define EEXIST 17

/* Sized at load. */
TABLE(unwind_rows, struct unwind_row, 1);
TABLE(unwind_rules, struct unwind_rule, 1);
TABLE(unwind_index, struct unwind_span, 1);
TABLE(unwind_processes, struct unwind_process, UNWIND_PROCESSES);
TABLE(unwind_maps, struct unwind_map, 1);
TABLE(unwind_wanted, struct unwind_wanted, UNWIND_WANTED);
TABLE(unwind_mapped, struct unwind_mapped, 1);
TABLE(unwind_epoch, struct unwind_epoch, 1);

/* Stacks that were sent: by a number that the hash gives, and where it is taken by the next. */
struct unwound {
	__u64 hash;
	__u64 sent;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwound);
} unwind_known SEC(".maps");

enum unwind_end {
	UNWIND_GOES_ON,
	UNWIND_COMPLETE,
	UNWIND_TRUNCATED,
	UNWIND_UNMAPPED, /* truncated: nothing is known to be mapped at the address */
};

enum { UNWIND_WINDOW = 128, UNWIND_BELOW = 64 }; /* words; bytes before the one that is read */

/*
 * A frame, and those found so far. A read of the user stack costs some 300 instructions, however
 * short it is: a window of it is copied at once.
 */
struct unwind_walk {
	__u64 pc, sp, fp, lr;
	__u64 hash;
	__u32 busy; /* programs that use it; an interrupt may bring another one */
	__u32 nr;
	__u32 cell, nr_maps; /* of the process */
	__u8 is_exact;	     /* pc is the instruction, not where a call returns to */
	__u8 has_lr, has_fp;
	__u8 end;    /* enum unwind_end */
	__u8 is_own; /* mappings are those that the kernel has, not published ones */
	__u32 map;   /* the last one that was found */
	__u64 frames[STACK_FRAMES + 1];
	__u64 window_at; /* where on the user stack the words of the window are from */
	__u64 window[UNWIND_WINDOW];
	/* Of a process that is not published: the mapping that was found last. */
	struct unwind_map own;
	struct unwind_vma vma;
	struct unwind_vma_file file;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct unwind_walk);
} unwind_walks SEC(".maps");

inline_always struct unwind_walk *unwind_walk(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&unwind_walks, &zero);
}

/* ---- registers ---- */

/* Where the kernel has no helper: the registers are at the end of the task's stack. */
inline_always struct pt_regs___user *unwind_registers(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	if (settings.task_registers)
		return (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return BPF_CORE_READ(task, stack) + settings.task_bytes -
	       bpf_core_type_size(struct pt_regs___user);
}

/* False: the task has no user stack; a kernel thread that borrows one does not either. */
#if defined(__TARGET_ARCH_x86)
inline_always bool unwind_take(struct unwind_walk *s)
{
	struct pt_regs___user *regs = unwind_registers();

	if ((BPF_CORE_READ(regs, cs) & 3) != 3)
		return false;
	s->pc = BPF_CORE_READ(regs, ip);
	s->fp = BPF_CORE_READ(regs, bp);
	s->sp = BPF_CORE_READ(regs, sp);
	s->has_lr = 0;
	return s->pc != 0;
}
#else
inline_always bool unwind_take(struct unwind_walk *s)
{
	struct pt_regs___user *regs = unwind_registers();
	struct {
		__u64 fp, lr, sp, pc, pstate;
	} last; /* one read: the order is that of ptrace */

	if (bpf_core_read(&last, sizeof(last), &regs->regs[29]) || last.pstate & 0xf)
		return false; /* the exception level is not that of user space */
	s->pc = last.pc;
	s->fp = last.fp;
	s->lr = last.lr;
	s->sp = last.sp;
	s->has_lr = 1;
	return s->pc != 0;
}
#endif

inline_always bool unwind_begin(struct unwind_walk *s)
{
	if (!unwind_take(s))
		return false;
	s->hash = settings.stack_seed ^ s->pc;
	s->has_fp = s->is_exact = 1;
	s->end = UNWIND_GOES_ON;
	s->frames[0] = s->pc;
	s->nr = 1;
	s->map = 0;
	s->window_at = ~0ULL;
	return true;
}

/* ---- processes ---- */

inline_always __u64 unwind_image(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 nth = BPF_CORE_READ(task, self_exec_id);

	return (__u64)BPF_CORE_READ(task, mm) ^ nth << 48;
}

inline_always void unwind_want(__u32 pid, __u64 image)
{
	__u32 at = unwind_cell(pid) & (UNWIND_WANTED - 1);
	struct unwind_wanted *wanted = bpf_map_lookup_elem(&unwind_wanted, &at);

	if (!wanted || wanted->pid)
		return;
	wanted->image = image;
	barrier();
	wanted->pid = pid;
}

inline_always struct unwind_process *unwind_process(__u32 pid, __u32 nr, __u32 *cell)
{
	struct unwind_process *process;

	*cell = (unwind_cell(pid) + nr) & (UNWIND_PROCESSES - 1);
	process = bpf_map_lookup_elem(&unwind_processes, cell);
	return process && process->pid == pid ? process : 0;
}

inline_always struct unwind_process *unwind_find_process(__u32 pid, __u32 *cell)
{
	return unwind_process(pid, 0, cell)   ?: unwind_process(pid, 1, cell)
		       ?: unwind_process(pid, 2, cell)
		       ?: unwind_process(pid, 3, cell)
		       ?: unwind_process(pid, 4, cell)
		       ?: unwind_process(pid, 5, cell)
		       ?: unwind_process(pid, 6, cell)
		       ?: unwind_process(pid, 7, cell);
}
_Static_assert(UNWIND_PROBES == 8, "as many as there are");

#endif
