/* SPDX-License-Identifier: BSD-2-Clause */
#include "capture/waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"

void capture_waits__free(struct capture_waits *w)
{
	free(w->waits);
	memset(w, 0, sizeof(*w));
}

uint64_t capture_wait__time_ns(const struct capture_wait *wait)
{
	switch (wait->kind) {
	case CAPTURE_WAIT_CALL: return wait->call.end_ns;
	case CAPTURE_WAIT_COMMAND: return wait->command.end_ns;
	case CAPTURE_WAIT_COMMIT: return wait->commit.end_ns;
	case CAPTURE_WAIT_REQUEST: return wait->request.post_ns;
	default: return wait->task.start_ns;
	}
}

bool capture_wait__counts(const struct capture_wait *wait)
{
	return wait->kind == CAPTURE_WAIT_CALL || wait->kind == CAPTURE_WAIT_REQUEST;
}

/* ---- parts of entries ---- */

static void waits_put_time(struct byte_out *out, uint64_t ns, uint64_t base_ns)
{
	byte_out__varint(out, zigzag__put((int64_t)(ns - base_ns)));
}

static uint64_t waits_get_time(struct byte_in *in, uint64_t base_ns)
{
	return base_ns + (uint64_t)zigzag__get(byte_in__varint(in));
}

static void waits_put_name(struct byte_out *out, const char *name, size_t size)
{
	size_t len = strnlen(name, size);

	byte_out__varint(out, len);
	byte_out__put(out, name, len);
}

static void waits_get_name(struct byte_in *in, char *name, size_t size)
{
	struct byte_in part = byte_in__part(in);
	size_t len = part.bad ? 0 : byte_in__left(&part);

	if (len)
		memcpy(name, part.at, len < size ? len : size);
}

static uint32_t waits_get_u32(struct byte_in *in)
{
	return (uint32_t)byte_in__varint(in);
}

/* ---- calls ---- */

static void waits_put_call(struct byte_out *out, const struct wait_record *r, uint64_t base_ns)
{
	byte_out__varint(out, r->call);
	waits_put_time(out, r->end_ns, base_ns);
	byte_out__varint(out, r->end_ns - r->start_ns);
	byte_out__varint(out, r->cpu_ns);
	byte_out__varint(out, r->runnable_ns);
	byte_out__varint(out, r->inode);
	byte_out__varint(out, r->dev);
	byte_out__varint(out, r->nth);
	byte_out__varint(out, r->cgroup);
	byte_out__varint(out, r->pid);
	byte_out__varint(out, r->tid);
	byte_out__varint(out, r->bios);
	waits_put_name(out, r->comm, sizeof(r->comm));
	byte_out__varint(out, r->nr_sleeps);
	for (int i = 0; i < r->nr_sleeps && i < WAIT_SLEEPS; i++) {
		byte_out__varint(out, r->sleeps[i].ns);
		byte_out__varint(out, r->sleeps[i].stack);
		byte_out__varint(out, r->sleeps[i].nr);
		byte_out__varint(out, r->sleeps[i].io);
	}
}

static void waits_get_sleeps(struct byte_in *in, struct wait_record *r)
{
	uint64_t nr = byte_in__varint(in);

	in->bad |= nr > WAIT_SLEEPS;
	if (in->bad)
		return;
	r->nr_sleeps = (uint8_t)nr;
	for (uint64_t i = 0; i < nr; i++) {
		uint64_t io;

		r->sleeps[i].ns = byte_in__varint(in);
		r->sleeps[i].stack = waits_get_u32(in);
		r->sleeps[i].nr = (uint16_t)byte_in__varint(in);
		io = byte_in__varint(in);
		r->sleeps[i].io = (uint8_t)io;
		in->bad |= io > WAIT_IO_HELD;
	}
}

static void waits_get_call(struct byte_in *in, struct wait_record *r, uint64_t base_ns)
{
	r->call = (uint8_t)byte_in__varint(in);
	r->end_ns = waits_get_time(in, base_ns);
	r->start_ns = r->end_ns - byte_in__varint(in);
	r->cpu_ns = byte_in__varint(in);
	r->runnable_ns = byte_in__varint(in);
	r->inode = byte_in__varint(in);
	r->dev = waits_get_u32(in);
	r->nth = (uint16_t)byte_in__varint(in);
	r->cgroup = byte_in__varint(in);
	r->pid = waits_get_u32(in);
	r->tid = waits_get_u32(in);
	r->bios = waits_get_u32(in);
	waits_get_name(in, r->comm, sizeof(r->comm));
	waits_get_sleeps(in, r);
}

/* ---- what they waited for ---- */

static void waits_put_command(struct byte_out *out, const struct wait_command *c, uint64_t base_ns)
{
	waits_put_time(out, c->start_ns, base_ns);
	waits_put_time(out, c->issue_ns, base_ns);
	waits_put_time(out, c->end_ns, base_ns);
	byte_out__varint(out, c->tid);
	byte_out__varint(out, c->op);
	byte_out__varint(out, c->sector);
	byte_out__varint(out, c->bytes);
	waits_put_name(out, c->disk, sizeof(c->disk));
}

