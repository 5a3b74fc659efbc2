/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lists.c: the tables `device`, `stack` and `ledger`: what a capture says of itself. It is in
 * memory since the file was opened, so rows cost nothing; the only bound that matters is the file.
 */
#include <stdlib.h>
#include <string.h>
#include "sql/table.h"

struct list_rows {
	struct sql_files *files;
	const struct list_kind *kind;
	struct sql_bounds bounds;
	size_t file, item;
};

/* How many items a capture has in this list, and whether one of them is a row. */
struct list_kind {
	size_t (*count)(const struct capture_about *about);
	bool (*is_row)(const struct capture_about *about, size_t item);
};

static const struct sql_file *list_file(const struct list_rows *rows)
{
	return &rows->files->files[rows->file];
}

static const struct capture_about *list_about(const struct list_rows *rows)
{
	return capture_reader__about(list_file(rows)->reader);
}

static struct cell list_get_file(void *rows)
{
	return sql_text(list_file(rows)->path);
}

static struct cell list_get_host(void *rows)
{
	return sql_text(list_file(rows)->host);
}

/* ---- rows, the same for all ---- */

static void *list_new(struct sql_files *files, const struct list_kind *kind)
{
	struct list_rows *rows = calloc(1, sizeof(*rows));

	if (rows)
		*rows = (struct list_rows){ .files = files, .kind = kind };
	return rows;
}

static void list_begin(void *state, const struct sql_bounds *bounds)
{
	struct list_rows *rows = state;

	rows->bounds = *bounds;
	rows->file = 0;
	rows->item = SIZE_MAX; /* before the first */
}

static int list_next(void *state)
{
	struct list_rows *rows = state;

	for (; rows->file < rows->files->nr; rows->file++, rows->item = SIZE_MAX) {
		if (rows->bounds.file && strcmp(rows->bounds.file, list_file(rows)->path))
			continue;
		while (++rows->item < rows->kind->count(list_about(rows)))
			if (rows->kind->is_row(list_about(rows), rows->item))
				return 1;
	}
	return 0;
}

static uint64_t list_number(void *state)
{
	const struct list_rows *rows = state;

	return (uint64_t)rows->file << 40 | rows->item;
}

/* ---- device ---- */

static size_t device_count(const struct capture_about *about)
{
	return about->nr_devices;
}

/* The same device stands there under the numbers that records have and under its own. */
static bool device_is_row(const struct capture_about *about, size_t item)
{
	const struct device *device = &about->devices[item];

	for (size_t i = 0; i < item; i++)
		if (about->devices[i].diskseq == device->diskseq &&
		    !strcmp(about->devices[i].name, device->name) &&
		    !strcmp(about->devices[i].serial, device->serial))
			return false;
	return true;
}

static const struct device *device_at(const struct list_rows *rows)
{
	return &list_about(rows)->devices[rows->item];
}

static struct cell device_get_name(void *rows)
{
	return sql_text(device_at(rows)->name);
}

static struct cell device_get_kind(void *rows)
{
	static const char *const words[] = {
		[DEVICE_NVME_NS] = "namespace",	   [DEVICE_NVME_HEAD] = "multipath",
		[DEVICE_NVME_CTRL] = "controller", [DEVICE_REQUEST] = "disk",
		[DEVICE_BIO] = "bio-based",
	};
	unsigned int kind = device_at(rows)->kind;

	return sql_text(kind < sizeof(words) / sizeof(words[0]) ? words[kind] : NULL);
}

static struct cell device_get_ctrl(void *rows)
{
	int ctrl = device_at(rows)->ctrl;

	return ctrl < 0 ? sql_none() : sql_number((uint64_t)ctrl);
}

static struct cell device_get_model(void *rows)
{
	return sql_text(device_at(rows)->model);
}

static struct cell device_get_serial(void *rows)
{
	return sql_text(device_at(rows)->serial);
}

static struct cell device_get_firmware(void *rows)
{
	return sql_text(device_at(rows)->firmware);
}

#define DEVICE(field) SQL_FIELD(0, device, field)

static const struct sql_column device_columns[] = {
	{ "file", "TEXT", "the capture", list_get_file },
	{ "host", "TEXT", "where it was made; NULL: it does not say", list_get_host },
	{ "dev", "TEXT", "its name", device_get_name },
	{ "kind", "TEXT", "namespace, multipath, controller, disk or bio-based", device_get_kind },
	{ "size_bytes", "INTEGER", "its size", DEVICE(size_bytes) },
	{ "block_bytes", "INTEGER", "its logical block", DEVICE(block_size) },
	{ "major", "INTEGER", "device number", DEVICE(major) },
	{ "minor", "INTEGER", "device number", DEVICE(minor) },
	{ "diskseq", "INTEGER", "the kernel's number of this disk since boot", DEVICE(diskseq),
	  .none_is_0 = true },
	{ "ctrl", "INTEGER", "NVMe controller", device_get_ctrl },
	{ "nsid", "INTEGER", "NVMe namespace", DEVICE(nsid), .none_is_0 = true },
	{ "queues", "INTEGER", "hardware queues", DEVICE(nr_queues) },
	{ "depth", "INTEGER", "requests per queue", DEVICE(depth) },
	{ "model", "TEXT", "model", device_get_model },
	{ "serial", "TEXT", "serial number", device_get_serial },
	{ "firmware", "TEXT", "firmware revision", device_get_firmware },
	{ "gone", "INTEGER", "1: it was removed while it was recorded", DEVICE(gone) },
	{ 0 },
};

