/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io.c: the table `io`: a row for each command that ended. Blocks of the file outside the requested
 * time are not read; for other devices and operations only the record is read. Values that a record
 * does not hold (stages, if none were recorded) are NULL.
 */
#include <errno.h>
#include <string.h>
#include "decode/op.h"
#include "decode/record.h"
#include "sql/table.h"
#include "wire/io_stages.h"

enum { IO_COMMAND_BYTES = 512, IO_STATUS_BYTES = 160, IO_KINDS = 4 };

struct io_rows {
	struct sql_rows base;
	struct capture_reader *reader; /* of one file, */
	size_t opened;		       /* and its place */
	const struct io_record *record;
	const struct io_stages *stages; /* of the record; NULL: none */
	char *const *op_names;
	uint8_t op_wanted[IO_KINDS][256]; /* 0: not checked yet; 1: no; 2: yes */
	char text[IO_COMMAND_BYTES];
};

static const struct capture_about *io_about(const struct io_rows *rows)
{
	return capture_reader__about(rows->reader);
}

/* ---- cells ---- */

static struct cell io_get_time(void *state)
{
	struct io_rows *rows = state;
	/* Signed: a part of a longer recording may begin with what ended before. */
	int64_t since_ns = (int64_t)(rows->record->end_ns - sql_rows__file(rows)->start_ns);

	return (struct cell){ CELL_REAL, .real = (double)since_ns / 1e9 };
}

static struct cell io_get_wall(void *state)
{
	struct io_rows *rows = state;
	uint64_t wall_ns = capture_about__wall_ns(io_about(rows), rows->record->end_ns);

	return wall_ns ? sql_number(wall_ns) : sql_none();
}

static struct cell io_get_dev(void *state)
{
	struct io_rows *rows = state;
	const struct device *device = capture_about__device(io_about(rows), rows->record->device);

	return sql_text(device ? device->name : NULL);
}

static struct cell io_get_model(void *state)
{
	struct io_rows *rows = state;
	const struct device *device = capture_about__device(io_about(rows), rows->record->device);

	return sql_text(device ? device->model : NULL);
}

static struct cell io_get_serial(void *state)
{
	struct io_rows *rows = state;
	const struct device *device = capture_about__device(io_about(rows), rows->record->device);

	return sql_text(device ? device->serial : NULL);
}

static struct cell io_get_boot_id(void *state)
{
	return sql_text(sql_rows__file(state)->boot_id);
}

static struct cell io_get_capture_id(void *state)
{
	return sql_text(sql_rows__file(state)->capture_id);
}

static struct cell io_get_op(void *state)
{
	struct io_rows *rows = state;
	return sql_text(op__word(rows->record->kind, rows->record->op, rows->op_names, rows->text,
				 sizeof(rows->text)));
}

static struct cell io_known(uint64_t n)
{
	return n == CELL_NO_NUMBER ? sql_none() : sql_number(n);
}

static struct cell io_get_lba(void *state)
{
	struct io_rows *rows = state;

	return io_known(record__place(rows->record, rows->op_names, 0).lba);
}

static struct cell io_get_sector(void *state)
{
	struct io_rows *rows = state;
	const struct device *device = capture_about__device(io_about(rows), rows->record->device);

	return io_known(record__place(rows->record, rows->op_names, device ? device->block_size : 0)
				.sector);
}

static struct cell io_get_command(void *state)
{
	struct io_rows *rows = state;
	const struct device *device = capture_about__device(io_about(rows), rows->record->device);
	struct words w = words__on(rows->text, IO_COMMAND_BYTES);

	record__describe(&w, rows->record, device ? device->block_size : 0, rows->op_names);
	return (struct cell){ CELL_TEXT, .text = words__done(&w) };
}

static struct cell io_get_status(void *state)
{
	struct io_rows *rows = state;
	struct words w = words__on(rows->text, IO_STATUS_BYTES);

	record__status(&w, rows->record);
	return (struct cell){ CELL_TEXT, .text = words__done(&w) };
}

static struct cell io_get_lat(void *state)
{
	struct io_rows *rows = state;
	return sql_number(rows->record->end_ns - rows->record->first_ns);
}

static struct cell io_get_comm(void *state)
{
	struct io_rows *rows = state;
	memcpy(rows->text, rows->record->comm, sizeof(rows->record->comm));
	rows->text[sizeof(rows->record->comm)] = 0;
	return sql_text(rows->text);
}

static struct cell io_get_cgroup(void *state)
{
	struct io_rows *rows = state;
	if (!rows->stages)
		return sql_none();
	return sql_text(capture_about__text(io_about(rows), GLOSSARY_CGROUPS,
					    (struct glossary_id){ { rows->stages->cgroup } }));
}

