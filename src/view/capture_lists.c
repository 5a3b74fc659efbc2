/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/capture_lists.h"

#include <string.h>
#include "base/log.h"

/* What a file says about itself: arbitrary keys and values. */
struct list_pair {
	const char *file, *list, *name, *text;
	uint64_t value;
};

static const struct column text_columns[] = {
	{ "capture", "capture", CELL_TEXT, 0, "name of the capture",
	  .at = offsetof(struct list_pair, file), .not_in_text = true },
	{ "name", "name", CELL_TEXT, 0, "name of the entry: kernel, command, ...",
	  offsetof(struct list_pair, name) },
	{ "text", "text", CELL_TEXT, 0, "text of the entry", offsetof(struct list_pair, text) },
	{ 0 },
};

static const struct column count_columns[] = {
	{ "capture", "capture", CELL_TEXT, 0, "name of the capture",
	  .at = offsetof(struct list_pair, file), .not_in_text = true },
	{ "list", "list", CELL_TEXT, 0, "ledger, or lost records by reason",
	  offsetof(struct list_pair, list) },
	{ "name", "name", CELL_TEXT, 0, "term or reason", offsetof(struct list_pair, name) },
	{ "value", "value", CELL_COUNT, 0, "count of the term or reason",
	  offsetof(struct list_pair, value) },
	{ 0 },
};

struct list_device {
	const char *file, *dev, *kind;
	uint64_t size_bytes, block_bytes, major, minor, ctrl, nsid, queues, depth;
	const char *model, *serial, *firmware;
};

#define DEVICE(name) offsetof(struct list_device, name)

static const struct column device_columns[] = {
	{ "capture", "capture", CELL_TEXT, 0, "name of the capture", .at = DEVICE(file),
	  .not_in_text = true },
	{ "dev", "dev", CELL_TEXT, 7, "name of the device", .at = DEVICE(dev) },
	{ "kind", "kind", CELL_TEXT, 9, "namespace, multipath, controller, disk or bio-based",
	  .at = DEVICE(kind), .drop = 9 },
	{ "size_bytes", "size", CELL_BYTES, 5, "size of the device", .at = DEVICE(size_bytes) },
	{ "block_bytes", "block", CELL_COUNT, 5, "logical block size", .at = DEVICE(block_bytes),
	  .drop = 7 },
	{ "major", "major", CELL_COUNT, 3, "device number", .at = DEVICE(major), .drop = 1 },
	{ "minor", "minor", CELL_COUNT, 3, "device number", .at = DEVICE(minor), .drop = 2 },
	{ "ctrl", "ctrl", CELL_COUNT, 4, "NVMe controller", .at = DEVICE(ctrl), .drop = 3 },
	{ "nsid", "nsid", CELL_COUNT, 4, "NVMe namespace", .at = DEVICE(nsid), .drop = 6 },
	{ "queues", "queues", CELL_COUNT, 6, "hardware queues", .at = DEVICE(queues), .drop = 5 },
	{ "depth", "depth", CELL_COUNT, 5, "requests per queue", .at = DEVICE(depth), .drop = 4 },
	{ "model", "model", CELL_TEXT, 5, "model", .at = DEVICE(model) },
	{ "serial", "serial", CELL_TEXT, 6, "serial number", .at = DEVICE(serial), .drop = 10 },
	{ "firmware", "firmware", CELL_TEXT, 8, "firmware revision", .at = DEVICE(firmware),
	  .drop = 8 },
	{ 0 },
};

struct list_partition {
	const char *file, *partition, *dev;
	uint64_t from_sector, sectors, size_bytes;
};

#define PARTITION(name) offsetof(struct list_partition, name)

static const struct column partition_columns[] = {
	{ "capture", "capture", CELL_TEXT, 0, "name of the capture", .at = PARTITION(file),
	  .not_in_text = true },
	{ "partition", "partition", CELL_TEXT, 9, "name of the partition",
	  .at = PARTITION(partition) },
	{ "dev", "dev", CELL_TEXT, 7, "disk that holds the partition", .at = PARTITION(dev) },
	{ "from_sector", "from", CELL_COUNT, 6, "first sector, in units of 512 bytes",
	  .at = PARTITION(from_sector), .drop = 2 },
	{ "sectors", "sectors", CELL_COUNT, 7, "number of sectors of 512 bytes",
	  .at = PARTITION(sectors), .drop = 1 },
	{ "size_bytes", "size", CELL_BYTES, 5, "size of the partition",
	  .at = PARTITION(size_bytes) },
	{ 0 },
};

struct list_cgroup {
	const char *file, *path;
	uint64_t id;
};

static const struct column cgroup_columns[] = {
	{ "capture", "capture", CELL_TEXT, 0, "name of the capture",
	  .at = offsetof(struct list_cgroup, file), .not_in_text = true },
	{ "id", "id", CELL_COUNT, 6, "id of a cgroup", offsetof(struct list_cgroup, id) },
	{ "cgroup", "cgroup", CELL_TEXT, 6, "path of the cgroup",
	  offsetof(struct list_cgroup, path) },
	{ 0 },
};

const struct object capture_text_object = { "text", { text_columns } };
const struct object capture_count_object = { "count", { count_columns } };
const struct object capture_device_object = { "device", { device_columns } };
const struct object capture_partition_object = { "partition", { partition_columns } };
const struct object capture_cgroup_object = { "cgroup", { cgroup_columns } };

