/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/row.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>
#include "decode/op.h"
#include "decode/record.h"

#define FIELD(name) offsetof(struct command_row, name)

const struct column command_columns[COMMAND_COLUMNS + 1] = {
	{ "time_s", "time", CELL_TIME, 11, "time since the start", .at = FIELD(time_ns),
	  .drop = 7 },
	{ "wall", "wall clock", CELL_TEXT, 29, "wall clock of the event", .at = FIELD(wall) },
	{ "event", "event", CELL_TEXT, 6, "submit, retry or end", .at = FIELD(event) },
	{ "start_ns", "start", CELL_COUNT, 0, "first issue, CLOCK_MONOTONIC",
	  .at = FIELD(start_ns) },
	{ "last_ns", "last issue", CELL_COUNT, 0,
	  "issue of this attempt; of the last attempt if the command ended", .at = FIELD(last_ns) },
	{ "end_ns", "end", CELL_COUNT, 0, "completion, CLOCK_MONOTONIC", .at = FIELD(end_ns) },
	{ "dev", "dev", CELL_TEXT, 7, "disk, or controller for admin commands", .at = FIELD(dev) },
	{ "qid", "qid", CELL_COUNT, 3, "NVMe queue id (0: admin), or hardware queue",
	  .at = FIELD(qid), .drop = 4 },
	{ "cid", "cid", CELL_COUNT, 5, "NVMe command id", .at = FIELD(cid), .drop = 1 },
	{ "op", "op", CELL_TEXT, 8, "operation", .at = FIELD(op) },
	{ "nsid", "nsid", CELL_NSID, 4, "namespace id", .at = FIELD(nsid), .drop = 3 },
	{ "lba", "lba", CELL_COUNT, 0, "first logical block, NVMe only", .at = FIELD(lba) },
	{ "sector", "sector", CELL_COUNT, 0, "first sector, in units of 512 bytes",
	  .at = FIELD(sector) },
	{ "bytes", "bytes", CELL_COUNT, 6, "bytes it moves or covers", .at = FIELD(bytes) },
	{ "command", "command", CELL_TEXT, 28, "fields of the command, in words",
	  .at = FIELD(command), .len_at = FIELD(command_len), .drop = 8 },
	{ "cdw", "cdw10-15", CELL_TEXT, 53, "command dwords 10 to 15, raw", .at = FIELD(cdw) },
	{ "status", "status", CELL_TEXT, 6, "how it ended, in words", .at = FIELD(status),
	  .len_at = FIELD(status_len), .drop = 9 },
	{ "status_code", "code", CELL_COUNT, 4, "NVMe status field, or errno",
	  .at = FIELD(status_code) },
	{ "result", "result", CELL_COUNT, 6, "completion queue entry, dwords 0 and 1",
	  .at = FIELD(result) },
	{ "attempts", "try", CELL_COUNT, 3, "number of attempts so far", .at = FIELD(attempts),
	  .drop = 2 },
	{ "lat_ns", "latency", CELL_DURATION, 7, "time from first issue to end",
	  .at = FIELD(lat_ns) },
	{ "attempt_ns", "this try", CELL_DURATION, 8,
	  "time from the issue of this attempt to its end", .at = FIELD(attempt_ns) },
	{ "pid", "pid", CELL_COUNT, 6, "process that built the command", .at = FIELD(pid),
	  .drop = 5 },
	{ "comm", "comm", CELL_TEXT, 4, "name of the task that built the command",
	  .at = FIELD(comm), .len_at = FIELD(comm_len), .drop = 6 },
	{ "cpu", "cpu", CELL_COUNT, 3, "CPU on which it ended", .at = FIELD(cpu) },
	{ 0 },
};

const char command_data_keys[] =
	" wall start_ns last_ns end_ns dev qid cid op nsid lba sector bytes "
	"command status status_code result attempts lat_ns pid comm cpu ";

