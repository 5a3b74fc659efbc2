/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/errors_rows.h"

#include <inttypes.h>
#include <string.h>
#include "decode/event.h"
#include "decode/nvme.h"
#include "decode/op.h"
#include "decode/record.h"
#include "decode/words.h"
#include "session/io_source.h"

enum { NVME_ABORT = 0x08 };

static const struct form errors_tries_form = {
	FORM_OBJECTS,
	.separator = " ",
	.parts = { { "attempt_ns", '=' }, { "status_code" } },
};

#define FIELD(name) offsetof(struct errors_row, name)
static const struct column errors_columns[] = {
	{ "time_s", "time", CELL_TIME, 11, "time of the end or of the event, since the start",
	  .at = FIELD(time_ns) },
	{ "dev", "dev", CELL_TEXT, 7, "disk, or controller", .at = FIELD(dev) },
	{ "what", "what", CELL_TEXT, 9,
	  "failed, recovered, timed-out, failed-over, held, abort, timeout; or the event",
	  .at = FIELD(what) },
	{ "op", "op", CELL_TEXT, 5, "operation", .at = FIELD(op), .drop = 8 },
	{ "lba", "lba", CELL_COUNT, 8, "first logical block, NVMe only", .at = FIELD(lba),
	  .not_in_text = true },
	{ "sector", "sector", CELL_COUNT, 8, "first sector, in units of 512 bytes",
	  .at = FIELD(sector), .drop = 7 },
	{ "bytes", "size", CELL_BYTES, 5, "length in bytes", .at = FIELD(bytes), .drop = 4 },
	{ "qid", "qid", CELL_COUNT, 3, "NVMe queue id (0: admin), or hardware queue",
	  .at = FIELD(qid), .drop = 2 },
	{ "cid", "cid", CELL_COUNT, 5, "NVMe command id of the last attempt", .at = FIELD(cid),
	  .drop = 1 },
	{ "attempts", "try", CELL_COUNT, 3, "number of attempts", .at = FIELD(attempts),
	  .drop = 6 },
	{ "lat_ns", "latency", CELL_DURATION, 7,
	  "time from first issue to end, including all attempts", .at = FIELD(lat_ns) },
	{ "pid", "pid", CELL_COUNT, 6, "process that built the command", .at = FIELD(pid),
	  .drop = 3 },
	{ "comm", "comm", CELL_TEXT, 4, "name of the task that built the command",
	  .at = FIELD(comm), .drop = 5 },
	{ "status", "status", CELL_TEXT, 6, "how it ended, or the event, in words",
	  .at = FIELD(status) },
	{ "status_code", "code", CELL_COUNT, 4, "NVMe status field, or errno",
	  .at = FIELD(status_code), .not_in_text = true },
	{ "tries", "tries", CELL_TEXT, 10,
	  "failed attempts before the last, in order, each with its time and its status",
	  .at = FIELD(tries), .not_in_text = true, .form = &errors_tries_form },
	{ "start_ns", "start", CELL_COUNT, 15, "first issue, CLOCK_MONOTONIC",
	  .at = FIELD(start_ns), .not_in_text = true },
	{ "end_ns", "end", CELL_COUNT, 15, "end, or time of the event", .at = FIELD(end_ns),
	  .not_in_text = true },
	{ 0 },
};
const struct object errors_rows = { "errors", { errors_columns } };

/* ---- one line ---- */

bool errors_row__is_abort(const struct io_record *r)
{
	return r->kind == IO_ADMIN && r->op == NVME_ABORT;
}

bool errors_row__is_plain(const struct io_record *r, const struct troubles *troubles)
{
	return !r->status && r->attempts <= 1 && !(r->flags & RECORD_TROUBLED) && !troubles->nr &&
	       !troubles->nr_aborts && !errors_row__is_abort(r);
}

const char *errors_row__what(const struct io_record *r, const struct trouble *t,
			     const struct device *device)
{
	if (errors_row__is_abort(r))
		return "abort";
	/* A path error: the block layer sends the bio down another path. */
	if (nvme_status__is_path(r->kind, r->status) && device && device__is_leg(device))
		return "failed-over";
	if (t->timed_out)
		return "timed-out";
	if (r->status)
		return "failed";
	if (r->attempts > 1)
		return "recovered";
	return r->flags & RECORD_TROUBLED ? "held" : NULL;
}

