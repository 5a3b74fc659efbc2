// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits.bpf.c: what does a thread wait for inside of a call? The functions behind read, write and
 * fsync open and close a cell of the thread; sched_switch and sched_wakeup divide the time between.
 * The kernel's stack at each sleep says why; user space puts it into words. A thread that is in no
 * watched call costs sched_switch two comparisons. Each function has programs for fentry and for
 * kprobes; a kernel that allows neither has the tracepoints of all system calls. It cannot see a
 * call that began before it was attached.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "bpf/cell.h"
#include "bpf/kernel.h"
#include "bpf/wait_call.h"
#include "bpf/wait_command.h"
#include "bpf/wait_held.h"
#include "bpf/wait_journal.h"
#include "bpf/wait_stack.h"
#include "bpf/wait_task.h"
#include "wire/io_stages.h"
#include "wire/waits.h"

char LICENSE[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* A plain number until 5.13, another name since (2f064a59a11f). */
struct task_struct___state {
	long state;
};

struct task_struct___renamed {
	unsigned int __state;
};

struct task_struct___plug {
	void *plug;
};

struct thread_info___abi {
	unsigned int status; /* x86_64 */
	unsigned long flags; /* arm64 */
};

struct task_struct___abi {
	struct thread_info___abi thread_info;
};

#pragma clang attribute pop

/* ---- the scheduler ---- */

/* The last cell takes the sleeps at all further places. */
inline_always void sleep_add(struct wait_task *t, __u64 ns, enum wait_io io)
{
	struct wait_record *r = &t->record;
	__u32 i, nr = r->nr_sleeps;

#pragma clang loop unroll(disable)
	for (i = 0; i < WAIT_SLEEPS - 1; i++)
		if (i >= nr || (r->sleeps[i].stack == t->stack && r->sleeps[i].io == io))
			break;
	if (i >= nr) {
		r->nr_sleeps = i + 1;
		r->sleeps[i] = (struct wait_sleep){ .stack = t->stack, .io = io };
	} else if (i == WAIT_SLEEPS - 1) {
		r->sleeps[i].stack = 0;
	}
	r->sleeps[i].ns += ns;
	r->sleeps[i].nr++;
}

/* A sleep in which the last bio was let go is two. */
inline_always void sleep_ends(struct wait_task *t, __u64 woken)
{
	__u64 from = t->since_ns;

	if (t->io == WAIT_IO_HELD) {
		from = held_until(t, woken);
		sleep_add(t, from - t->since_ns, WAIT_IO_HELD);
		if (from == woken)
			return;
		t->io = WAIT_IO_OWN;
	}
	sleep_add(t, woken - from, t->io);
}

/*
 * A sequential reader waits for what it has submitted in an earlier call: read-ahead. One sleep is
 * for one bio. When a call submits more, the reader has passed all but the bios that the last such
 * call submitted: these are done. With a plug it is still submitting, and waits for a tag.
 */
inline_always bool reads_ahead(const struct wait_task *t)
{
	return t->by <= BY_READV || t->by == BY_FAULT;
}

inline_always void bio_submitted(struct wait_task *t)
{
	const bool is_first = !t->record.bios++;

	if (!reads_ahead(t))
		return;
	if (is_first) {
		t->nr_before = t->ahead_of == t->address ? t->nr_ahead : 0;
		t->nr_ahead = 0;
		t->ahead_of = t->address;
	}
	t->nr_ahead++;
}

inline_always bool io_is_own(struct wait_task *t, struct task_struct *task)
{
	if (!reads_ahead(t) || t->ahead_of != t->address ||
	    ((struct task_struct___plug *)task)->plug)
		return t->record.bios;
	if (t->nr_before)
		t->nr_before--;
	else if (t->nr_ahead)
		t->nr_ahead--;
	else
		return t->record.bios;
	return true;
}

inline_always void task_leaves(void *ctx, struct wait_task *t, struct task_struct *task,
			       bool sleeps)
{
	__u64 now = later(bpf_ktime_get_ns(), t->since_ns);

	t->record.cpu_ns += now - t->since_ns;
	t->since_ns = now;
	t->woken_ns = 0;
	t->state = sleeps ? SLEEPS : RUNNABLE;
	if (!sleeps)
		return;
	t->io = held_any(t) ? WAIT_IO_HELD : io_is_own(t, task) ? WAIT_IO_OWN : WAIT_IO_NONE;
	t->stack = stack_number(ctx, t);
}

inline_always void task_returns(struct wait_task *t)
{
	__u64 now = later(bpf_ktime_get_ns(), t->since_ns), woken = t->since_ns;

	if (t->state == SLEEPS) {
		woken = t->woken_ns ? later(t->woken_ns, t->since_ns) : now;
		if (woken > now)
			woken = now;
		sleep_ends(t, woken);
	}
	t->record.runnable_ns += now - woken;
	t->since_ns = now;
	t->state = ON_CPU;
}

inline_always bool task_is_running(struct task_struct *task)
{
	struct task_struct___renamed *renamed = (void *)task;
	struct task_struct___state *older = (void *)task;

	if (bpf_core_field_exists(renamed->__state))
		return !renamed->__state;
	return !older->state;
}

/* Not inlined: the program of all other tasks then saves no registers. */
static __noinline int switch_watched(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	struct wait_task *t = task_of(prev->pid);

	if (t && t->state == ON_CPU)
		task_leaves(ctx, t, prev, !(__u8)ctx[0] && !task_is_running(prev));
	t = task_of(next->pid);
	if (t && t->state != UNSURE)
		task_returns(t);
	return 0;
}

SEC("tp_btf/sched_switch")
int waits_switch(__u64 *ctx)
{
	const __u32 prev = ((struct task_struct *)ctx[1])->pid;
	const __u32 next = ((struct task_struct *)ctx[2])->pid;
	__u32 *owners = wait_owners; /* one address for both: it costs three instructions */

	asm volatile("" : "+r"(owners));
	if (owners[prev & (WAIT_TASKS - 1)] == prev + 1 ||
	    owners[next & (WAIT_TASKS - 1)] == next + 1)
		return switch_watched(ctx);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(waits_wakeup, struct task_struct *task)
{
	struct wait_task *t = task_of(task->pid);

	if (t && t->state == SLEEPS && !t->woken_ns)
		t->woken_ns = bpf_ktime_get_ns();
	return 0;
}

/* A bio that was held back comes from a worker. */
SEC("raw_tp/block_bio_queue")
int waits_bio(struct bpf_raw_tracepoint_args *ctx)
{
	struct wait_task *t = task_of((__u32)bpf_get_current_pid_tgid());

	if (held_anywhere)
		held_release(bio_of(ctx));
	if (!t) {
		if (settings.commands)
			commit_queues(bio_of(ctx));
		return 0;
	}
	bio_submitted(t);
	if (settings.commands)
		bio_follow(bio_of(ctx), t->record.tid, t->record.start_ns);
	return 0;
}

/* ---- commands ---- */

SEC("raw_tp/block_split")
int waits_split(struct bpf_raw_tracepoint_args *ctx)
{
	if (bios_anywhere)
		bio_follow_part((struct bio *)bio_of(ctx));
	return 0;
}

SEC("raw_tp/block_rq_issue")
int waits_issue(struct bpf_raw_tracepoint_args *ctx)
{
	if (bios_anywhere)
		command_issued((struct request *)request_of(ctx));
	return 0;
}

SEC("raw_tp/block_rq_complete")
int waits_complete(struct bpf_raw_tracepoint_args *ctx)
{
	if (bios_anywhere)
		command_completed((struct request *)ctx->args[0], (__u32)ctx->args[2]);
	return 0;
}

/* ---- limits of cgroups ---- */

SEC("fentry/__blk_throtl_bio")
int BPF_PROG(waits_limit, struct bio *bio)
{
	held_enter((__u64)bio);
	return 0;
}

SEC("fexit/__blk_throtl_bio")
int BPF_PROG(waits_limit_end, struct bio *bio, __u64 is_held)
{
	held_leave((__u8)is_held);
	return 0;
}

SEC("kprobe")
int waits_limit_k(struct pt_regs *ctx)
{
	held_enter(PT_REGS_PARM1(ctx));
	return 0;
}

SEC("kretprobe")
int waits_limit_k_end(struct pt_regs *ctx)
{
	held_leave((__u8)PT_REGS_RC(ctx));
	return 0;
}

/* ---- functions ---- */

#define RETURNS(function, by, name)                       \
	SEC("fexit/" #function) int name##_end(void *ctx) \
	{                                                 \
		call_ends(by);                            \
		return 0;                                 \
	}                                                 \
	SEC("kretprobe") int name##_k_end(void *ctx)      \
	{                                                 \
		call_ends(by);                            \
		return 0;                                 \
	}

/* number: of the argument that call_begins_in asks for; all functions have a third one. */
#define CALL(function, by, name, number)                                                          \
	SEC("fentry/" #function) int name(__u64 *ctx)                                             \
	{                                                                                         \
		call_begins_in((void *)ctx[0], by, (__u32)ctx[(number)-1], TYPED);                \
		return 0;                                                                         \
	}                                                                                         \
	SEC("kprobe") int name##_k(struct pt_regs *ctx)                                           \
	{                                                                                         \
		call_begins_in((void *)PT_REGS_PARM1(ctx), by, PT_REGS_PARM##number(ctx), PLAIN); \
		return 0;                                                                         \
	}                                                                                         \
	RETURNS(function, by, name)

#define FAULT(function, by, name)                                    \
	SEC("fentry/" #function) int name(__u64 *ctx)                \
	{                                                            \
		fault_begins((void *)ctx[0], by, TYPED);             \
		return 0;                                            \
	}                                                            \
	SEC("kprobe") int name##_k(struct pt_regs *ctx)              \
	{                                                            \
		fault_begins((void *)PT_REGS_PARM1(ctx), by, PLAIN); \
		return 0;                                            \
	}                                                            \
	RETURNS(function, by, name)

CALL(vfs_read, BY_READ, waits_read, 3)
CALL(vfs_readv, BY_READV, waits_readv, 3)
CALL(vfs_write, BY_WRITE, waits_write, 3)
CALL(vfs_writev, BY_WRITEV, waits_writev, 5)
CALL(vfs_fsync_range, BY_FSYNC_RANGE, waits_range, 4)
CALL(sync_file_range, BY_SYNC_RANGE, waits_part, 3)
FAULT(__do_fault, BY_FAULT, waits_fault)
FAULT(do_page_mkwrite, BY_MKWRITE, waits_mkwrite)
FAULT(fault_dirty_shared_page, BY_DIRTIED, waits_dirtied)

SEC("fentry/do_fsync")
int BPF_PROG(waits_fsync, unsigned int fd, int datasync)
{
	call_begins_on(fd, BY_FSYNC, datasync);
	return 0;
}

SEC("kprobe")
int waits_fsync_k(struct pt_regs *ctx)
{
	call_begins_on((__u32)PT_REGS_PARM1(ctx), BY_FSYNC, (__u32)PT_REGS_PARM2(ctx));
	return 0;
}

RETURNS(do_fsync, BY_FSYNC, waits_fsync)

SEC("fentry/do_filp_open")
int waits_opens(void *ctx)
{
	open_begins();
	return 0;
}

SEC("kprobe")
int waits_opens_k(struct pt_regs *ctx)
{
	open_begins();
	return 0;
}

SEC("fexit/do_filp_open")
int waits_opens_end(__u64 *ctx)
{
	open_ends((void *)ctx[3]); /* what it returns, after three arguments */
	return 0;
}

SEC("kretprobe")
int waits_opens_k_end(struct pt_regs *ctx)
{
	open_ends((void *)PT_REGS_RC(ctx));
	return 0;
}

/* ---- system calls: where functions cannot be probed ---- */

const volatile __u8 system_calls[WAIT_SYSTEM_CALLS] = { 0 }; /* enum wait_system_call, by number */

/* Of 64 bits: a call of 32 bits has a number of its own. */
#if defined(__TARGET_ARCH_x86)
#define FIRST_ARGUMENT(regs) (&(regs)->rdi)
#define SIXTH_ARGUMENT(regs) (&(regs)->r9)
#define TASK_IS_32_BIT(task) (BPF_CORE_READ(task, thread_info.status) & 1 << 1) /* TS_COMPAT */
#else
#define FIRST_ARGUMENT(regs) (&((struct user_pt_regs *)(regs))->regs[0])
#define SIXTH_ARGUMENT(regs) (&((struct user_pt_regs *)(regs))->regs[5])
#define TASK_IS_32_BIT(task) (BPF_CORE_READ(task, thread_info.flags) & 1 << 22) /* TIF_32BIT */
#endif

inline_always enum wait_function function_behind(enum wait_system_call call)
{
	switch (call) {
	case SYSTEM_READ: return BY_READ;
	case SYSTEM_WRITE: return BY_WRITE;
	case SYSTEM_PWRITEV2: return BY_WRITEV;
	case SYSTEM_SYNC_RANGE: return BY_SYNC_RANGE;
	default: return BY_FSYNC;
	}
}

SEC("raw_tp/sys_enter")
int waits_enter(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct___abi *task = (void *)bpf_get_current_task();
	struct pt_regs *regs = (void *)ctx->args[0];
	const __u64 number = ctx->args[1];
	__u64 fd = 0, flags = 0;
	__u8 call;

	if (number >= WAIT_SYSTEM_CALLS)
		return 0;
	call = system_calls[number];
	if (!call || TASK_IS_32_BIT(task))
		return 0;
	if (call == SYSTEM_OPEN) {
		open_begins();
		return 0;
	}
	bpf_probe_read_kernel(&fd, sizeof(fd), FIRST_ARGUMENT(regs));
	if (call == SYSTEM_PWRITEV2)
		bpf_probe_read_kernel(&flags, sizeof(flags), SIXTH_ARGUMENT(regs));
	else
		flags = call == SYSTEM_FDATASYNC;
	call_begins_on((__u32)fd, function_behind(call), (__u32)flags);
	return 0;
}

SEC("raw_tp/sys_exit")
int waits_leave(struct bpf_raw_tracepoint_args *ctx)
{
	struct wait_task *t = task_of((__u32)bpf_get_current_pid_tgid());
	const __s64 result = ctx->args[1];

	if (t && t->by == BY_OPEN)
		open_ends(result < 0 ? 0 : file_of((__u32)result));
	else if (t)
		call_ends(t->by);
	return 0;
}
