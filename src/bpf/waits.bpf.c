// SPDX-License-Identifier: GPL-2.0-only
/*
 * waits.bpf.c: what does a thread wait for inside of a call? The functions behind read, write and
 * fsync open and close a cell of the thread; sched_switch and sched_wakeup divide the time between.
 * The kernel's stack at each sleep says why; user space puts it into words. A thread that is in no
 * watched call costs sched_switch two comparisons. Each function has programs for fentry and for
 * kprobes. It cannot see a call that began before it was attached.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
#include "bpf/cell.h"
#include "bpf/cgroup.h"
#include "bpf/kernel.h"
#include "bpf/names.h"
#include "bpf/wait_command.h"
#include "bpf/wait_held.h"
#include "bpf/wait_journal.h"
#include "bpf/wait_stack.h"
#include "bpf/wait_task.h"
#include "wire/io_stages.h"
#include "wire/waits.h"

char LICENSE[] SEC("license") = "GPL";

enum { WAIT_S_IFREG = 0100000, WAIT_S_IFDIR = 0040000 };
enum { WAIT_O_DSYNC = 010000, WAIT_RWF_SYNCS = 0x2 | 0x4 }; /* O_SYNC has the bit of O_DSYNC */

/* Where a call begins. Compilers put vfs_fsync_range into do_fsync, too (Linux 7.2). */
enum wait_function {
	BY_READ,
	BY_READV,
	BY_WRITE,
	BY_WRITEV,
	BY_FSYNC_RANGE,
	BY_FSYNC,
	BY_SYNC_RANGE,
	BY_FAULT,   /* from here on: parts of a page fault */
	BY_MKWRITE, /* a page is going to be written */
	BY_DIRTIED,
};

inline_always enum wait_call call_of(enum wait_function function, bool is_sync)
{
	switch (function) {
	case BY_READ:
	case BY_READV: return WAIT_READ;
	case BY_WRITE:
	case BY_WRITEV: return is_sync ? WAIT_SYNCWRITE : WAIT_WRITE;
	case BY_FSYNC_RANGE:
	case BY_FSYNC: return is_sync ? WAIT_FDATASYNC : WAIT_FSYNC;
	case BY_SYNC_RANGE: return WAIT_SYNCRANGE;
	default: return WAIT_FAULT;
	}
}

TABLE(wait_files, struct io_file, FILES_MOST);

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* A plain number until 5.13, another name since (2f064a59a11f). */
struct task_struct___state {
	long state;
};

struct task_struct___renamed {
	unsigned int __state;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct___files {
	struct files_struct *files;
};

struct file___flags {
	unsigned int f_flags;
};

struct vm_fault {
	struct vm_area_struct *vma;
};

#pragma clang attribute pop

/* ---- which calls ---- */

inline_always bool task_is_wanted(void)
{
	__u64 comm[WAIT_COMM_LEN / 8] = { 0 };
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	if (pid == settings.self || (settings.filter_pid && pid != settings.filter_pid))
		return false;
	if (settings.filter_comm[0]) {
		bpf_get_current_comm(comm, sizeof(comm));
		if (comm[0] != settings.filter_comm[0] || comm[1] != settings.filter_comm[1])
			return false;
	}
	return !settings.filter_cgroup ||
	       cgroup_ancestor(settings.filter_cgroup_level) == settings.filter_cgroup;
}

inline_always bool file_is_wanted(struct inode *inode, __u16 mode, const enum pointers pointers)
{
	const __u16 kind = mode & S_IFMT;
	const bool is_disk = kind == S_IFBLK;
	__u32 dev;

	if (!is_disk && kind != WAIT_S_IFREG && kind != WAIT_S_IFDIR)
		return false;
	if (!settings.filter_file)
		return true;
	dev = is_disk ? field_of(pointers, inode, i_rdev) : BPF_CORE_READ(inode, i_sb, s_dev);
	return dev == settings.filter_dev &&
	       (is_disk ? FILE_METADATA : field_of(pointers, inode, i_ino)) ==
		       settings.filter_inode;
}

/* ---- a call ---- */

/* What begins: a call at this function. */
struct wait_start {
	struct inode *inode;
	__u16 mode;
	enum wait_function by;
	enum wait_call call;
};

inline_always void call_open(struct wait_task *t, const struct wait_start *start, __u32 tid)
{
	struct wait_record *r = &t->record;

	t->by = start->by;
	r->call = start->call;
	r->tid = tid;
	r->cpu_ns = r->runnable_ns = 0;
	r->bios = 0;
	r->nr_sleeps = 0;
	t->nr_held = t->nr_released = 0;
	t->bio = 0;
	t->address = (__u64)start->inode;
	fresh(t->state) = UNSURE;
	fresh(*owner_of(tid)) = tid + 1;
	r->start_ns = t->since_ns = bpf_ktime_get_ns();
	fresh(t->state) = ON_CPU;
}

/* True: the thread is in a call that this one belongs to. */
inline_always bool is_part(const struct wait_task *t, bool is_in_call, enum wait_function by)
{
	if (!is_in_call)
		return false;
	if (by >= BY_FAULT)
		return t->by < BY_FAULT;
	return by == BY_FSYNC_RANGE &&
	       (t->by == BY_WRITE || t->by == BY_WRITEV || t->by == BY_FSYNC);
}

inline_always void call_begins(const struct wait_start *start, const enum pointers pointers)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u32 mine = bpf_get_smp_processor_id() + 1, owner;
	struct wait_task *t;

