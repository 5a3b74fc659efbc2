/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode/inflight.h"

#include <stdlib.h>
#include <string.h>
#include "decode/op.h"
#include "decode/record.h"

enum {
	NVME_REQ_CANCELLED = 1 << 0, /* nvme_request.flags, unchanged since 4.12 */
	NVME_FUA = 1 << 30,	     /* of CDW12 */
};

/* ---- time ---- */

uint32_t inflight__hz(uint32_t timeout_jiffies, uint64_t timeout_ms)
{
	uint64_t hz = timeout_ms ? (timeout_jiffies * 1000ULL + timeout_ms / 2) / timeout_ms : 0;

	return hz >= 10 && hz <= 10000 ? (uint32_t)hz : 0;
}

/* When the driver's timer last started, to a tick; 0: unknown. */
static uint64_t command_armed_ns(const struct inflight_entry *e, const struct inflight_clock *clock)
{
	uint64_t ticks = clock->jiffies - (e->deadline - e->timeout);

	if (!clock->hz || !e->timeout || ticks > clock->now_ns / (1000000000 / clock->hz))
		return 0;
	return clock->now_ns - ticks * (1000000000 / clock->hz);
}

/* When the current attempt was sent; 0: not recorded. */
static uint64_t command_sent_ns(const struct inflight_entry *e, const struct inflight_context *c)
{
	return c->slot ? c->more->last_ns : e->io_start_ns;
}

/* The kernel records when a request is made, but not for all that bypass the block layer. */
static uint64_t command_start_ns(const struct inflight_entry *e, const struct inflight_context *c)
{
	uint64_t ours = c->slot ? c->slot->first_ns : 0;
	uint64_t start = e->start_ns ?: ours ?: e->io_start_ns;

	return start ?: command_armed_ns(e, &c->clock);
}

static uint64_t command_since(uint64_t then_ns, const struct inflight_clock *clock)
{
	if (!then_ns)
		return INFLIGHT_NO_AGE;
	return then_ns < clock->now_ns ? clock->now_ns - then_ns : 0;
}

/*
 * When the time is up, a driver may keep waiting (NVMe does, after its abort): the timer restarts,
 * much later than the command was sent.
 */
static bool command_timed_out(const struct inflight_entry *e, const struct inflight_context *c)
{
	uint64_t armed = command_armed_ns(e, &c->clock);
	uint64_t sent = command_sent_ns(e, c) ?: command_start_ns(e, c);

	return armed > sent && armed - sent > e->timeout * (1000000000ULL / c->clock.hz) / 2;
}

/* The driver clears the flag only for the first attempt: for later ones it is meaningless. */
static bool command_is_cancelled(const struct inflight_entry *e, const struct inflight_context *c)
{
	return c->dir != INFLIGHT_DISK && e->nvme_flags & NVME_REQ_CANCELLED && !e->nvme_retries;
}

static enum inflight_state command_state(const struct inflight_entry *e,
					 const struct inflight_context *c)
{
	if (e->is_waiting)
		return INFLIGHT_REQUEUED;
	if (command_is_cancelled(e, c))
		return INFLIGHT_CANCELLED;
	return command_timed_out(e, c) ? INFLIGHT_TIMED_OUT : INFLIGHT_SENT;
}

/* ---- the command ---- */

static void command_from_slot(struct inflight_command *command, const struct inflight_context *c)
{
	struct io_record *r = &command->record;

	r->kind = c->slot->kind;
	r->op = c->slot->op;
	r->flags = c->slot->flags;
	r->bytes = c->slot->bytes;
	r->attempts = c->slot->attempts;
	r->nsid = c->more->nsid;
	r->cid = c->more->cid;
	r->pid = c->more->pid;
	memcpy(r->cdw10, c->more->cdw10, sizeof(r->cdw10));
	memcpy(r->comm, c->more->comm, sizeof(r->comm));
	command->op_known = true;
	command->cid_known = r->kind != IO_BLOCK;
}

static void command_from_block(struct inflight_command *command, const struct inflight_entry *e)
{
	struct io_record *r = &command->record;

	r->kind = IO_BLOCK;
	r->op = (__u8)e->cmd_flags;
	r->bytes = e->bytes;
	r->cdw10[0] = (__u32)e->sector;
	r->cdw10[1] = (__u32)(e->sector >> 32);
	command->op_known = true;
}

/* The command counts blocks; with metadata its data may be longer. */
static bool command_is_sized(const struct io_record *r)
{
	return r->kind == IO_NVME && nvme_is_sized(r->op);
}

