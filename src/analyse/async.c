/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/async.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *words;
} async_steps[NR_ASYNC_STEPS] = {
	[STEP_LINK] = { "link", "waiting for an earlier request" },
	[STEP_SUBMIT] = { "submit", "in the thread that submits" },
	[STEP_PUNT] = { "punt", "waiting for a worker" },
	[STEP_WORKER] = { "worker", "in a worker" },
	[STEP_DEVICE] = { "device", "its bios or command, to the end" },
	[STEP_POST] = { "post", "done, completion not yet posted" },
	[STEP_REST] = { "rest", "nothing of it is under way" },
};

const char *async_step__name(enum async_step step)
{
	return async_steps[step].name;
}

const char *async_step__words(enum async_step step)
{
	return async_steps[step].words;
}

/* Of <linux/io_uring.h>, whose numbers never change. */
static const char *const async_ops[] = {
	"nop",
	"readv",
	"writev",
	"fsync",
	"read_fixed",
	"write_fixed",
	"poll_add",
	"poll_remove",
	"sync_file_range",
	"sendmsg",
	"recvmsg",
	"timeout",
	"timeout_remove",
	"accept",
	"async_cancel",
	"link_timeout",
	"connect",
	"fallocate",
	"openat",
	"close",
	"files_update",
	"statx",
	"read",
	"write",
	"fadvise",
	"madvise",
	"send",
	"recv",
	"openat2",
	"epoll_ctl",
	"splice",
	"provide_buffers",
	"remove_buffers",
	"tee",
	"shutdown",
	"renameat",
	"unlinkat",
	"mkdirat",
	"symlinkat",
	"linkat",
	"msg_ring",
	"fsetxattr",
	"setxattr",
	"fgetxattr",
	"getxattr",
	"socket",
	"uring_cmd",
	"send_zc",
	"sendmsg_zc",
	"read_multishot",
	"waitid",
	"futex_wait",
	"futex_wake",
	"futex_waitv",
	"fixed_fd_install",
	"ftruncate",
	"bind",
	"listen",
	"recv_zc",
	"epoll_wait",
	"readv_fixed",
	"writev_fixed",
	"pipe",
	"nop128",
	"uring_cmd128",
};

/* Of io_uring, or of libaio. */
const char *async_op__name(uint32_t opcode, char *buf, size_t size)
{
	if (opcode == WAIT_OTHER_CALL)
		return "other";
	if (opcode >= ASYNC_AIO_READ)
		return opcode == ASYNC_AIO_READ ? "aio_read" : "aio_write";
	if (opcode < sizeof(async_ops) / sizeof(async_ops[0]))
		return async_ops[opcode];
	snprintf(buf, size, "op-%u", opcode);
	return buf;
}

/* ---- steps ---- */

/* A moment at which a step begins. */
struct async_mark {
	uint64_t ns;
	enum async_step step;
};

enum { ASYNC_MARKS = 8 };

struct async_marks {
	struct async_mark marks[ASYNC_MARKS];
	size_t nr;
};

/* In order of time; of two at one moment the one that is put later comes later. */
static void async_put(struct async_marks *m, uint64_t ns, enum async_step step)
{
	size_t at = m->nr;

	if (!ns)
		return;
	for (; at && m->marks[at - 1].ns > ns; at--)
		m->marks[at] = m->marks[at - 1];
	m->marks[at] = (struct async_mark){ ns, step };
	m->nr++;
}

/* Who works for the request at this moment, if anybody does. */
static enum async_step async_work(const struct async_record *r, uint64_t ns)
{
	return r->worker_ns && ns >= r->worker_ns ? STEP_WORKER : STEP_SUBMIT;
}

/* All its bios have ended, or it never had any. */
static bool async_bios_ended(const struct async_record *r)
{
	return r->ended >= r->bios;
}

static void async_put_device(struct async_marks *m, const struct async_record *r)
{
	const bool works_on = r->issue_ns <= r->ended_ns && r->ended_ns < r->return_ns;

	async_put(m, r->queued_ns, STEP_DEVICE);
	if (r->queued_ns && async_bios_ended(r))
		async_put(m, r->ended_ns, works_on ? async_work(r, r->ended_ns) : STEP_POST);
}

/* While a bio is under way it does not matter that the call which queued it returns. */
static bool async_is_under_way(const struct async_record *r, uint64_t ns)
{
	return r->queued_ns && ns >= r->queued_ns && (!async_bios_ended(r) || ns < r->ended_ns);
}

/* A command that was handed over before it was issued waits in the queue of its device. */
static enum async_step async_returned(const struct async_record *r)
{
	if (r->queued_ns > r->return_ns)
		return STEP_DEVICE;
	return r->bios || r->flags & ASYNC_PUNTED ? STEP_POST : STEP_REST;
}

static void async_put_issues(struct async_marks *m, const struct async_record *r)
{
	if (r->issue_ns > r->start_ns && !async_is_under_way(r, r->issue_ns))
		async_put(m, r->issue_ns, async_work(r, r->issue_ns));
	if (r->return_ns >= r->issue_ns && !async_is_under_way(r, r->return_ns) &&
	    !(r->punt_ns > r->return_ns))
		async_put(m, r->return_ns, async_returned(r));
}

/* What is not known to have been issued: functions could not be probed, or it was cancelled. */
static enum async_step async_first(const struct async_record *r)
{
	if (r->flags & ASYNC_LINKED)
		return STEP_LINK;
	return r->start_ns || r->punt_ns ? STEP_SUBMIT : STEP_REST;
}

static struct async_marks async_marks_of(const struct async_record *r)
{
	struct async_marks m = { 0 };

	async_put(&m, r->submit_ns, async_first(r));
	if (r->flags & ASYNC_LINKED && !r->worker_ns)
		async_put(&m, r->start_ns, STEP_SUBMIT);
	async_put(&m, r->punt_ns, STEP_PUNT);
	async_put(&m, r->worker_ns, STEP_WORKER);
	async_put_issues(&m, r);
	async_put_device(&m, r);
	return m;
}

uint64_t async__whole_ns(const struct async_record *r)
{
	return r->post_ns - r->submit_ns;
}

/* A moment outside of the request's time, which none should be, counts as its nearest end. */
static uint64_t async_inside(const struct async_record *r, uint64_t ns)
{
	if (ns < r->submit_ns)
		return r->submit_ns;
	return ns < r->post_ns ? ns : r->post_ns;
}

void async__split(const struct async_record *r, uint64_t steps[NR_WAIT_PARTS])
{
	const struct async_marks m = async_marks_of(r);

	memset(steps, 0, NR_WAIT_PARTS * sizeof(steps[0]));
	for (size_t i = 0; i < m.nr; i++) {
		const uint64_t to = i + 1 < m.nr ? m.marks[i + 1].ns : r->post_ns;

		steps[m.marks[i].step] += async_inside(r, to) - async_inside(r, m.marks[i].ns);
	}
}