	if (!(settings.calls >> start->call & 1) ||
	    !file_is_wanted(start->inode, start->mode, pointers) || !task_is_wanted())
		return;
	t = cell_of(tid);
	if (!t || is_part(t, *owner_of(tid) == tid + 1, start->by))
		return;
	if (!cell_hold(&t->claim, mine)) {
		count(no_room);
		return;
	}
	owner = fresh(*owner_of(tid));
	if (owner && owner != tid + 1) {
		count(no_room);
	} else {
		if (owner)
			count(unclosed);
		count(begun);
		call_open(t, start, tid);
	}
	cell_release(&t->claim, mine);
}

/* argument: of vfs_writev its flags, of those that synchronize whether the data is enough. */
inline_always bool is_sync(struct file *file, enum wait_function by, __u32 argument,
			   const enum pointers pointers)
{
	struct file___flags *flags = (void *)file;

	if (by == BY_FSYNC_RANGE || by == BY_FSYNC)
		return argument;
	if (by == BY_WRITEV && argument & WAIT_RWF_SYNCS)
		return true;
	return (by == BY_WRITE || by == BY_WRITEV) &&
	       field_of(pointers, flags, f_flags) & WAIT_O_DSYNC;
}

inline_always void call_begins_in(struct file *file, enum wait_function by, __u32 argument,
				  const enum pointers pointers)
{
	struct inode *inode = field_of(pointers, file, f_inode);
	struct wait_start start = { .inode = inode, .by = by };

	if (!inode)
		return;
	start.mode = field_of(pointers, inode, i_mode);
	start.call = call_of(by, is_sync(file, by, argument, pointers));
	call_begins(&start, pointers);
}

inline_always void fault_begins(struct vm_fault *fault, enum wait_function by,
				const enum pointers pointers)
{
	struct vm_area_struct *area = field_of(pointers, fault, vma);
	struct file *file = area ? field_of(pointers, area, vm_file) : 0;

	if (file)
		call_begins_in(file, by, 0, pointers);
}

/* The file of a descriptor of this process. */
inline_always void call_begins_on(__u32 fd, enum wait_function by, __u32 argument)
{
	struct task_struct___files *task = (void *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **at = BPF_CORE_READ(table, fd), *file = 0;

	if (fd >= BPF_CORE_READ(table, max_fds))
		return;
	bpf_probe_read_kernel(&file, sizeof(file), at + fd);
	if (file)
		call_begins_in(file, by, argument, PLAIN);
}

inline_always void record_file(struct wait_task *t)
{
	struct inode *inode = (struct inode *)t->address;
	struct wait_record *r = &t->record;
	struct wait_counters *c;
	struct file_seen seen = { .address = t->address };

	r->nth = 0;
	if ((BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFBLK) {
		r->inode = FILE_METADATA;
		r->dev = BPF_CORE_READ(inode, i_rdev);
		return;
	}
	r->inode = seen.inode = BPF_CORE_READ(inode, i_ino);
	r->dev = seen.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	seen.generation = inode_generation(inode);
	c = counters();
	if (c)
		r->nth = file_find_nth(&wait_files, &seen, &c->no_file);
}

inline_always void record_send(struct wait_task *t)
{
	struct wait_record *r = &t->record;

	record_file(t);
	r->pid = bpf_get_current_pid_tgid() >> 32;
	r->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	if (bpf_ringbuf_output(&wait_records, r, sizeof(*r), BPF_RB_NO_WAKEUP))
		count(lost);
	else
		count(sent);
}

inline_always void call_ends(enum wait_function by)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct wait_task *t = task_of(tid);
	struct wait_record *r;
	__u64 now;

	if (!t || t->by != by)
		return;
	fresh(t->state) = UNSURE;
	now = later(bpf_ktime_get_ns(), t->since_ns);
	r = &t->record;
	r->cpu_ns += now - t->since_ns;
	r->end_ns = now;
	count(ended);
	if (r->nr_sleeps || r->runnable_ns) {
		count(waited);
		if (now - r->start_ns >= settings.min_ns)
			record_send(t);
	}
	fresh(*owner_of(tid)) = 0;
}

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

inline_always void task_leaves(void *ctx, struct wait_task *t, bool sleeps)
{
	__u64 now = later(bpf_ktime_get_ns(), t->since_ns);

	t->record.cpu_ns += now - t->since_ns;
	t->since_ns = now;
	t->woken_ns = 0;
	t->state = sleeps ? SLEEPS : RUNNABLE;
	if (!sleeps)
		return;
	t->io = held_any(t) ? WAIT_IO_HELD : t->record.bios ? WAIT_IO_OWN : WAIT_IO_NONE;
	t->stack = stack_number(ctx);
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
		task_leaves(ctx, t, !(__u8)ctx[0] && !task_is_running(prev));
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
	t->record.bios++;
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