/* NVMe base specification, "Common Command Format". */
static void command_from_sqe(struct inflight_command *command, const struct inflight_entry *e,
			     enum inflight_dir dir)
{
	struct io_record *r = &command->record;

	r->op = (__u8)e->sqe[0];
	r->kind = dir == INFLIGHT_CTRL ? IO_ADMIN : IO_NVME;
	r->cid = (__u16)(e->sqe[0] >> 16);
	r->nsid = (__u32)(e->sqe[0] >> 32);
	for (int i = 0; i < 6; i++)
		r->cdw10[i] = (__u32)(e->sqe[5 + i / 2] >> i % 2 * 32);
	if (r->op == NVME_FABRICS) {
		r->kind = IO_FABRICS;
		r->op = (__u8)r->nsid;
		r->nsid = 0;
	}
	r->bytes = e->bytes;
	if (command_is_sized(r) && e->block_size)
		r->bytes = ((r->cdw10[2] & 0xffff) + 1) * e->block_size;
	command->op_known = command->cid_known = true;
}

/* The NVMe commands that the driver makes from block operations. */
static const struct {
	const char *name;
	__u8 opcode;
} command_opcodes[] = {
	{ "read", 0x02 },	{ "write", 0x01 },	    { "flush", 0x00 },
	{ "discard", 0x09 },	{ "write-zeroes", 0x08 },   { "zone-append", 0x7d },
	{ "zone-open", 0x79 },	{ "zone-close", 0x79 },	    { "zone-finish", 0x79 },
	{ "zone-reset", 0x79 }, { "zone-reset-all", 0x79 },
};

/*
 * For a kernel that hides the command: derives it from the block operation. Commands that bypass
 * the block layer stay unknown.
 */
static void command_from_request(struct inflight_command *command, const struct inflight_entry *e,
				 const struct inflight_context *c)
{
	const char *name = c->op_names[(__u8)e->cmd_flags];
	struct io_record *r = &command->record;
	uint64_t lba = e->block_size ? e->sector / (e->block_size / 512) : 0;

	r->kind = c->dir == INFLIGHT_CTRL ? IO_ADMIN : IO_NVME;
	r->nsid = c->nsid;
	r->bytes = e->bytes;
	for (size_t i = 0; name && i < sizeof(command_opcodes) / sizeof(command_opcodes[0]); i++) {
		if (strcmp(command_opcodes[i].name, name))
			continue;
		r->op = command_opcodes[i].opcode;
		command->op_known = true;
	}
	if (!command_is_sized(r) || !command->op_known || e->block_size < 512)
		return;
	r->cdw10[0] = (__u32)lba;
	r->cdw10[1] = (__u32)(lba >> 32);
	r->cdw10[2] = (e->bytes / e->block_size - 1) & 0xffff;
	if (e->cmd_flags & c->fua_flag)
		r->cdw10[2] |= NVME_FUA;
}

static void command_describe(struct inflight_command *command, const struct inflight_entry *e,
			     const struct inflight_context *c)
{
	if (c->slot)
		command_from_slot(command, c);
	else if (c->dir == INFLIGHT_DISK)
		command_from_block(command, e);
	else if (e->has_sqe)
		command_from_sqe(command, e, c->dir);
	else
		command_from_request(command, e, c);
}

/* ---- the whole entry ---- */

/* An address is reused by another command; the time of allocation is not. */
bool inflight__is_same(const struct io_slot *slot, const struct inflight_entry *entry)
{
	return slot->key == entry->request && slot->state > IO_IGNORED &&
	       slot->alloc_ns == entry->start_ns;
}

bool inflight__was_never_sent(const struct inflight_entry *entry, const struct io_slot *slot)
{
	return entry->is_waiting && !entry->io_start_ns && !slot;
}

void inflight_command__fill(struct inflight_command *command, const struct inflight_entry *e,
			    const struct inflight_context *c)
{
	struct io_record *r = &command->record;

	memset(command, 0, sizeof(*command));
	command->request = e->request;
	memcpy(command->dev, e->disk, sizeof(command->dev) - 1);
	command_describe(command, e, c);
	r->what = RECORD_SUBMIT; /* it has no completion yet */
	r->qid = (__u16)(c->dir == INFLIGHT_NVME   ? e->queue + 1
			 : c->dir == INFLIGHT_CTRL ? 0
						   : e->queue);
	if (!r->attempts && c->dir != INFLIGHT_DISK)
		r->attempts = (__u8)(e->nvme_retries + 1);
	r->first_ns = command_start_ns(e, c);
	r->last_ns = command_sent_ns(e, c);
	command->age_ns = command_since(r->first_ns, &c->clock);
	command->sent_ns = command_since(r->last_ns, &c->clock);
	command->block_size = e->block_size;
	command->tag = e->is_waiting ? -1 : (int32_t)e->tag;
	command->state = command_state(e, c);
	command->is_ours = c->slot;
}