static const char *errors_status(struct errors_row *row, const struct io_record *r)
{
	struct words w = words__on(row->status_text, sizeof(row->status_text));

	if (r->what == RECORD_EVENT)
		event__describe(&w, r);
	else if (r->what == RECORD_TIMEOUT)
		words__item(&w, "no completion yet: the driver's timeout expired");
	else
		record__status(&w, r);
	if (r->what == RECORD_END && errors_row__is_abort(r) && !r->status) {
		words__str(&w, r->result & 1 ? ": not aborted" : ": aborted");
		words__key(&w, "qid");
		words__u64(&w, (uint16_t)r->cdw10[0]);
		words__key(&w, "cid");
		words__u64(&w, r->cdw10[0] >> 16);
	}
	return words__done(&w);
}

const char *errors_row__tries(struct errors_row *row, const struct trouble *t)
{
	struct words w = words__on(row->tries_text, sizeof(row->tries_text));

	for (uint32_t i = 0; i < t->nr_tries && i < TROUBLE_TRIES; i++) {
		words__space(&w);
		words__u64(&w, t->tries[i].end_ns - t->tries[i].start_ns);
		words__char(&w, '=');
		words__hex(&w, t->tries[i].status, 1);
	}
	return t->nr_tries ? words__done(&w) : NULL;
}

void errors_row__fill(struct errors_row *row, const struct session *s, const struct io_record *r,
		      const struct device *device)
{
	bool ended = r->what == RECORD_END;
	struct record_place place;

	row->time_ns = io_record__time_ns(r) - s->start_ns;
	row->dev = device ? device__shown(device) : "?";
	row->op = op__word(r->kind, r->op, io_source__op_names(s), row->op_text,
			   sizeof(row->op_text));
	place = record__place(r, io_source__op_names(s), device ? device->block_size : 0);
	row->lba = place.lba;
	row->sector = place.sector;
	row->bytes = r->bytes ? r->bytes : CELL_NO_NUMBER;
	row->qid = r->qid;
	row->cid = r->kind == IO_BLOCK ? CELL_NO_NUMBER : r->cid;
	row->status = errors_status(row, r);
	row->status_code = ended ? r->status : CELL_NO_NUMBER;
	row->attempts = r->attempts;
	row->lat_ns = r->end_ns - r->first_ns;
	row->pid = r->pid;
	memcpy(row->comm_text, r->comm, sizeof(r->comm));
	row->comm = row->comm_text;
	row->start_ns = r->first_ns;
	row->end_ns = r->end_ns;
}

void errors_row__fill_event(struct errors_row *row, const struct session *s,
			    const struct io_record *r, const struct device *device)
{
	*row = (struct errors_row){
		.time_ns = r->end_ns - s->start_ns,
		.dev = device ? device__shown(device) : "?",
		.what = event__word(r->op),
		.lba = CELL_NO_NUMBER,
		.sector = CELL_NO_NUMBER,
		.bytes = CELL_NO_NUMBER,
		.qid = CELL_NO_NUMBER,
		.cid = CELL_NO_NUMBER,
		.status_code = CELL_NO_NUMBER,
		.attempts = CELL_NO_NUMBER,
		.lat_ns = CELL_NO_NUMBER,
		.pid = CELL_NO_NUMBER,
		.start_ns = CELL_NO_NUMBER,
		.end_ns = r->end_ns,
	};
	row->status = errors_status(row, r);
}

static void errors_put_try(const struct session *s, const struct io_record *r,
			   const struct trouble_try *try, uint32_t nr)
{
	struct io_record attempt = *r;
	char text[160], took[16];
	struct words w = words__on(text, sizeof(text));

	attempt.status = try->status;
	if (attempt.status || nr == r->attempts)
		record__status(&w, &attempt);
	else
		words__item(&w, "tried again");
	fprintf(s->out, "      %u  %7s  %s\n", nr,
		text__duration(took, sizeof(took), try->end_ns - try->start_ns), words__done(&w));
}

void errors_row__put_tries(const struct session *s, const struct io_record *r,
			   const struct trouble *t)
{
	for (uint32_t i = 0; i < t->nr_tries && i < TROUBLE_TRIES; i++)
		errors_put_try(s, r, &t->tries[i], i + 1);
	if (t->nr_tries)
		errors_put_try(s, r, &(struct trouble_try){ r->last_ns, r->end_ns, r->status },
			       t->nr_tries + 1);
}

void errors_row__put_kernel_line(const struct session *s, const struct io_record *r,
				 const struct device *device)
{
	char text[256];
	struct words w = words__on(text, sizeof(text));

	if (r->what != RECORD_END || !r->status || r->kind == IO_BLOCK)
		return;
	nvme_kernel__line(&w, r, device ? device->name : "?", device ? device->block_size : 0);
	text__put_terminal(s->out, words__done(&w));
	fputc('\n', s->out);
}
