/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blktrace.c: what would blktrace have written? Events Q, G, I, D and C of each request, as far as
 * its record has them, ordered by time, for blkparse and btt. A record without stages has only D
 * and C: when the driver built the command and when it got the answer. For a request with several
 * bios only the Q of the first is known, and stands for all.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/steps.h"
#include "base/index.h"
#include "base/log.h"
#include "base/spill.h"
#include "export/exporter.h"
#include "render/blktrace.h"
#include "session/io_source.h"
#include "wire/io_stages.h"

struct blktrace_item {
	struct blktrace_event event;
	char comm[16];
};

/* For a process: its last name; for a CPU of a device: its number of events. */
struct blktrace_cell {
	uint64_t key;
	union {
		char comm[16];
		uint32_t sequence;
	};
};

struct export_blktrace {
	struct spill *spill;
	struct session *session;
	struct blktrace_cell *cells; /* as they came */
	struct index index;
	uint64_t nr_numberless, nr_unplaced, nr_stageless;
	uint16_t host; /* of its disks, if captures are of several machines */
	bool begun;
};

static int blktrace_start(void **state, struct session *s)
{
	struct export_blktrace *b = calloc(1, sizeof(*b));

	*state = b;
	if (b) {
		b->session = s;
		b->spill = spill__new(sizeof(struct blktrace_item), SPILL_MEMORY);
	}
	return b && b->spill ? 0 : log_no_memory();
}

/* ---- one request ---- */

static uint8_t blktrace_flags(struct session *s, const struct io_record *r)
{
	static const struct {
		const char *op;
		uint8_t flags;
	} ops[] = {
		{ "read", 0 },
		{ "write", BLKTRACE_WRITE },
		{ "flush", BLKTRACE_WRITE | BLKTRACE_FLUSH },
		{ "discard", BLKTRACE_WRITE | BLKTRACE_DISCARD },
		{ "dsm", BLKTRACE_WRITE | BLKTRACE_DISCARD },
		{ "write-zeroes", BLKTRACE_WRITE },
		{ "zone-append", BLKTRACE_WRITE },
	};
	uint8_t flags = r->flags & RECORD_PASSTHROUGH ? BLKTRACE_PASSTHROUGH : 0;
	char buf[16];
	const char *op = export__op(s, r, buf);

	flags |= r->flags & RECORD_FUA ? BLKTRACE_FUA : 0;
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i].op, op))
			return flags | ops[i].flags;
	return flags | BLKTRACE_PASSTHROUGH;
}

/* NVMe status codes are not errnos. */
static uint16_t blktrace_err(const struct io_record *r)
{
	if (!r->status)
		return 0;
	return r->kind == IO_BLOCK && r->status < 4096 ? r->status : EIO;
}

/* The event for a stage, or 0. If D was not seen, the nearest stage stands for it. */
static uint8_t blktrace_what(enum stage stage, bool has_issue, bool has_done)
{
	switch (stage) {
	case STAGE_QUEUED: return BLKTRACE_QUEUE;
	case STAGE_GOT: return BLKTRACE_GET;
	case STAGE_INSERTED: return BLKTRACE_INSERT;
	case STAGE_SETUP: return has_issue ? 0 : BLKTRACE_ISSUE;
	case STAGE_ISSUED: return BLKTRACE_ISSUE;
	case STAGE_ANSWERED: return has_done ? 0 : BLKTRACE_COMPLETE;
	case STAGE_DONE: return BLKTRACE_COMPLETE;
	default: return 0;
	}
}

static bool blktrace_has(const struct moment *moments, size_t nr, enum stage stage)
{
	for (size_t i = 0; i < nr; i++)
		if (moments[i].stage == stage)
			return true;
	return false;
}

static int blktrace_add(struct export_blktrace *b, struct blktrace_item *item,
			const struct io_record *r)
{
	const struct io_stages *stages = io_record__stages(r);
	struct moment moments[NR_STAGES];
	size_t nr = stage__moments(r, STEPS_OF_REQUEST, moments);
	bool has_issue = blktrace_has(moments, nr, STAGE_ISSUED);
	bool has_done = blktrace_has(moments, nr, STAGE_DONE);
	int err = 0;

	b->nr_stageless += !blktrace_has(moments, nr, STAGE_QUEUED);
	for (size_t i = 0; !err && i < nr; i++) {
		item->event.what = blktrace_what(moments[i].stage, has_issue, has_done);
		item->event.time_ns = moments[i].ns;
		if (!item->event.what)
			continue;
		item->event.cpu =
			item->event.what == BLKTRACE_COMPLETE || !stages ? r->cpu : stages->cpu;
		item->event.err = item->event.what == BLKTRACE_COMPLETE ? blktrace_err(r) : 0;
		err = spill__add(b->spill, moments[i].ns, item);
	}
	return err;
}