static const char *list_word(const char *text)
{
	return *text ? text : NULL;
}

bool capture_lists__is_first(const struct capture_about *about, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (about->devices[i].diskseq == about->devices[nr].diskseq &&
		    !strcmp(about->devices[i].name, about->devices[nr].name) &&
		    !strcmp(about->devices[i].serial, about->devices[nr].serial))
			return false;
	return true;
}

static struct list_device list_device(const char *file, const struct device *d)
{
	return (struct list_device){
		.file = file,
		.dev = d->name,
		.kind = device_kind__word(d->kind),
		.size_bytes = d->size_bytes,
		.block_bytes = d->block_size,
		.major = d->kind == DEVICE_NVME_CTRL ? CELL_NO_NUMBER : d->major,
		.minor = d->kind == DEVICE_NVME_CTRL ? CELL_NO_NUMBER : d->minor,
		.ctrl = d->ctrl < 0 ? CELL_NO_NUMBER : (uint64_t)d->ctrl,
		.nsid = d->nsid ? d->nsid : CELL_NO_NUMBER,
		.queues = d->nr_queues,
		.depth = d->depth,
		.model = list_word(d->model),
		.serial = list_word(d->serial),
		.firmware = list_word(d->firmware),
	};
}

static bool list_has_value(const void *view, const struct column *column)
{
	const struct capture_about *about = view;

	for (size_t nr = 0; nr < about->nr_devices; nr++) {
		const struct list_device row = list_device(NULL, &about->devices[nr]);
		const struct cell cell = column__cell(column, &row);

		if (cell.kind == CELL_TEXT ? cell.text != NULL : cell.kind != CELL_NONE)
			return true;
	}
	return false;
}

static void list_put_devices(const struct capture_lists *l, const struct capture_about *about,
			     struct table *table, table_put_fn put)
{
	for (size_t nr = 0; nr < about->nr_devices; nr++) {
		const struct list_device row = list_device(l->file, &about->devices[nr]);

		if (capture_lists__is_first(about, nr))
			put(table, &row);
	}
}

static int list_show_devices(const struct capture_lists *l, const struct capture_about *about)
{
	struct table *table = table__of(l->out, l->format, &capture_device_object,
					l->is_brief ? list_has_value : NULL, about);

	if (!table)
		return log_no_memory();
	if (l->format == TABLE_TEXT)
		list_put_devices(l, about, table, table__fit);
	list_put_devices(l, about, table, table__row);
	table__free(table);
	return 0;
}

static void list_show_partitions_of(struct table *table, const char *file, const struct device *d)
{
	for (uint32_t i = 0; i < d->nr_partitions; i++) {
		const struct device_partition *p = &d->partitions[i];

		table__row(table,
			   &(struct list_partition){ .file = file,
						     .partition = p->name,
						     .dev = d->name,
						     .from_sector = p->from_sector,
						     .sectors = p->nr_sectors,
						     .size_bytes = p->nr_sectors > UINT64_MAX / 512
									   ? CELL_NO_NUMBER
									   : p->nr_sectors * 512 });
	}
}

static int list_show_partitions(const struct capture_lists *l, const struct capture_about *about)
{
	struct table *table = table__of(l->out, l->format, &capture_partition_object, NULL, NULL);

	if (!table)
		return log_no_memory();
	for (size_t nr = 0; nr < about->nr_devices; nr++)
		if (capture_lists__is_first(about, nr))
			list_show_partitions_of(table, l->file, &about->devices[nr]);
	table__free(table);
	return 0;
}

static int list_show_cgroups(const struct capture_lists *l, const struct capture_about *about)
{
	const struct glossary *cgroups = &about->glossaries[GLOSSARY_CGROUPS];
	struct table *table = table__of(l->out, l->format, &capture_cgroup_object, NULL, NULL);

	if (!table)
		return log_no_memory();
	for (size_t nr = 0; nr < cgroups->nr; nr++)
		table__row(table, &(struct list_cgroup){ l->file, cgroups->entries[nr].text,
							 cgroups->entries[nr].id.words[0] });
	table__free(table);
	return 0;
}

int capture_lists__put(const struct capture_lists *l, const struct capture_about *about)
{
	int err = about->nr_devices ? list_show_devices(l, about) : 0;

	err = err ?: list_show_partitions(l, about);
	return err ?: list_show_cgroups(l, about);
}

int capture_lists__put_pairs(const struct capture_lists *l, const struct capture_about *about)
{
	struct table *texts = table__of(l->out, l->format, &capture_text_object, NULL, NULL);
	struct table *counts = table__of(l->out, l->format, &capture_count_object, NULL, NULL);
	const struct {
		const char *name;
		const struct capture_counts *counts;
	} lists[] = { { "ledger", &about->trailer.ledger }, { "lost", &about->trailer.lost } };

	for (size_t k = 0; texts && k < about->nr_info; k++)
		table__row(texts, &(struct list_pair){ .file = l->file,
						       .name = about->info[k].key,
						       .text = about->info[k].value });
	for (size_t n = 0; counts && n < 2; n++)
		for (size_t k = 0; k < lists[n].counts->nr; k++)
			table__row(counts, &(struct list_pair){
						   .file = l->file,
						   .list = lists[n].name,
						   .name = lists[n].counts->counts[k].name,
						   .value = lists[n].counts->counts[k].value });
	table__free(texts);
	table__free(counts);
	return texts && counts ? 0 : log_no_memory();
}