static void waits_get_command(struct byte_in *in, struct wait_command *c, uint64_t base_ns)
{
	c->start_ns = waits_get_time(in, base_ns);
	c->issue_ns = waits_get_time(in, base_ns);
	c->end_ns = waits_get_time(in, base_ns);
	c->tid = waits_get_u32(in);
	c->op = (uint8_t)byte_in__varint(in);
	c->sector = byte_in__varint(in);
	c->bytes = waits_get_u32(in);
	waits_get_name(in, c->disk, sizeof(c->disk));
}

static void waits_put_commit(struct byte_out *out, const struct wait_commit *c, uint64_t base_ns)
{
	waits_put_time(out, c->start_ns, base_ns);
	waits_put_time(out, c->flushing_ns, base_ns);
	waits_put_time(out, c->logging_ns, base_ns);
	waits_put_time(out, c->end_ns, base_ns);
	byte_out__varint(out, c->dev);
	byte_out__varint(out, c->transaction);
	byte_out__varint(out, c->tid);
}

static void waits_get_commit(struct byte_in *in, struct wait_commit *c, uint64_t base_ns)
{
	c->start_ns = waits_get_time(in, base_ns);
	c->flushing_ns = waits_get_time(in, base_ns);
	c->logging_ns = waits_get_time(in, base_ns);
	c->end_ns = waits_get_time(in, base_ns);
	c->dev = waits_get_u32(in);
	c->transaction = waits_get_u32(in);
	c->tid = waits_get_u32(in);
}

static void waits_put_task(struct byte_out *out, const struct wait_who *w, uint64_t base_ns)
{
	waits_put_time(out, w->start_ns, base_ns);
	waits_put_time(out, w->last_ns, base_ns);
	byte_out__varint(out, w->commit_tid);
	byte_out__varint(out, w->pid);
	byte_out__varint(out, w->tid);
	byte_out__varint(out, w->bytes);
	byte_out__varint(out, w->handles);
	byte_out__varint(out, w->blocks);
	waits_put_name(out, w->comm, sizeof(w->comm));
}

static void waits_get_task(struct byte_in *in, struct wait_who *w, uint64_t base_ns)
{
	w->start_ns = waits_get_time(in, base_ns);
	w->last_ns = waits_get_time(in, base_ns);
	w->commit_tid = waits_get_u32(in);
	w->pid = waits_get_u32(in);
	w->tid = waits_get_u32(in);
	w->bytes = byte_in__varint(in);
	w->handles = waits_get_u32(in);
	w->blocks = waits_get_u32(in);
	waits_get_name(in, w->comm, sizeof(w->comm));
}

/* ---- requests ---- */

/* Moments that need not have happened, in the order of their bits. */
static const size_t request_moments[] = {
	offsetof(struct async_record, start_ns),  offsetof(struct async_record, issue_ns),
	offsetof(struct async_record, return_ns), offsetof(struct async_record, punt_ns),
	offsetof(struct async_record, worker_ns), offsetof(struct async_record, queued_ns),
	offsetof(struct async_record, ended_ns),
};
enum { NR_REQUEST_MOMENTS = sizeof(request_moments) / sizeof(request_moments[0]) };

static void waits_put_moments(struct byte_out *out, const struct async_record *r)
{
	const char *at = (const char *)r;
	uint64_t known = 0;

	for (int i = 0; i < NR_REQUEST_MOMENTS; i++)
		known |= (uint64_t) !!*(const __u64 *)(at + request_moments[i]) << i;
	byte_out__varint(out, known);
	for (int i = 0; i < NR_REQUEST_MOMENTS; i++)
		if (known >> i & 1)
			waits_put_time(out, *(const __u64 *)(at + request_moments[i]),
				       r->submit_ns);
}

static void waits_get_moments(struct byte_in *in, struct async_record *r)
{
	const uint64_t known = byte_in__varint(in);

	in->bad |= known >> NR_REQUEST_MOMENTS != 0;
	for (int i = 0; i < NR_REQUEST_MOMENTS; i++)
		if (known >> i & 1)
			*(__u64 *)((char *)r + request_moments[i]) =
				waits_get_time(in, r->submit_ns);
}

static void waits_put_request(struct byte_out *out, const struct async_record *r, uint64_t base_ns)
{
	byte_out__varint(out, r->opcode);
	waits_put_time(out, r->post_ns, base_ns);
	byte_out__varint(out, r->post_ns - r->submit_ns);
	waits_put_moments(out, r);
	byte_out__varint(out, r->user_data);
	byte_out__varint(out, r->inode);
	byte_out__varint(out, r->dev);
	byte_out__varint(out, r->nth);
	byte_out__varint(out, r->cgroup);
	byte_out__varint(out, r->pid);
	byte_out__varint(out, r->tid);
	byte_out__varint(out, r->bios);
	byte_out__varint(out, r->ended);
	byte_out__varint(out, r->flags);
	waits_put_name(out, r->comm, sizeof(r->comm));
}

