/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c: what was every command, for a database? One row each with everything known, as JSON or
 * CSV; the machine is a column, so captures of many machines fit in one table. Times are that
 * machine's CLOCK_MONOTONIC except wall_ns; what was not seen is null.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "decode/record.h"
#include "export/exporter.h"
#include "session/io_source.h"
#include "view/lines_share.h"
#include "wire/io_stages.h"

struct export_row {
	/* hostile */
	const char *host, *dev, *model, *serial, *op, *comm, *cgroup, *file, *status;
	const char *kernel_stack, *user_stack, *boot_id, *capture_id;
	uint64_t wall_ns, nsid, qid, cid, sector, bytes, status_code, attempts, lat_ns, depth;
	uint64_t pid, tid, cpu, issue_cpu, bios;
	uint64_t queued_ns, got_ns, inserted_ns, start_ns, last_ns, issued_ns, reaped_ns, end_ns,
		done_ns;
};

struct export_rows {
	struct table *table;
	struct lines_share lines; /* in a copy of the run */
	struct export_row row;	  /* at hand */
	char op_text[16], comm_text[17], cgroup_text[4096], status_text[160];
};

#define FIELD(name) offsetof(struct export_row, name)
static const struct column export_columns[] = {
	{ "host", "host", CELL_TEXT, 0, "machine on which it was recorded", .at = FIELD(host) },
	{ "wall_ns", "wall", CELL_COUNT, 0, "wall clock of its end: ns since 1970, UTC",
	  .at = FIELD(wall_ns) },
	{ "dev", "dev", CELL_TEXT, 0, "disk, or controller for admin commands", .at = FIELD(dev) },
	{ "model", "model", CELL_TEXT, 0, "model of the device", .at = FIELD(model) },
	{ "serial", "serial", CELL_TEXT, 0, "serial number of the device", .at = FIELD(serial) },
	{ "op", "op", CELL_TEXT, 0, "operation", .at = FIELD(op) },
	{ "nsid", "nsid", CELL_COUNT, 0, "NVMe namespace", .at = FIELD(nsid) },
	{ "qid", "qid", CELL_COUNT, 0, "NVMe queue id (0: admin), or hardware queue",
	  .at = FIELD(qid) },
	{ "cid", "cid", CELL_COUNT, 0, "NVMe command id", .at = FIELD(cid) },
	{ "sector", "sector", CELL_COUNT, 0, "first sector, in units of 512 bytes",
	  .at = FIELD(sector) },
	{ "bytes", "bytes", CELL_COUNT, 0, "bytes it moves or covers", .at = FIELD(bytes) },
	{ "status", "status", CELL_TEXT, 0, "how it ended, in words", .at = FIELD(status) },
	{ "status_code", "code", CELL_COUNT, 0, "NVMe status field, or errno",
	  .at = FIELD(status_code) },
	{ "attempts", "try", CELL_COUNT, 0, "number of attempts", .at = FIELD(attempts) },
	{ "lat_ns", "latency", CELL_COUNT, 0, "time from first issue to end", .at = FIELD(lat_ns) },
	{ "depth", "depth", CELL_COUNT, 0, "commands in flight on the device, including this one",
	  .at = FIELD(depth) },
	{ "nr_bios", "bios", CELL_COUNT, 0, "number of bios in the command", .at = FIELD(bios) },
	{ "pid", "pid", CELL_COUNT, 0, "process that submitted it", .at = FIELD(pid) },
	{ "tid", "tid", CELL_COUNT, 0, "thread that submitted it", .at = FIELD(tid) },
	{ "comm", "comm", CELL_TEXT, 0, "name of the task that submitted it", .at = FIELD(comm) },
	{ "cgroup", "cgroup", CELL_TEXT, 0, "cgroup of the task that submitted it",
	  .at = FIELD(cgroup) },
	{ "file", "file", CELL_TEXT, 0, "path of the file, or what it is instead, e.g. [device]",
	  .at = FIELD(file) },
	{ "issue_cpu", "from", CELL_COUNT, 0, "CPU that built the command",
	  .at = FIELD(issue_cpu) },
	{ "cpu", "cpu", CELL_COUNT, 0, "CPU on which it ended", .at = FIELD(cpu) },
	{ "queued_ns", "Q", CELL_COUNT, 0, "when its first bio was submitted",
	  .at = FIELD(queued_ns) },
	{ "got_ns", "G", CELL_COUNT, 0, "when that bio got a request", .at = FIELD(got_ns) },
	{ "inserted_ns", "I", CELL_COUNT, 0, "when the request went to the scheduler",
	  .at = FIELD(inserted_ns) },
	{ "start_ns", "S", CELL_COUNT, 0, "when the command was built, or first issued",
	  .at = FIELD(start_ns) },
	{ "last_ns", "A", CELL_COUNT, 0, "when its last attempt was issued", .at = FIELD(last_ns) },
	{ "issued_ns", "D", CELL_COUNT, 0, "when it went to the driver's queue",
	  .at = FIELD(issued_ns) },
	{ "reaped_ns", "K", CELL_COUNT, 0, "when its completion was found",
	  .at = FIELD(reaped_ns) },
	{ "end_ns", "N", CELL_COUNT, 0,
	  "when the driver had the completion; on other disks: when it ended",
	  .at = FIELD(end_ns) },
	{ "done_ns", "C", CELL_COUNT, 0, "when the request and its bios ended",
	  .at = FIELD(done_ns) },
	{ "kernel_stack", "kernel", CELL_TEXT, 0,
	  "kernel functions that submitted it, innermost first", .at = FIELD(kernel_stack),
	  .form = &form_list },
	{ "user_stack", "user", CELL_TEXT, 0, "user functions that submitted it, innermost first",
	  .at = FIELD(user_stack), .form = &form_list },
	{ "boot_id", "boot", CELL_TEXT, 0, "boot of the machine: end_ns counts from it",
	  .at = FIELD(boot_id) },
	{ "capture_id", "capture", CELL_TEXT, 0, "recording; no other one has this id",
	  .at = FIELD(capture_id) },
	{ 0 },
};