/* For a path of a multipath disk, the head: paths are hidden and have no device number. */
static const struct device *blktrace_disk(struct session *s, const struct io_record *r)
{
	const struct device_list *list = io_source__devices(s);
	int32_t nr = records__device(s, r);

	return nr < 0 ? NULL : &list->devices[device_list__head(list, nr)];
}

static int blktrace_put(void *state, struct session *s, const struct io_record *r)
{
	const struct device *device = blktrace_disk(s, r);
	struct export_blktrace *b = state;
	struct blktrace_item item = { 0 };
	int err;

	if (!device || device->kind == DEVICE_NVME_CTRL || !device->major) {
		b->nr_numberless++;
		return 0;
	}
	err = export__is_of_host(s, device, &b->host);
	if (err)
		return err;
	item.event.flags = blktrace_flags(s, r);
	if (!export__sector(s, r, &item.event.sector))
		b->nr_unplaced += !(item.event.flags & BLKTRACE_FLUSH);
	item.event.bytes = r->bytes;
	item.event.pid = r->pid;
	item.event.major = device->major;
	item.event.minor = device->minor;
	memcpy(item.comm, r->comm, sizeof(item.comm));
	return blktrace_add(b, &item, r);
}

/* ---- state of processes, and of each CPU of a device ---- */

/* NULL: out of memory, said. */
static struct blktrace_cell *blktrace_cell(struct export_blktrace *b, uint64_t key)
{
	struct blktrace_cell *cell = index__entry(&b->index, &b->cells, sizeof(*b->cells), key);

	if (!cell)
		log_no_memory();
	return cell;
}

/* A process is named before its first event, and again if its name changes. */
static int blktrace_name(struct export_blktrace *b, const struct blktrace_item *item)
{
	struct blktrace_cell *cell = blktrace_cell(b, 1ULL << 63 | item->event.pid);
	unsigned char buf[BLKTRACE_MOST];
	size_t nr;

	if (!cell)
		return -ENOMEM;
	if (!memcmp(cell->comm, item->comm, sizeof(cell->comm)))
		return 0;
	memcpy(cell->comm, item->comm, sizeof(cell->comm));
	nr = blktrace__process(buf, item->event.time_ns, item->event.pid, item->comm);
	fwrite(buf, 1, nr, b->session->out);
	return 0;
}

static int blktrace_number(struct export_blktrace *b, struct blktrace_event *event)
{
	uint64_t key = 1ULL << 62 | (uint64_t)(event->major & 0xfff) << 36 |
		       (uint64_t)(event->minor & 0xfffff) << 16 | event->cpu;
	struct blktrace_cell *cell = blktrace_cell(b, key);

	if (!cell)
		return -ENOMEM;
	event->sequence = ++cell->sequence;
	return 0;
}

/* ---- the stream ---- */

static int blktrace_write(void *arg, uint64_t time_ns, const void *bytes)
{
	struct export_blktrace *b = arg;
	unsigned char buf[BLKTRACE_MOST];
	struct blktrace_item item;
	size_t nr;
	int err;

	memcpy(&item, bytes, sizeof(item));
	if (!b->begun) {
		nr = blktrace__clock(buf, time_ns, session__wall_ns(b->session, time_ns));
		fwrite(buf, 1, nr, b->session->out);
	}
	b->begun = true;
	err = blktrace_name(b, &item);
	err = err ? err : blktrace_number(b, &item.event);
	nr = blktrace__event(buf, &item.event);
	fwrite(buf, 1, nr, b->session->out);
	return err;
}

static int blktrace_finish(void *state, struct session *s)
{
	struct export_blktrace *b = state;

	(void)s;
	if (b->nr_numberless)
		log_note("%" PRIu64 " commands are left out: their device number is unknown",
			 b->nr_numberless);
	if (b->nr_unplaced)
		log_note("%" PRIu64
			 " commands are at sector 0: their records do not contain a sector",
			 b->nr_unplaced);
	if (b->nr_stageless)
		log_note("%" PRIu64 " commands have only D (built) and C (completed): record "
			 "--stages keeps more",
			 b->nr_stageless);
	return spill__each(b->spill, blktrace_write, b);
}

static void blktrace_free(void *state)
{
	struct export_blktrace *b = state;

	if (!b)
		return;
	spill__free(b->spill);
	free(b->cells);
	index__free(&b->index);
	free(b);
}

const struct exporter export_blktrace = {
	.is_binary = true,
	.start = blktrace_start,
	.put = blktrace_put,
	.finish = blktrace_finish,
	.free = blktrace_free,
};
