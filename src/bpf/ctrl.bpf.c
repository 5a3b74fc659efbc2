// SPDX-License-Identifier: GPL-2.0-only
/*
 * ctrl.bpf.c: what happens to a controller that no tracepoint reports: it changes its state, or a
 * command times out. Two functions of the driver, each traced by fentry and fexit where the kernel
 * has them, else by kprobes; records go into the rings of the io programs.
 */
#include <linux/types.h>
#include <stdbool.h>
#include <linux/ptrace.h>
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpf/ring.h"
#include "wire/io_tables.h"
#include "wire/io_record.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 instance_at; /* of nvme_ctrl.instance */
__u64 dropped;			  /* records: the ring was full */

/* Between entry and return, by task. */
struct change {
	__u64 ctrl;
	__u32 state;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct change);
} changes SEC(".maps");

static __always_inline struct io_record *event_new(__u32 event)
{
	__u32 cpu = bpf_get_smp_processor_id();
	void *ring = bpf_map_lookup_elem(&io_rings, &cpu);
	struct io_record *r = ring ? bpf_ringbuf_reserve(ring, sizeof(*r), 0) : 0;

	if (!r) {
		__sync_fetch_and_add(&dropped, 1);
		return 0;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->first_ns = r->last_ns = r->end_ns = bpf_ktime_get_ns();
	r->device = RECORD_NO_DEVICE;
	r->cpu = cpu;
	r->kind = IO_ADMIN;
	r->op = event;
	r->what = RECORD_EVENT;
	return r;
}

static __always_inline int state_changed(__u64 ctrl, __u32 state)
{
	struct io_record *r = event_new(EVENT_STATE);

	if (!r)
		return 0;
	r->cdw10[0] = state;
	bpf_probe_read_kernel(&r->nsid, sizeof(r->nsid), (void *)ctrl + instance_at);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* User space finds the command by the request's address. */
static __always_inline int timed_out(__u64 rq)
{
	struct io_record *r = event_new(EVENT_TIMEOUT);

	if (!r)
		return 0;
	r->result = rq;
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("fexit/nvme_change_ctrl_state")
int BPF_PROG(ctrl_state, void *ctrl, __u32 state, bool changed)
{
	return changed ? state_changed((__u64)ctrl, state) : 0;
}

SEC("fentry/nvme_timeout")
int BPF_PROG(ctrl_timeout, void *rq)
{
	return timed_out((__u64)rq);
}

SEC("kprobe/nvme_change_ctrl_state")
int BPF_KPROBE(ctrl_state_enters, void *ctrl, __u32 state)
{
	struct change change = { .ctrl = (__u64)ctrl, .state = state };
	__u64 task = bpf_get_current_pid_tgid();

	bpf_map_update_elem(&changes, &task, &change, BPF_ANY);
	return 0;
}

SEC("kretprobe/nvme_change_ctrl_state")
int BPF_KRETPROBE(ctrl_state_leaves, bool changed)
{
	__u64 task = bpf_get_current_pid_tgid();
	struct change *change = bpf_map_lookup_elem(&changes, &task);

	if (!change)
		return 0;
	if (changed)
		state_changed(change->ctrl, change->state);
	bpf_map_delete_elem(&changes, &task);
	return 0;
}

SEC("kprobe/nvme_timeout")
int BPF_KPROBE(ctrl_timeout_k, void *rq)
{
	return timed_out((__u64)rq);
}