static const char *row_cdw(char buf[64], const struct io_record *r)
{
	int at = 0;

	if (r->kind == IO_BLOCK)
		return NULL;
	for (int i = 0; i < 6; i++)
		at += snprintf(buf + at, (size_t)(64 - at), "%s%08x", i ? " " : "", r->cdw10[i]);
	return buf;
}

static const char *row_command(struct command_row *row, const struct io_record *r,
			       const struct command_context *c)
{
	struct words w = words__on(row->command_text, sizeof(row->command_text));

	record__describe(&w, r, c->block_size, c->op_names);
	row->command_len = (size_t)(w.at - w.start);
	return words__done(&w);
}

/* Most succeed: their status need not be written. */
static const char *row_status(struct command_row *row, const struct io_record *r)
{
	struct words w = words__on(row->status_text, sizeof(row->status_text));

	row->status_len = 2;
	if (!r->status && r->what != RECORD_SUBMIT && r->what != RECORD_ATTEMPT)
		return "ok";
	record__status(&w, r);
	row->status_len = (size_t)(w.at - w.start);
	return words__done(&w);
}

/* Number of bytes before the first 0, out of eight. */
static size_t row_len_of_eight(const char *text)
{
	uint64_t word, zeros;

	memcpy(&word, text, sizeof(word));
	word = le64toh(word);
	/* 0x80 in the first byte that is 0; later bytes may be wrong. */
	zeros = (word - 0x0101010101010101) & ~word & 0x8080808080808080;
	return zeros ? (size_t)__builtin_ctzll(zeros) / 8 : 8;
}

/* A task's name fills its field, or ends with a 0. */
static const char *row_comm(struct command_row *row, const struct io_record *r)
{
	_Static_assert(sizeof(r->comm) == 16, "twice eight");
	memcpy(row->comm_text, r->comm, sizeof(r->comm));
	row->comm_text[sizeof(r->comm)] = 0;
	row->comm_len = row_len_of_eight(r->comm);
	if (row->comm_len == 8)
		row->comm_len += row_len_of_eight(r->comm + 8);
	return row->comm_text;
}

static void row_fill_outcome(struct command_row *row, const struct io_record *r)
{
	const bool nvme = r->kind != IO_BLOCK, end = r->what != RECORD_SUBMIT;

	row->event = !end ? "submit" : r->what == RECORD_ATTEMPT ? "retry" : "end";
	row->end_ns = end ? r->end_ns : CELL_NO_NUMBER;
	row->status = row_status(row, r);
	row->status_code = end ? r->status : CELL_NO_NUMBER;
	row->result = end && nvme ? r->result : CELL_NO_NUMBER;
	row->lat_ns = end ? r->end_ns - r->first_ns : CELL_NO_NUMBER;
	row->attempt_ns = end ? r->end_ns - r->last_ns : CELL_NO_NUMBER;
}

void command_row__fill(struct command_row *row, const struct io_record *r,
		       const struct command_context *c)
{
	struct record_place place = { CELL_NO_NUMBER, CELL_NO_NUMBER };
	const bool nvme = r->kind != IO_BLOCK;

	row->time_ns = io_record__time_ns(r) - c->start_ns;
	row->wall = number__wall(&row->wall_text, c->wall_ns, 9);
	row->start_ns = r->first_ns;
	row->last_ns = r->last_ns;
	row->dev = c->dev ? c->dev : "?";
	row->qid = r->qid;
	row->cid = nvme ? r->cid : CELL_NO_NUMBER;
	row->op = op__word(r->kind, r->op, c->op_names, row->op_text, sizeof(row->op_text));
	row->nsid = nvme ? r->nsid : CELL_NO_NUMBER;
	if (!c->without_place)
		place = record__place(r, c->op_names, c->block_size);
	row->lba = place.lba;
	row->sector = place.sector;
	row->bytes = r->bytes;
	row->command = row_command(row, r, c);
	row->cdw = c->cdw ? row_cdw(row->cdw_text, r) : NULL;
	row->attempts = r->attempts;
	row->pid = r->pid;
	row->comm = row_comm(row, r);
	row->cpu = r->cpu;
	row_fill_outcome(row, r);
}