static int command_compare_request(const void *a, const void *b)
{
	const struct inflight_command *x = a, *y = b;

	if (x->request != y->request)
		return x->request < y->request ? -1 : 1;
	return (int)x->state - (int)y->state; /* a waiting one is last */
}

static int command_compare_age(const void *a, const void *b)
{
	const struct inflight_command *x = a, *y = b;
	bool x_known = x->age_ns != INFLIGHT_NO_AGE, y_known = y->age_ns != INFLIGHT_NO_AGE;

	if (x_known != y_known)
		return y_known - x_known;
	if (x->age_ns != y->age_ns)
		return x->age_ns > y->age_ns ? -1 : 1;
	return command_compare_request(a, b);
}

void inflight_list__sort(struct inflight_list *list)
{
	struct inflight_command *c = list->commands;
	size_t kept = 0;

	if (!list->nr)
		return;
	qsort(c, list->nr, sizeof(*c), command_compare_request);
	for (size_t i = 0; i < list->nr; i++)
		if (!kept || c[i].request != c[kept - 1].request)
			c[kept++] = c[i];
	list->nr = kept;
	qsort(c, list->nr, sizeof(*c), command_compare_age);
}

/* ---- a row ---- */

#define FIELD(name) offsetof(struct inflight_row, name)
const struct column inflight_columns[] = {
	{ "time_s", "time", CELL_SECONDS, 7, "time of the snapshot, since the start",
	  .at = FIELD(time_s) },
	{ "age_ns", "age", CELL_DURATION, 7, "time since the block layer made its request",
	  .at = FIELD(age_ns) },
	{ "sent_ns", "sent", CELL_DURATION, 7, "time since it was last sent", .at = FIELD(sent_ns),
	  .drop = 5 },
	{ "dev", "dev", CELL_TEXT, 7, "disk, or controller for admin commands", .at = FIELD(dev) },
	{ "qid", "qid", CELL_COUNT, 3, "NVMe queue id (0: admin), or hardware queue",
	  .at = FIELD(qid), .drop = 3 },
	{ "tag", "tag", CELL_COUNT, 4, "tag of the command in that queue", .at = FIELD(tag),
	  .drop = 1 },
	{ "cid", "cid", CELL_COUNT, 5, "NVMe command id", .at = FIELD(cid) },
	{ "op", "op", CELL_TEXT, 5, "operation", .at = FIELD(op) },
	{ "nsid", "nsid", CELL_NSID, 4, "namespace id", .at = FIELD(nsid) },
	{ "lba", "lba", CELL_COUNT, 9, "first logical block, NVMe only", .at = FIELD(lba) },
	{ "sector", "sector", CELL_COUNT, 9, "first sector, in units of 512 bytes",
	  .at = FIELD(sector) },
	{ "bytes", "size", CELL_BYTES, 5, "bytes it moves or covers", .at = FIELD(bytes) },
	{ "command", "command", CELL_TEXT, 20, "fields of the command, in words",
	  .at = FIELD(command) },
	{ "state", "state", CELL_TEXT, 9, "sent, timed-out, cancelled or requeued",
	  .at = FIELD(state), .drop = 7 },
	{ "attempts", "try", CELL_COUNT, 3, "number of times it was sent", .at = FIELD(attempts),
	  .drop = 2 },
	{ "pid", "pid", CELL_COUNT, 7, "process that submitted it", .at = FIELD(pid), .drop = 4 },
	{ "comm", "comm", CELL_TEXT, 4, "name of the task that submitted it", .at = FIELD(comm),
	  .drop = 6 },
	{ 0 },
};

/* In text the command has its block and length, and the line above the list its time. */
static bool row_has(const struct column *column, enum table_format format)
{
	static const size_t beside[] = { FIELD(time_s), FIELD(cid),    FIELD(nsid),
					 FIELD(lba),	FIELD(sector), FIELD(bytes) };

	for (size_t i = 0; format == TABLE_TEXT && i < sizeof(beside) / sizeof(beside[0]); i++)
		if (column->at == beside[i])
			return false;
	return true;
}