const struct object export_rows_object = { "io", { export_columns } };

/* ---- one row ---- */

static uint64_t rows_known(uint64_t n)
{
	return n ? n : CELL_NO_NUMBER;
}

static void rows_fill_command(struct export_rows *e, struct session *s, const struct io_record *r)
{
	const bool nvme = r->kind != IO_BLOCK;
	struct words status = words__on(e->status_text, sizeof(e->status_text));
	struct export_row *row = &e->row;

	row->wall_ns = rows_known(session__wall_ns(s, r->end_ns));
	row->op = export__op(s, r, e->op_text);
	row->nsid = nvme ? r->nsid : CELL_NO_NUMBER;
	row->qid = r->qid;
	row->cid = nvme ? r->cid : CELL_NO_NUMBER;
	if (!export__sector(s, r, &row->sector))
		row->sector = CELL_NO_NUMBER;
	row->bytes = r->bytes;
	record__status(&status, r);
	row->status = words__done(&status);
	row->status_code = r->status;
	row->attempts = r->attempts;
	row->lat_ns = r->end_ns - r->first_ns;
	row->cpu = r->cpu;
	row->start_ns = r->first_ns;
	row->last_ns = r->last_ns;
	row->end_ns = r->end_ns;
}

static void rows_fill_owner(struct export_rows *e, struct session *s, const struct io_record *r)
{
	const struct device *device = io_source__device(s, r);
	const struct io_origin *origin = io_source__origin(s);
	struct export_row *row = &e->row;

	memcpy(e->comm_text, r->comm, sizeof(r->comm));
	row->host = origin->host;
	row->boot_id = origin->boot_id;
	row->capture_id = origin->capture_id;
	row->dev = device ? device->name : NULL;
	row->model = device && *device->model ? device->model : NULL;
	row->serial = device && *device->serial ? device->serial : NULL;
	row->pid = r->pid;
	row->comm = e->comm_text;
	row->kernel_stack = io_source__stack(s, r, false);
	row->user_stack = io_source__stack(s, r, true);
}

static void rows_fill_stages(struct export_rows *e, struct session *s, const struct io_record *r)
{
	static const struct io_stages none;
	const struct io_stages *stages = io_record__stages(r);
	struct export_row *row = &e->row;

	row->issue_cpu = stages ? stages->cpu : CELL_NO_NUMBER;
	stages = stages ? stages : &none;
	row->depth = rows_known(stages->depth);
	row->bios = rows_known(stages->nr_bios);
	row->tid = rows_known(stages->tid);
	row->cgroup = stages->cgroup ? session__cgroup_path(s, stages->cgroup, e->cgroup_text,
							    sizeof(e->cgroup_text))
				     : NULL;
	row->file = io_source__file(s, stages);
	row->queued_ns = rows_known(stages->queued_ns);
	row->got_ns = rows_known(stages->got_ns);
	row->inserted_ns = rows_known(stages->inserted_ns);
	row->issued_ns = rows_known(stages->issued_ns);
	row->reaped_ns = rows_known(stages->reaped_ns);
	row->done_ns = rows_known(stages->done_ns);
}

/* ---- the run ---- */

static int rows_start(void **state, struct session *s, enum table_format format)
{
	struct export_rows *e = calloc(1, sizeof(*e));

	if (!e)
		return log_no_memory();
	*state = e;
	e->table = table__of(s->out, format, &export_rows_object, NULL, NULL);
	if (!e->table)
		return log_no_memory();
	table__hold(e->table);
	return 0;
}

static int rows_start_json(void **state, struct session *s)
{
	return rows_start(state, s, TABLE_JSON);
}

static int rows_start_csv(void **state, struct session *s)
{
	return rows_start(state, s, TABLE_CSV);
}

static int rows_put(void *state, struct session *s, const struct io_record *r)
{
	struct export_rows *e = state;

	rows_fill_command(e, s, r);
	rows_fill_owner(e, s, r);
	rows_fill_stages(e, s, r);
	table__row(e->table, &e->row);
	return 0;
}

static void rows_flush(void *state)
{
	struct export_rows *e = state;

	if (e && e->table)
		table__hand_over(e->table);
}

static int rows_finish(void *state, struct session *s)
{
	(void)s;
	rows_flush(state);
	return 0;
}

static int rows_share_begin(void *state)
{
	struct export_rows *e = state;

	return lines_share__begin(&e->lines, e->table);
}

static int rows_give(void *state, struct byte_out *out)
{
	struct export_rows *e = state;

	return lines_share__give(&e->lines, e->table, out);
}

static int rows_take(void *state, struct byte_in *in)
{
	struct export_rows *e = state;

	lines_share__take(e->table, in);
	return 0;
}

static void rows_free(void *state)
{
	struct export_rows *e = state;

	if (!e)
		return;
	table__free(e->table);
	free(e);
}

const struct exporter export_json = {
	.start = rows_start_json,
	.put = rows_put,
	.finish = rows_finish,
	.flush = rows_flush,
	.free = rows_free,
	.share_begin = rows_share_begin,
	.give = rows_give,
	.take = rows_take,
};

const struct exporter export_csv = {
	.start = rows_start_csv,
	.put = rows_put,
	.finish = rows_finish,
	.flush = rows_flush,
	.free = rows_free,
	.share_begin = rows_share_begin,
	.give = rows_give,
	.take = rows_take,
};