static struct cell io_get_path(void *state)
{
	struct io_rows *rows = state;
	if (!rows->stages || !rows->stages->inode)
		return sql_none();
	return sql_text(capture_about__text(
		io_about(rows), GLOSSARY_FILES,
		(struct glossary_id){
			{ rows->stages->inode,
			  io_file_place(rows->stages->file_dev, rows->stages->file_nth) } }));
}

/* ---- columns ---- */

enum { IO_RECORD, IO_NVME_RECORD, IO_STAGES }; /* the struct that a column reads */
#define RECORD(field) SQL_FIELD(SQL_NUMBER, IO_RECORD, io_record, field)
#define NVME(field)   SQL_FIELD(SQL_NUMBER, IO_NVME_RECORD, io_record, field)
#define STAGES(field) SQL_FIELD(SQL_NUMBER, IO_STAGES, io_stages, field)
#define SEEN(field)   STAGES(field), .none_is_0 = true

static const struct sql_column io_columns[] = {
	SQL_FILE_COLUMNS,
	{ "time_s", "REAL", "when it ended, since the start of the run", io_get_time },
	{ "wall_ns", "INTEGER", "when it ended, ns since 1970, UTC", io_get_wall },
	{ "start_ns", "INTEGER", "first issue, CLOCK_MONOTONIC", RECORD(first_ns) },
	{ "last_ns", "INTEGER", "issue of the last attempt", RECORD(last_ns) },
	{ "end_ns", "INTEGER", "completion, CLOCK_MONOTONIC", RECORD(end_ns) },
	{ "lat_ns", "INTEGER", "time from first issue to end", io_get_lat },
	{ "dev", "TEXT", "disk, or controller for admin commands", io_get_dev },
	{ "qid", "INTEGER", "NVMe queue id (0: admin), or hardware queue", RECORD(qid) },
	{ "cid", "INTEGER", "NVMe command id", NVME(cid) },
	{ "op", "TEXT", "operation", io_get_op },
	{ "nsid", "INTEGER", "namespace id", NVME(nsid) },
	{ "lba", "INTEGER", "first logical block, NVMe only", io_get_lba },
	{ "sector", "INTEGER", "first sector, in units of 512 bytes", io_get_sector },
	{ "bytes", "INTEGER", "bytes it moves or covers", RECORD(bytes) },
	{ "command", "TEXT", "fields of the command, in words", io_get_command },
	{ "status", "TEXT", "how it ended, in words", io_get_status },
	{ "status_code", "INTEGER", "NVMe status field, or errno; 0: success", RECORD(status) },
	{ "result", "INTEGER", "completion queue entry, dwords 0 and 1", NVME(result) },
	{ "attempts", "INTEGER", "number of attempts", RECORD(attempts) },
	{ "pid", "INTEGER", "process that built the command", RECORD(pid) },
	{ "comm", "TEXT", "name of the task that built the command", io_get_comm },
	{ "cpu", "INTEGER", "CPU on which it ended", RECORD(cpu) },
	{ "model", "TEXT", "model of the device", io_get_model },
	{ "serial", "TEXT", "serial number of the device", io_get_serial },
	{ "boot_id", "TEXT", "boot of the host: end_ns counts from it", io_get_boot_id },
	{ "capture_id", "TEXT", "recording; no other one has this id", io_get_capture_id },
	{ "queued_ns", "INTEGER",
	  "when its first bio was submitted; requires stages, as do all columns below",
	  SEEN(queued_ns) },
	{ "got_ns", "INTEGER", "when that bio got a request", SEEN(got_ns) },
	{ "inserted_ns", "INTEGER", "when the request went to the scheduler", SEEN(inserted_ns) },
	{ "issued_ns", "INTEGER", "NVMe: when it went to the driver's queue", SEEN(issued_ns) },
	{ "reaped_ns", "INTEGER", "NVMe: when its completion was found", SEEN(reaped_ns) },
	{ "done_ns", "INTEGER", "NVMe: when the request and its bios ended", SEEN(done_ns) },
	{ "tid", "INTEGER", "thread that submitted it", STAGES(tid) },
	{ "issue_cpu", "INTEGER", "CPU that built the command", STAGES(cpu) },
	{ "depth", "INTEGER", "commands in flight on its device when it was built", SEEN(depth) },
	{ "nr_bios", "INTEGER", "number of bios in the command", STAGES(nr_bios) },
	{ "cgroup", "TEXT", "cgroup of the task", io_get_cgroup },
	{ "file", "TEXT", "path of the file, or what it is instead, e.g. [device]", io_get_path },
	{ "kernel_stack", "INTEGER", "stack.id", SEEN(kernel_stack) },
	{ "user_stack", "INTEGER", "stack.id, with the same pid", SEEN(user_stack) },
	{ 0 },
};