static void *device_open(struct sql_files *files)
{
	static const struct list_kind kind = { device_count, device_is_row };

	return list_new(files, &kind);
}

static struct cell device_cell(void *rows, size_t nr)
{
	const struct sql_column *column = &device_columns[nr];

	return column->get ? column->get(rows) : sql_column__field(column, device_at(rows));
}

/* ---- stack ---- */

static const struct glossary *stack_glossary(const struct capture_about *about)
{
	return &about->glossaries[GLOSSARY_STACKS];
}

static size_t stack_count(const struct capture_about *about)
{
	return stack_glossary(about)->nr;
}

static bool stack_is_row(const struct capture_about *about, size_t item)
{
	return stack_glossary(about)->entries[item].text;
}

static const struct glossary_entry *stack_at(const struct list_rows *rows)
{
	return &stack_glossary(list_about(rows))->entries[rows->item];
}

static struct cell stack_get_id(void *rows)
{
	return sql_number(stack_at(rows)->id.words[0]);
}

static struct cell stack_get_pid(void *rows)
{
	uint64_t pid = stack_at(rows)->id.words[1];

	return pid ? sql_number(pid) : sql_none();
}

static struct cell stack_get_frames(void *rows)
{
	return sql_text(stack_at(rows)->text);
}

static const struct sql_column stack_columns[] = {
	{ "file", "TEXT", "the capture", list_get_file },
	{ "host", "TEXT", "where it was made; NULL: it does not say", list_get_host },
	{ "id", "INTEGER", "io.kernel_stack or io.user_stack", stack_get_id },
	{ "pid", "INTEGER", "whose user stack it is; NULL: the kernel's", stack_get_pid },
	{ "frames", "TEXT", "functions, innermost first, ';' between them", stack_get_frames },
	{ 0 },
};

static void *stack_open(struct sql_files *files)
{
	static const struct list_kind kind = { stack_count, stack_is_row };

	return list_new(files, &kind);
}

static struct cell stack_cell(void *rows, size_t nr)
{
	return stack_columns[nr].get(rows);
}

/* ---- ledger ---- */

static size_t ledger_count(const struct capture_about *about)
{
	return about->trailer.ledger.nr + about->trailer.lost.nr;
}

static bool ledger_is_row(const struct capture_about *about, size_t item)
{
	(void)about, (void)item;
	return true;
}

/* What was lost stands behind the ledger. */
static const struct capture_count *ledger_at(const struct list_rows *rows)
{
	const struct capture_trailer *trailer = &list_about(rows)->trailer;

	return rows->item < trailer->ledger.nr
		       ? &trailer->ledger.counts[rows->item]
		       : &trailer->lost.counts[rows->item - trailer->ledger.nr];
}

static struct cell ledger_get_list(void *state)
{
	const struct list_rows *rows = state;

	return sql_text(rows->item < list_about(rows)->trailer.ledger.nr ? "ledger" : "lost");
}

static struct cell ledger_get_name(void *rows)
{
	return sql_text(ledger_at(rows)->name);
}

static struct cell ledger_get_value(void *rows)
{
	return sql_number(ledger_at(rows)->value);
}

static const struct sql_column ledger_columns[] = {
	{ "file", "TEXT", "the capture", list_get_file },
	{ "host", "TEXT", "where it was made; NULL: it does not say", list_get_host },
	{ "list", "TEXT", "ledger, or lost: records that are not in the file, by reason",
	  ledger_get_list },
	{ "name", "TEXT", "term or reason", ledger_get_name },
	{ "value", "INTEGER", "its count", ledger_get_value },
	{ 0 },
};

static void *ledger_open(struct sql_files *files)
{
	static const struct list_kind kind = { ledger_count, ledger_is_row };

	return list_new(files, &kind);
}

static struct cell ledger_cell(void *rows, size_t nr)
{
	return ledger_columns[nr].get(rows);
}

/* ---- as tables ---- */

#define LIST(what, how_many)                                                               \
	.name = #what, .columns = what##_columns, .rows = (how_many), .open = what##_open, \
	.close = free, .begin = list_begin, .next = list_next, .cell = what##_cell,        \
	.number = list_number

const struct sql_table sql_device = { LIST(device, 10), .brief = "disks and controllers" };
const struct sql_table sql_stack = { LIST(stack, 100), .brief = "who submitted what: functions" };
const struct sql_table sql_ledger = { LIST(ledger, 20), .brief = "how the recording added up" };