size_t inflight__columns(enum table_format format, const struct column *shown[OBJECT_COLUMNS])
{
	size_t nr = 0;

	for (size_t i = 0; inflight_columns[i].key; i++)
		if (row_has(&inflight_columns[i], format))
			shown[nr++] = &inflight_columns[i];
	return nr;
}

static uint64_t row_number(uint64_t number, bool known)
{
	return known ? number : CELL_NO_NUMBER;
}

static void row_fill_command(struct inflight_row *row, const struct inflight_command *c,
			     char *const *op_names)
{
	struct words w = words__on(row->command_text, sizeof(row->command_text));
	const struct io_record *r = &c->record;
	struct record_place place;

	row->op = row->command = NULL;
	row->lba = row->sector = CELL_NO_NUMBER;
	if (!c->op_known)
		return;
	row->op = op__word(r->kind, r->op, op_names, row->op_text, sizeof(row->op_text));
	place = record__place(r, op_names, c->block_size);
	row->lba = place.lba;
	row->sector = place.sector;
	record__describe(&w, r, c->block_size, op_names);
	row->command = words__done(&w);
}

void inflight_row__fill(struct inflight_row *row, const struct inflight_command *c, double time_s,
			char *const *op_names)
{
	static const char *const states[] = {
		[INFLIGHT_SENT] = "sent",
		[INFLIGHT_TIMED_OUT] = "timed-out",
		[INFLIGHT_CANCELLED] = "cancelled",
		[INFLIGHT_REQUEUED] = "requeued",
	};
	const struct io_record *r = &c->record;

	row->time_s = time_s;
	row->age_ns = c->age_ns;
	row->sent_ns = c->sent_ns;
	row->dev = c->dev;
	row->qid = r->qid;
	row->tag = row_number((uint64_t)c->tag, c->tag >= 0);
	row->cid = row_number(r->cid, c->cid_known);
	row->nsid = row_number(r->nsid, r->kind != IO_BLOCK);
	row->bytes = r->bytes;
	row_fill_command(row, c, op_names);
	row->state = states[c->state];
	row->attempts = row_number(r->attempts, r->attempts);
	row->pid = row_number(r->pid, c->is_ours);
	memcpy(row->comm_text, r->comm, sizeof(r->comm));
	row->comm_text[sizeof(r->comm)] = 0;
	row->comm = c->is_ours ? row->comm_text : NULL;
}

/* ---- the list ---- */

#define LOOK(name) offsetof(struct inflight_look, name)
const struct column inflight_look_columns[] = {
	{ "time_s", "time", CELL_SECONDS, 7, "time of the snapshot, since the start",
	  .at = LOOK(time_s) },
	{ "in_flight", "in flight", CELL_COUNT, 9, "number of commands in flight, of any age",
	  .at = LOOK(in_flight) },
	{ "older", "older", CELL_COUNT, 5, "number of commands at least as old as --older",
	  .at = LOOK(older) },
	{ "oldest_ns", "oldest", CELL_DURATION, 7, "age of the oldest command",
	  .at = LOOK(oldest_ns) },
	{ 0 },
};

bool inflight_command__is_older(const struct inflight_command *command, uint64_t than_ns)
{
	return !than_ns || (command->age_ns != INFLIGHT_NO_AGE && command->age_ns >= than_ns);
}

uint64_t inflight_list__older(const struct inflight_list *list, uint64_t than_ns)
{
	uint64_t nr = 0;

	for (size_t i = 0; i < list->nr; i++)
		nr += inflight_command__is_older(&list->commands[i], than_ns);
	return nr;
}

static void list_say_duration(struct words *w, const char *before, uint64_t ns)
{
	char text[32];

	words__str(w, before);
	words__str(w, text__duration(text, sizeof(text), ns));
}

void inflight_list__describe(struct words *w, const struct inflight_list *list, uint64_t min_ns)
{
	uint64_t shown = inflight_list__older(list, min_ns);
	bool some = min_ns && list->nr;

	if (shown)
		words__u64(w, shown);
	else
		words__str(w, "nothing");
	words__str(w, " in flight");
	if (some)
		list_say_duration(w, " for ", min_ns);
	if (some && shown)
		words__str(w, " or more");
	if (shown && list->commands[0].age_ns != INFLIGHT_NO_AGE)
		list_say_duration(w, ", the oldest for ", list->commands[0].age_ns);
	if (shown == list->nr)
		return;
	words__str(w, "; ");
	words__u64(w, list->nr);
	words__str(w, " in flight");
}
