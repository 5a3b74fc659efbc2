/* SPDX-License-Identifier: BSD-2-Clause */
#include "render/cache_events.h"

#include <stdlib.h>
#include <string.h>

/*
 *       time   wait    pid comm  op   pages   size    offset file
 *   0.013201 1.20ms    812 dd    read     8 32.0Ki    1.0Mi  /mnt/data
 */
struct cache_event_miss {
	uint64_t time_ns, wait_ns, pid, tid, pages, miss_bytes, offset_bytes;
	const char *comm, *op, *file, *dev;
};

/*
 *       time    lat    pid comm  op   why   missed  bytes disk        sector    offset file
 *   0.013201  912us    812 dd    read miss       8  128Ki nvme0n1     204800   1048576 /mnt/data
 */
struct cache_event_command {
	uint64_t time_ns, lat_ns, queue_ns, pid, tid, missed, pages, bytes, sector, offset_bytes;
	uint64_t command_sector, command_bytes;
	const char *comm, *op, *why, *disk, *file, *dev, *status;
};

struct cache_event_table {
	struct table *misses, *commands;
	uint64_t start_ns, page_bytes;
	char comm[CACHE_COMM_LEN + 1];
};

#define MISS(field) offsetof(struct cache_event_miss, field)
static const struct column miss_columns[] = {
	{ "time_s", "time", CELL_TIME, 12,
	  "when the first missing page of the request was added, since the start",
	  .at = MISS(time_ns) },
	{ "wait_ns", "wait", CELL_DURATION, 6,
	  "time from then until the request ended with all its pages; null: no end seen",
	  .at = MISS(wait_ns) },
	{ "pid", "pid", CELL_COUNT, 7, "process", .at = MISS(pid), .drop = 2 },
	{ "tid", "tid", CELL_COUNT, 7, "thread", .at = MISS(tid), .not_in_text = true },
	{ "comm", "comm", CELL_TEXT, 15, "name of the task", .at = MISS(comm), .drop = 4 },
	{ "op", "op", CELL_TEXT, 5, "read, write or mmap", .at = MISS(op) },
	{ "pages", "pages", CELL_COUNT, 5, "number of missing pages of the request",
	  .at = MISS(pages), .drop = 1 },
	{ "miss_bytes", "missed", CELL_BYTES, 6, "missing pages, in bytes",
	  .at = MISS(miss_bytes) },
	{ "offset_bytes", "offset", CELL_COUNT, 10, "offset in the file of the first missing page",
	  .at = MISS(offset_bytes), .drop = 3 },
	{ "dev", "dev", CELL_TEXT, 7, "device that holds the file", .at = MISS(dev),
	  .not_in_text = true },
	{ "file", "file", CELL_TEXT, 20, "path of the file, or what it is instead, e.g. [device]",
	  .at = MISS(file) },
	{ 0 },
};

#define COMMAND(field) offsetof(struct cache_event_command, field)
static const struct column command_columns[] = {
	{ "time_s", "time", CELL_TIME, 12, "when it was submitted, since the start",
	  .at = COMMAND(time_ns) },
	{ "lat_ns", "lat", CELL_DURATION, 6,
	  "time from block_rq_issue to block_rq_complete; null: no issue seen",
	  .at = COMMAND(lat_ns) },
	{ "queue_ns", "queue", CELL_DURATION, 6, "time from submission to block_rq_issue",
	  .at = COMMAND(queue_ns), .not_in_text = true },
	{ "pid", "pid", CELL_COUNT, 6, "process that submitted it", .at = COMMAND(pid), .drop = 1 },
	{ "tid", "tid", CELL_COUNT, 7, "thread", .at = COMMAND(tid), .not_in_text = true },
	{ "comm", "comm", CELL_TEXT, 8, "name of the task that submitted it", .at = COMMAND(comm),
	  .drop = 5 },
	{ "op", "op", CELL_TEXT, 4,
	  "operation of the process on this file: read, write, mmap, readahead; none: no operation",
	  .at = COMMAND(op) },
	{ "why", "why", CELL_TEXT, 5,
	  "miss: it brought pages that were asked for; ahead: it brought only other pages; other: "
	  "nothing asked for this file, e.g. metadata",
	  .at = COMMAND(why) },
	{ "missed", "missed", CELL_COUNT, 6, "number of its pages that were asked for",
	  .at = COMMAND(missed), .drop = 4 },
	{ "pages", "pages", CELL_COUNT, 5, "number of pages of the file that it brought",
	  .at = COMMAND(pages), .not_in_text = true },
	{ "bytes", "bytes", CELL_BYTES, 7, "bytes of the command that belong to this file",
	  .at = COMMAND(bytes) },
	{ "disk", "disk", CELL_TEXT, 7, "disk that it went to", .at = COMMAND(disk), .drop = 6 },
	{ "sector", "sector", CELL_COUNT, 8, "first sector of these bytes, in units of 512 bytes",
	  .at = COMMAND(sector), .drop = 2 },
	{ "command_sector", "begins", CELL_COUNT, 10,
	  "first sector of the whole command, in units of 512 bytes", .at = COMMAND(command_sector),
	  .not_in_text = true },
	{ "command_bytes", "whole", CELL_BYTES, 6, "bytes of the whole command",
	  .at = COMMAND(command_bytes), .not_in_text = true },
	{ "status", "status", CELL_TEXT, 6, "ok or failed", .at = COMMAND(status),
	  .not_in_text = true },
	{ "offset_bytes", "offset", CELL_COUNT, 8, "offset in the file of the first page",
	  .at = COMMAND(offset_bytes), .drop = 3 },
	{ "dev", "dev", CELL_TEXT, 7, "device that holds the file", .at = COMMAND(dev),
	  .not_in_text = true },
	{ "file", "file", CELL_TEXT, 12, "path of the file, or what it is instead, e.g. [device]",
	  .at = COMMAND(file) },
	{ 0 },
};

