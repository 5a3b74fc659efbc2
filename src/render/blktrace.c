/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/blktrace.h"

#include <string.h>

/* linux/blktrace_api.h: numbers of the kernel's stable ABI. */
enum {
	TRACE_MAGIC = 0x65617407, /* version 7 */
	TRACE_BYTES = 48,
	CATEGORY_READ = 1 << 0,
	CATEGORY_WRITE = 1 << 1,
	CATEGORY_FLUSH = 1 << 2,
	CATEGORY_QUEUE = 1 << 4,
	CATEGORY_ISSUE = 1 << 6,
	CATEGORY_COMPLETE = 1 << 7,
	CATEGORY_FS = 1 << 8,
	CATEGORY_PC = 1 << 9,
	CATEGORY_NOTIFY = 1 << 10,
	CATEGORY_DISCARD = 1 << 13,
	CATEGORY_FUA = 1 << 15,
	NOTE_PROCESS = 0,
	NOTE_TIMESTAMP = 1,
};

static unsigned char *blktrace_put(unsigned char *at, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		*at++ = (unsigned char)(value >> 8 * i);
	return at;
}

struct blktrace_head {
	struct blktrace_event event;
	uint32_t action;
	uint16_t tail_bytes;
};

static size_t blktrace_put_head(unsigned char *buf, const struct blktrace_head *head)
{
	const struct blktrace_event *e = &head->event;
	unsigned char *at = buf;

	at = blktrace_put(at, TRACE_MAGIC, 4);
	at = blktrace_put(at, e->sequence, 4);
	at = blktrace_put(at, e->time_ns, 8);
	at = blktrace_put(at, e->sector, 8);
	at = blktrace_put(at, e->bytes, 4);
	at = blktrace_put(at, head->action, 4);
	at = blktrace_put(at, e->pid, 4);
	at = blktrace_put(at, (uint64_t)e->major << 20 | (e->minor & 0xfffff), 4);
	at = blktrace_put(at, e->cpu, 4);
	at = blktrace_put(at, (uint64_t)-e->err, 2); /* negative, as in the kernel */
	at = blktrace_put(at, head->tail_bytes, 2);
	return (size_t)(at - buf);
}

static uint32_t blktrace_category(const struct blktrace_event *e)
{
	uint32_t category = e->what == BLKTRACE_ISSUE	   ? CATEGORY_ISSUE
			    : e->what == BLKTRACE_COMPLETE ? CATEGORY_COMPLETE
							   : CATEGORY_QUEUE;

	category |= e->flags & BLKTRACE_WRITE ? CATEGORY_WRITE : CATEGORY_READ;
	category |= e->flags & BLKTRACE_FLUSH ? CATEGORY_FLUSH : 0;
	category |= e->flags & BLKTRACE_DISCARD ? CATEGORY_DISCARD : 0;
	category |= e->flags & BLKTRACE_FUA ? CATEGORY_FUA : 0;
	category |= e->flags & BLKTRACE_PASSTHROUGH ? CATEGORY_PC : CATEGORY_FS;
	return category;
}

size_t blktrace__event(unsigned char buf[BLKTRACE_MOST], const struct blktrace_event *event)
{
	return blktrace_put_head(buf,
				 &(struct blktrace_head){
					 .event = *event,
					 .action = event->what | blktrace_category(event) << 16,
				 });
}

size_t blktrace__process(unsigned char buf[BLKTRACE_MOST], uint64_t time_ns, uint32_t pid,
			 const char comm[16])
{
	size_t len = blktrace_put_head(
		buf, &(struct blktrace_head){
			     .event = { .time_ns = time_ns, .pid = pid },
			     .action = NOTE_PROCESS | (uint32_t)CATEGORY_NOTIFY << 16,
			     .tail_bytes = 16,
		     });

	memcpy(buf + len, comm, 16);
	buf[len + 15] = 0;
	return len + 16;
}

size_t blktrace__clock(unsigned char buf[BLKTRACE_MOST], uint64_t time_ns, uint64_t wall_ns)
{
	size_t len = blktrace_put_head(
		buf, &(struct blktrace_head){
			     .event = { .time_ns = time_ns },
			     .action = NOTE_TIMESTAMP | (uint32_t)CATEGORY_NOTIFY << 16,
			     .tail_bytes = 8,
		     });

	blktrace_put(buf + len, wall_ns / 1000000000, 4);
	blktrace_put(buf + len + 4, wall_ns % 1000000000, 4);
	return len + 8;
}