static const void *io_object(const void *state, uint16_t of)
{
	const struct io_rows *rows = state;

	if (of == IO_STAGES)
		return rows->stages;
	return of == IO_NVME_RECORD && rows->record->kind == IO_BLOCK ? NULL : rows->record;
}

/* ---- rows ---- */

static void io_shut(void *state)
{
	struct io_rows *rows = state;

	if (rows->reader)
		sql_files__note(rows->base.files, rows->opened,
				capture_reader__damage(rows->reader));
	capture_reader__free(rows->reader);
	rows->reader = NULL;
}

static uint64_t io_later(uint64_t ns, uint64_t by_ns)
{
	return ns + by_ns < ns ? UINT64_MAX : ns + by_ns;
}

/* On the file's clock. The reader's end is exclusive. */
static void io_bound(struct io_rows *rows)
{
	const struct sql_bounds *b = &rows->base.bounds;
	uint64_t start_ns = sql_rows__file(rows)->start_ns;
	uint64_t from_ns = b->since_from_ns ? io_later(start_ns, b->since_from_ns) : 0;
	uint64_t to_ns = io_later(start_ns, b->since_to_ns);

	from_ns = from_ns > b->end_from_ns ? from_ns : b->end_from_ns;
	to_ns = to_ns < b->end_to_ns ? to_ns : b->end_to_ns;
	capture_reader__bound(rows->reader, from_ns, io_later(to_ns, 1));
}

/* The same file again reuses the reader. */
static int io_read_file(struct io_rows *rows)
{
	static char *const none[CAPTURE_NR_NAMES];
	int err = 0;

	if (rows->reader && rows->opened == rows->base.file) {
		capture_reader__rewind(rows->reader);
	} else {
		io_shut(rows);
		err = capture_reader__open_part(sql_rows__file(rows)->path,
						sql_rows__file(rows)->part, &rows->reader);
	}
	if (err)
		return err;
	rows->opened = rows->base.file;
	rows->op_names = capture_about__names(io_about(rows), CAPTURE_NAMES_BLOCK);
	rows->op_names = rows->op_names ? rows->op_names : none;
	memset(rows->op_wanted, 0, sizeof(rows->op_wanted));
	io_bound(rows);
	return 0;
}

/* 1: another file is open; 0: no more files; -errno. */
static int io_next_file(struct io_rows *rows)
{
	return sql_rows__next_file(&rows->base) ? io_read_file(rows) ?: 1 : 0;
}

static bool io_ask_op(struct io_rows *rows, const struct io_record *r)
{
	return !strcmp(op__word(r->kind, r->op, rows->op_names, rows->text, sizeof(rows->text)),
		       rows->base.bounds.op);
}

/* Checked once per number. */
static bool io_op_is_wanted(struct io_rows *rows, const struct io_record *r)
{
	uint8_t *wanted = &rows->op_wanted[r->kind % IO_KINDS][r->op];

	if (r->kind >= IO_KINDS) /* from a newer version, or a damaged file */
		return io_ask_op(rows, r);
	if (!*wanted)
		*wanted = io_ask_op(rows, r) ? 2 : 1;
	return *wanted == 2;
}

static bool io_is_wanted(struct io_rows *rows, const struct io_record *r)
{
	const struct device *device;

	if (r->what != RECORD_END) /* bios and troubles are not commands that ended */
		return false;
	if (rows->base.bounds.op && !io_op_is_wanted(rows, r))
		return false;
	if (!rows->base.bounds.dev)
		return true;
	device = capture_about__device(io_about(rows), r->device);
	return device && !strcmp(device->name, rows->base.bounds.dev);
}

static int io_next(void *state)
{
	struct io_rows *rows = state;
	const struct io_record *r;
	int more = rows->base.file == SIZE_MAX ? io_next_file(rows) : 1, err = 0;

	while (more > 0) {
		r = capture_reader__next(rows->reader, &err);
		if (err)
			return err;
		if (!r) {
			more = io_next_file(rows);
		} else if (io_is_wanted(rows, r)) {
			rows->record = r;
			rows->stages = io_record__stages(r);
			rows->base.place = capture_reader__place(rows->reader);
			return 1;
		}
	}
	return more;
}

static uint64_t io_position(void *state)
{
	const struct io_rows *rows = state;

	return sql_files__bytes(rows->base.files, rows->base.file) +
	       capture_reader__position(rows->reader);
}

const struct sql_table sql_io = {
	.name = "io",
	.brief = "a row for each command that ended",
	.columns = io_columns,
	.rows = 1e6,
	.has_bounds = true,
	.rows_size = sizeof(struct io_rows),
	.close = io_shut,
	.next = io_next,
	.object = io_object,
	.position = io_position,
};
