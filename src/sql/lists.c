/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists.c: the tables `device`, `stack` and `ledger`: what a capture says of itself. It is in
 * memory since the file was opened, so rows cost nothing; only the bound on the file matters. The
 * place of a row is the index of its item in the list.
 */
#include "sql/table.h"
#include "view/capture_lists.h"

/* The item at an index of a capture's list. */
enum list_step { LIST_END, LIST_NO_ROW, LIST_ROW };

static const struct capture_about *list_about(const struct sql_rows *rows)
{
	return capture_reader__about(sql_rows__file(rows)->reader);
}

static int list_next(struct sql_rows *rows,
		     enum list_step (*look)(const struct capture_about *about, size_t item))
{
	enum list_step step = LIST_END; /* before the first file */

	if (rows->file != SIZE_MAX)
		step = look(list_about(rows), ++rows->place);
	while (step != LIST_ROW) {
		if (step == LIST_END && !sql_rows__next_file(rows))
			return 0;
		rows->place = step == LIST_END ? 0 : rows->place + 1;
		step = look(list_about(rows), rows->place);
	}
	return 1;
}

/* ---- device ---- */

static enum list_step device_look(const struct capture_about *about, size_t item)
{
	if (item >= about->nr_devices)
		return LIST_END;
	return capture_lists__is_first(about, item) ? LIST_ROW : LIST_NO_ROW;
}

static int device_next(void *rows)
{
	return list_next(rows, device_look);
}

static const void *device_object(const void *rows, uint16_t of)
{
	(void)of;
	return &list_about(rows)->devices[((const struct sql_rows *)rows)->place];
}

static struct cell device_get_kind(void *rows)
{
	return sql_text(device_kind__word(((const struct device *)device_object(rows, 0))->kind));
}

static struct cell device_get_ctrl(void *rows)
{
	int ctrl = ((const struct device *)device_object(rows, 0))->ctrl;

	return ctrl < 0 ? sql_none() : sql_number((uint64_t)ctrl);
}

#define DEVICE(field)	   SQL_FIELD(SQL_NUMBER, 0, device, field)
#define DEVICE_TEXT(field) SQL_FIELD(SQL_CHARS, 0, device, field)

static const struct sql_column device_columns[] = {
	SQL_FILE_COLUMNS,
	{ "dev", "TEXT", "name of the device", DEVICE_TEXT(name) },
	{ "kind", "TEXT", "namespace, multipath, controller, disk or bio-based", device_get_kind },
	{ "size_bytes", "INTEGER", "size of the device", DEVICE(size_bytes) },
	{ "block_bytes", "INTEGER", "logical block size", DEVICE(block_size) },
	{ "major", "INTEGER", "device number", DEVICE(major) },
	{ "minor", "INTEGER", "device number", DEVICE(minor) },
	{ "diskseq", "INTEGER", "sequence number of the disk since boot", DEVICE(diskseq),
	  .none_is_0 = true },
	{ "ctrl", "INTEGER", "NVMe controller", device_get_ctrl },
	{ "nsid", "INTEGER", "NVMe namespace", DEVICE(nsid), .none_is_0 = true },
	{ "queues", "INTEGER", "hardware queues", DEVICE(nr_queues) },
	{ "depth", "INTEGER", "requests per queue", DEVICE(depth) },
	{ "model", "TEXT", "model", DEVICE_TEXT(model) },
	{ "serial", "TEXT", "serial number", DEVICE_TEXT(serial) },
	{ "firmware", "TEXT", "firmware revision", DEVICE_TEXT(firmware) },
	{ "gone", "INTEGER", "1: removed during the recording", DEVICE(gone) },
	{ 0 },
};

/* ---- stack ---- */

static enum list_step stack_look(const struct capture_about *about, size_t item)
{
	const struct glossary *stacks = &about->glossaries[GLOSSARY_STACKS];

	if (item >= stacks->nr)
		return LIST_END;
	return stacks->entries[item].text ? LIST_ROW : LIST_NO_ROW;
}

static int stack_next(void *rows)
{
	return list_next(rows, stack_look);
}

static const void *stack_object(const void *state, uint16_t of)
{
	const struct sql_rows *rows = state;

	(void)of;
	return &list_about(rows)->glossaries[GLOSSARY_STACKS].entries[rows->place];
}

static const struct sql_column stack_columns[] = {
	SQL_FILE_COLUMNS,
	{ "id", "INTEGER", "io.kernel_stack or io.user_stack",
	  SQL_FIELD(SQL_NUMBER, 0, glossary_entry, id.words[0]) },
	{ "pid", "INTEGER", "process of a user stack; NULL: kernel stack",
	  SQL_FIELD(SQL_NUMBER, 0, glossary_entry, id.words[1]), .none_is_0 = true },
	{ "frames", "TEXT", "functions, innermost first, separated by ';'",
	  SQL_FIELD(SQL_POINTER, 0, glossary_entry, text) },
	{ 0 },
};

/* ---- ledger ---- */

static enum list_step ledger_look(const struct capture_about *about, size_t item)
{
	return item < about->trailer.ledger.nr + about->trailer.lost.nr ? LIST_ROW : LIST_END;
}

static int ledger_next(void *rows)
{
	return list_next(rows, ledger_look);
}

/* Losses come after the ledger. */
static const void *ledger_object(const void *state, uint16_t of)
{
	const struct sql_rows *rows = state;
	const struct capture_trailer *trailer = &list_about(rows)->trailer;

	(void)of;
	return rows->place < trailer->ledger.nr
		       ? &trailer->ledger.counts[rows->place]
		       : &trailer->lost.counts[rows->place - trailer->ledger.nr];
}

static struct cell ledger_get_list(void *state)
{
	const struct sql_rows *rows = state;

	return sql_text(rows->place < list_about(rows)->trailer.ledger.nr ? "ledger" : "lost");
}

static const struct sql_column ledger_columns[] = {
	SQL_FILE_COLUMNS,
	{ "list", "TEXT", "ledger, or lost: records that are not in the file, by reason",
	  ledger_get_list },
	{ "name", "TEXT", "term or reason", SQL_FIELD(SQL_POINTER, 0, capture_count, name) },
	{ "value", "INTEGER", "count of the term or reason",
	  SQL_FIELD(SQL_NUMBER, 0, capture_count, value) },
	{ 0 },
};

/* ---- as tables ---- */

#define LIST(what, how_many)                                                               \
	.name = #what, .columns = what##_columns, .rows = (how_many), .next = what##_next, \
	.object = what##_object, .rows_size = sizeof(struct sql_rows)

const struct sql_table sql_device = { LIST(device, 10), .brief = "disks and controllers" };
const struct sql_table sql_stack = { LIST(stack, 100),
				     .brief = "stacks: the functions that submitted the commands" };
const struct sql_table sql_ledger = { LIST(ledger, 20), .brief = "ledger of the recording" };