const struct object cache_event_misses = { "miss", { miss_columns } };
const struct object cache_event_commands = { "command", { command_columns } };

struct cache_event_table *cache_event_table__new(FILE *out, enum table_format format, bool commands,
						 uint64_t start_ns, uint64_t page_bytes)
{
	struct cache_event_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->start_ns = start_ns;
	t->page_bytes = page_bytes;
	if (commands)
		t->commands = table__of(out, format, &cache_event_commands, NULL, NULL);
	if (!commands || format == TABLE_JSON)
		t->misses = table__of(out, format, &cache_event_misses, NULL, NULL);
	if (t->misses || t->commands)
		return t;
	free(t);
	return NULL;
}

int cache_event_table__set_clock(struct cache_event_table *t, const struct table_clock *clock)
{
	int err = t->commands ? table__set_clock(t->commands, clock) : 0;

	return !err && t->misses ? table__set_clock(t->misses, clock) : err;
}

bool cache_event_table__shows(const struct cache_event_table *t, const struct cache_event *e)
{
	return e->told == CACHE_TOLD_COMMAND ? t->commands : t->misses;
}

static const char *cache_event_op(uint32_t op)
{
	static const char *const words[] = { "read", "write", "mmap", "readahead", "none" };

	_Static_assert(sizeof(words) / sizeof(words[0]) == NR_CACHE_OPS, "one for each");
	return op < NR_CACHE_OPS ? words[op] : NULL;
}

static void cache_event_add_miss(struct cache_event_table *t, const struct cache_event *e,
				 const struct cache_event_names *names)
{
	const struct cache_event_miss line = {
		.time_ns = e->start_ns - t->start_ns,
		.wait_ns = e->end_ns ? e->end_ns - e->start_ns : CELL_NO_NUMBER,
		.pid = e->pid,
		.tid = e->tid,
		.pages = e->pages,
		.miss_bytes = e->pages * t->page_bytes,
		.offset_bytes = e->page * t->page_bytes,
		.comm = t->comm,
		.op = cache_event_op(e->op),
		.file = names->file,
		.dev = names->dev,
	};

	table__row(t->misses, &line);
}

static void cache_event_add_command(struct cache_event_table *t, const struct cache_command *c,
				    const struct cache_event_names *names)
{
	const struct cache_event *e = &c->event;
	const struct cache_event_command line = {
		.time_ns = e->start_ns - t->start_ns,
		.lat_ns = c->issued_ns ? e->end_ns - c->issued_ns : CELL_NO_NUMBER,
		.queue_ns = c->issued_ns ? c->issued_ns - e->start_ns : CELL_NO_NUMBER,
		.pid = e->pid,
		.tid = e->tid,
		.missed = c->missed,
		.pages = e->pages,
		.bytes = c->bytes,
		.sector = c->sector,
		.command_sector = c->command_sector,
		.command_bytes = c->command_bytes,
		.offset_bytes = e->page * t->page_bytes,
		.comm = t->comm,
		.op = cache_event_op(e->op),
		.why = c->missed	      ? "miss"
		       : e->op == CACHE_NO_OP ? "other"
					      : "ahead",
		.status = c->failed ? "failed" : "ok",
		.disk = names->disk,
		.file = names->file,
		.dev = names->dev,
	};

	table__row(t->commands, &line);
}

void cache_event_table__add(struct cache_event_table *t, const struct cache_event *e,
			    const struct cache_event_names *names)
{
	if (!cache_event_table__shows(t, e))
		return;
	memcpy(t->comm, e->comm, CACHE_COMM_LEN);
	if (e->told == CACHE_TOLD_COMMAND)
		cache_event_add_command(t, (const struct cache_command *)e, names);
	else
		cache_event_add_miss(t, e, names);
}

void cache_event_table__free(struct cache_event_table *t)
{
	if (!t)
		return;
	table__free(t->misses);
	table__free(t->commands);
	free(t);
}
