/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wait_call.h: a watched call begins and ends: its cell is opened if the file and the task are
 * wanted, and its record is sent if it waited. A call may be part of another one, which it then
 * belongs to.
 */
#ifndef IOSONAR_BPF_WAIT_CALL_H
#define IOSONAR_BPF_WAIT_CALL_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include "bpf/cell.h"
#include "bpf/cgroup.h"
#include "bpf/kernel.h"
#include "bpf/names.h"
#include "bpf/wait_task.h"
#include "wire/known.h"
#include "wire/waits.h"

enum { WAIT_S_IFREG = 0100000, WAIT_S_IFDIR = 0040000 };
enum { MAX_ERRNO = 4095 };
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
	BY_OPEN,
	BY_FAULT,   /* from here on: parts of a page fault */
	BY_MKWRITE, /* a page is going to be written */
	BY_DIRTIED,
	NR_WAIT_FUNCTIONS,
};
_Static_assert(NR_WAIT_FUNCTIONS <= KNOWN_SETS, "places for all");

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
	case BY_OPEN: return WAIT_OPEN;
	default: return WAIT_FAULT;
	}
}

TABLE(wait_files, struct io_file, FILES_MOST);

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

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

/* What begins: a call at this function. An open has no file yet. */
struct wait_start {
	struct inode *inode;
	enum wait_function by;
	enum wait_call call;
};

inline_always void call_open(struct wait_task *t, const struct wait_start *start, __u32 tid)
{
	struct wait_record *r = &t->record;

	t->by = start->by;
	if (r->tid != tid)
		t->ahead_of = 0;
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
	if (t->by == BY_OPEN)
		return by == BY_FSYNC_RANGE; /* overlayfs copies a file up */
	return by == BY_FSYNC_RANGE &&
	       (t->by == BY_WRITE || t->by == BY_WRITEV || t->by == BY_FSYNC);
}

inline_always void call_begins(const struct wait_start *start)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	__u32 mine = bpf_get_smp_processor_id() + 1, owner;
	struct wait_task *t;

	if (!(settings.calls >> start->call & 1) || !task_is_wanted())
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
	start.call = call_of(by, is_sync(file, by, argument, pointers));
	if (file_is_wanted(inode, field_of(pointers, inode, i_mode), pointers))
		call_begins(&start);
}

inline_always void open_begins(void)
{
	const struct wait_start start = { .by = BY_OPEN, .call = WAIT_OPEN };

	call_begins(&start);
}

inline_always void fault_begins(struct vm_fault *fault, enum wait_function by,
				const enum pointers pointers)
{
	struct vm_area_struct *area = field_of(pointers, fault, vma);
	struct file *file = area ? field_of(pointers, area, vm_file) : 0;

	if (file)
		call_begins_in(file, by, 0, pointers);
}

/* The file of a descriptor of this process; NULL: there is none. */
inline_always struct file *file_of(__u32 fd)
{
	struct task_struct___files *task = (void *)bpf_get_current_task();
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);
	struct file **at = BPF_CORE_READ(table, fd), *file = 0;

	if (fd >= BPF_CORE_READ(table, max_fds))
		return 0;
	bpf_probe_read_kernel(&file, sizeof(file), at + fd);
	return file;
}

inline_always void call_begins_on(__u32 fd, enum wait_function by, __u32 argument)
{
	struct file *file = file_of(fd);

	if (file)
		call_begins_in(file, by, argument, PLAIN);
}

inline_always void record_file(struct wait_task *t, struct wait_counters *c)
{
	struct inode *inode = (struct inode *)t->address;
	struct wait_record *r = &t->record;
	struct file_seen seen = { .address = t->address };

	r->nth = 0;
	if (!inode) {
		r->inode = r->dev = 0;
		return;
	}
	if ((BPF_CORE_READ(inode, i_mode) & S_IFMT) == S_IFBLK) {
		r->inode = FILE_METADATA;
		r->dev = BPF_CORE_READ(inode, i_rdev);
		return;
	}
	r->inode = seen.inode = BPF_CORE_READ(inode, i_ino);
	r->dev = seen.dev = BPF_CORE_READ(inode, i_sb, s_dev);
	seen.generation = inode_generation(inode);
	if (c)
		r->nth = file_find_nth(&wait_files, &seen, &c->no_file);
}

inline_always void record_send(struct wait_task *t, struct wait_counters *c)
{
	struct wait_record *r = &t->record;

	record_file(t, c);
	r->pid = bpf_get_current_pid_tgid() >> 32;
	r->cgroup = bpf_get_current_cgroup_id();
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	if (bpf_ringbuf_output(&wait_records, r, sizeof(*r), BPF_RB_NO_WAKEUP))
		count_in(c, lost);
	else
		count_in(c, sent);
}

inline_always void call_close(struct wait_task *t)
{
	struct wait_counters *c = counters();
	struct wait_record *r = &t->record;
	__u64 now;

	fresh(t->state) = UNSURE;
	now = later(bpf_ktime_get_ns(), t->since_ns);
	r->cpu_ns += now - t->since_ns;
	r->end_ns = now;
	count_in(c, ended);
	if (r->nr_sleeps || r->runnable_ns) {
		count_in(c, waited);
		if (now - r->start_ns >= settings.min_ns)
			record_send(t, c);
	}
	fresh(*owner_of(r->tid)) = 0;
}

inline_always void call_ends(enum wait_function by)
{
	struct wait_task *t = task_of((__u32)bpf_get_current_pid_tgid());

	if (t && t->by == by)
		call_close(t);
}

/* An open that failed may have waited, too: it is a call without a file. */
inline_always bool opened_is_wanted(struct wait_task *t, struct file *file)
{
	struct inode *inode;

	if (!file || (__u64)file >= (__u64)-MAX_ERRNO)
		return !settings.filter_file;
	inode = BPF_CORE_READ(file, f_inode);
	t->address = (__u64)inode;
	return inode && file_is_wanted(inode, BPF_CORE_READ(inode, i_mode), PLAIN);
}

/* file: NULL or an error: the open failed. */
inline_always void open_ends(struct file *file)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct wait_task *t = task_of(tid);

	if (!t || t->by != BY_OPEN)
		return;
	if (opened_is_wanted(t, file)) {
		call_close(t);
		return;
	}
	count(unwanted);
	fresh(*owner_of(tid)) = 0;
}

#endif