static void waits_get_request(struct byte_in *in, struct async_record *r, uint64_t base_ns)
{
	r->opcode = (uint8_t)byte_in__varint(in);
	r->post_ns = waits_get_time(in, base_ns);
	r->submit_ns = r->post_ns - byte_in__varint(in);
	waits_get_moments(in, r);
	r->user_data = byte_in__varint(in);
	r->inode = byte_in__varint(in);
	r->dev = waits_get_u32(in);
	r->nth = (uint16_t)byte_in__varint(in);
	r->cgroup = byte_in__varint(in);
	r->pid = waits_get_u32(in);
	r->tid = waits_get_u32(in);
	r->bios = waits_get_u32(in);
	r->ended = waits_get_u32(in);
	r->flags = (uint8_t)byte_in__varint(in);
	waits_get_name(in, r->comm, sizeof(r->comm));
}

/* ---- a chunk ---- */

static void waits_put_fs(struct byte_out *out, const struct capture_wait *wait)
{
	if (*wait->fs)
		waits_put_name(out, wait->fs, sizeof(wait->fs));
}

/* Calls of earlier versions have none. */
static void waits_get_fs(struct byte_in *in, struct capture_wait *wait)
{
	if (byte_in__left(in))
		waits_get_name(in, wait->fs, sizeof(wait->fs));
}

static void waits_put_entry(struct byte_out *out, const struct capture_wait *wait, uint64_t base_ns)
{
	switch (wait->kind) {
	case CAPTURE_WAIT_CALL:
		waits_put_call(out, &wait->call, base_ns);
		waits_put_fs(out, wait);
		break;
	case CAPTURE_WAIT_REQUEST:
		waits_put_request(out, &wait->request, base_ns);
		waits_put_fs(out, wait);
		break;
	case CAPTURE_WAIT_COMMAND: waits_put_command(out, &wait->command, base_ns); break;
	case CAPTURE_WAIT_COMMIT: waits_put_commit(out, &wait->commit, base_ns); break;
	default: waits_put_task(out, &wait->task, base_ns); break;
	}
}

/* An entry holds its own length: later versions may append fields. */
void capture_waits__put(struct byte_out *out, const struct capture_wait *waits, size_t nr)
{
	const uint64_t base_ns = nr ? capture_wait__time_ns(&waits[0]) : 0;

	byte_out__u64(out, base_ns);
	for (size_t i = 0; i < nr; i++) {
		struct byte_out entry = { 0 };

		byte_out__varint(&entry, waits[i].kind);
		waits_put_entry(&entry, &waits[i], base_ns);
		byte_out__varint(out, entry.len);
		byte_out__put(out, entry.bytes, entry.len);
		out->failed |= entry.failed;
		byte_out__free(&entry);
	}
}

static void waits_get_entry(struct byte_in *in, struct capture_wait *wait, uint64_t base_ns)
{
	uint64_t kind = byte_in__varint(in);

	memset(wait, 0, sizeof(*wait));
	wait->kind = kind < NR_CAPTURE_WAITS ? (uint32_t)kind : NR_CAPTURE_WAITS;
	switch (wait->kind) {
	case CAPTURE_WAIT_CALL:
		waits_get_call(in, &wait->call, base_ns);
		waits_get_fs(in, wait);
		break;
	case CAPTURE_WAIT_REQUEST:
		waits_get_request(in, &wait->request, base_ns);
		waits_get_fs(in, wait);
		break;
	case CAPTURE_WAIT_COMMAND: waits_get_command(in, &wait->command, base_ns); break;
	case CAPTURE_WAIT_COMMIT: waits_get_commit(in, &wait->commit, base_ns); break;
	case CAPTURE_WAIT_TASK: waits_get_task(in, &wait->task, base_ns); break;
	default: break;
	}
}

/* Skips kinds of entries, and of calls, that later versions have. */
int capture_waits__get(struct capture_waits *w, struct byte_in in, uint32_t nr)
{
	uint64_t base_ns = byte_in__u64(&in), counted = 0, nr_entries = 0;

	w->nr = w->nr_strange = 0;
	while (byte_in__left(&in)) {
		struct byte_in entry = byte_in__part(&in);
		struct capture_wait *wait;

		if (entry.bad || ++nr_entries > CAPTURE_WAITS_MOST)
			return -EBADMSG;
		if (GROW(w->waits, w->room, w->nr + 1))
			return -ENOMEM;
		wait = &w->waits[w->nr];
		waits_get_entry(&entry, wait, base_ns);
		if (entry.bad)
			return -EBADMSG;
		counted += capture_wait__counts(wait);
		if (wait->kind == CAPTURE_WAIT_CALL && wait->call.call >= NR_WAIT_CALLS)
			w->nr_strange++;
		else
			w->nr += wait->kind < NR_CAPTURE_WAITS;
	}
	return in.bad || counted != nr ? -EBADMSG : 0;
}
