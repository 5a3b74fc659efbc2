/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * info.c: what is in this capture? Who made it where and when, its devices, how it ended, whether
 * it is whole. Reads headers and what is not records; with --verify every block, checked and
 * decoded. Texts of a file are hostile and leave escaped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/log.h"
#include "base/output.h"
#include "capture/read.h"
#include "cmd/cmd.h"
#include "decode/column.h"

struct info {
	/* options */
	struct option_list files;
	bool verify;
	/* state */
	FILE *out;
	enum table_format format;
	struct table *summaries; /* CSV has one table, with one heading, of all files */
	bool broken;		 /* a file is cut or damaged */
};

/* One file. */
struct info_row {
	const char *file;
	uint64_t bytes, records, calls, reserve_bytes;
	double bytes_per_record;
	const char *begin, *end; /* wall clock of the first and last record */
	double seconds;		 /* between them */
	uint64_t devices, clocks;
	const char *ended;
	uint64_t verified, truncated, truncated_at, blocks_corrupt, records_corrupt, records_lost;
	uint64_t records_surplus, records_astray, calls_missing, calls_surplus;
	bool whole;
	char begin_text[48], end_text[48];
};

#define FIELD(name) offsetof(struct info_row, name)

static const struct column info_columns[] = {
	{ "file", "file", CELL_TEXT, 10, "name of the capture", .at = FIELD(file) },
	{ "bytes", "bytes", CELL_COUNT, 0, "its size", .at = FIELD(bytes) },
	{ "records", "records", CELL_COUNT, 0,
	  "records in it, by its headers; by --verify those "
	  "that can be read",
	  .at = FIELD(records) },
	{ "calls", "calls", CELL_COUNT, 0, "records of calls, of class and calls",
	  .at = FIELD(calls) },
	{ "bytes_per_record", "each", CELL_RATE, 0, "bytes of the file for each record",
	  .at = FIELD(bytes_per_record) },
	{ "begin", "begin", CELL_TEXT, 0, "wall clock of its first record, UTC",
	  .at = FIELD(begin) },
	{ "end", "end", CELL_TEXT, 0, "wall clock of its last record, UTC", .at = FIELD(end) },
	{ "seconds", "seconds", CELL_SECONDS, 0, "between them", .at = FIELD(seconds) },
	{ "devices", "devices", CELL_COUNT, 0, "devices it knows", .at = FIELD(devices) },
	{ "clocks", "clocks", CELL_COUNT, 0, "times at which all clocks were read",
	  .at = FIELD(clocks) },
	{ "ended", "ended", CELL_TEXT, 0, "why the recording ended; null: the file is cut",
	  .at = FIELD(ended) },
	{ "verified", "verified", CELL_COUNT, 0, "1: every block was read and checked",
	  .at = FIELD(verified) },
	{ "truncated", "cut", CELL_COUNT, 0, "1: the end of the file is missing",
	  .at = FIELD(truncated) },
	{ "truncated_at", "cut at", CELL_COUNT, 0, "bytes up to the end of what is whole",
	  .at = FIELD(truncated_at) },
	{ "blocks_corrupt", "corrupt blocks", CELL_COUNT, 0, "blocks that are damaged",
	  .at = FIELD(blocks_corrupt) },
	{ "records_corrupt", "corrupt records", CELL_COUNT, 0, "records that were in them",
	  .at = FIELD(records_corrupt) },
	{ "records_lost", "lost", CELL_COUNT, 0, "records that the recorder lost before",
	  .at = FIELD(records_lost) },
	{ "records_surplus", "surplus", CELL_COUNT, 0,
	  "records whose number an earlier one has, or that the end of the file does not count: "
	  "blocks are repeated or added",
	  .at = FIELD(records_surplus) },
	{ "records_astray", "astray", CELL_COUNT, 0,
	  "records whose times are outside the range of their block's header; known by --verify",
	  .at = FIELD(records_astray) },
	{ "calls_missing", "calls missing", CELL_COUNT, 0,
	  "records of calls that were recorded and are not there; known by --verify",
	  .at = FIELD(calls_missing) },
	{ "calls_surplus", "calls surplus", CELL_COUNT, 0,
	  "records of calls that are there and were not recorded; known by --verify",
	  .at = FIELD(calls_surplus) },
	{ 0 },
};

/* What a file says about itself: any key, any value. */
struct info_pair {
	const char *file, *list, *name, *text;
	uint64_t value;
};

static const struct column text_columns[] = {
	{ "file", "file", CELL_TEXT, 0, "name of the capture", offsetof(struct info_pair, file) },
	{ "name", "name", CELL_TEXT, 0, "kernel, command, ...", offsetof(struct info_pair, name) },
	{ "text", "text", CELL_TEXT, 0, "what the recorder said",
	  offsetof(struct info_pair, text) },
	{ 0 },
};

static const struct column count_columns[] = {
	{ "file", "file", CELL_TEXT, 0, "name of the capture", offsetof(struct info_pair, file) },
	{ "list", "list", CELL_TEXT, 0, "ledger, or lost records by reason",
	  offsetof(struct info_pair, list) },
	{ "name", "name", CELL_TEXT, 0, "term or reason", offsetof(struct info_pair, name) },
	{ "value", "value", CELL_COUNT, 0, "its count", offsetof(struct info_pair, value) },
	{ 0 },
};

struct info_device {
	const char *file, *dev, *kind;
	uint64_t size_bytes, block_bytes, major, minor, ctrl, nsid, queues, depth;
	const char *model, *serial, *firmware;
};

#define DEVICE(name) offsetof(struct info_device, name)

static const struct column device_columns[] = {
	{ "file", "file", CELL_TEXT, 0, "name of the capture", .at = DEVICE(file) },
	{ "dev", "dev", CELL_TEXT, 7, "its name", .at = DEVICE(dev) },
	{ "kind", "kind", CELL_TEXT, 9, "namespace, multipath, controller, disk or bio-based",
	  .at = DEVICE(kind) },
	{ "size_bytes", "size", CELL_BYTES, 5, "its size", .at = DEVICE(size_bytes) },
	{ "block_bytes", "block", CELL_COUNT, 5, "its logical block", .at = DEVICE(block_bytes) },
	{ "major", "major", CELL_COUNT, 3, "device number", .at = DEVICE(major) },
	{ "minor", "minor", CELL_COUNT, 3, "device number", .at = DEVICE(minor) },
	{ "ctrl", "ctrl", CELL_COUNT, 4, "NVMe controller", .at = DEVICE(ctrl) },
	{ "nsid", "nsid", CELL_COUNT, 4, "NVMe namespace", .at = DEVICE(nsid) },
	{ "queues", "queues", CELL_COUNT, 6, "hardware queues", .at = DEVICE(queues) },
	{ "depth", "depth", CELL_COUNT, 5, "requests per queue", .at = DEVICE(depth) },
	{ "model", "model", CELL_TEXT, 5, "model", .at = DEVICE(model) },
	{ "serial", "serial", CELL_TEXT, 6, "serial number", .at = DEVICE(serial) },
	{ "firmware", "firmware", CELL_TEXT, 8, "firmware revision", .at = DEVICE(firmware) },
	{ 0 },
};

struct info_partition {
	const char *file, *partition, *dev;
	uint64_t from_sector, sectors, size_bytes;
};

#define PARTITION(name) offsetof(struct info_partition, name)

static const struct column partition_columns[] = {
	{ "file", "file", CELL_TEXT, 0, "name of the capture", .at = PARTITION(file) },
	{ "partition", "partition", CELL_TEXT, 9, "its name", .at = PARTITION(partition) },
	{ "dev", "dev", CELL_TEXT, 7, "the disk it is on", .at = PARTITION(dev) },
	{ "from_sector", "from", CELL_COUNT, 6, "its first sector of 512 bytes",
	  .at = PARTITION(from_sector) },
	{ "sectors", "sectors", CELL_COUNT, 7, "how many it has", .at = PARTITION(sectors) },
	{ "size_bytes", "size", CELL_BYTES, 5, "its size", .at = PARTITION(size_bytes) },
	{ 0 },
};

struct info_cgroup {
	const char *file, *path;
	uint64_t id;
};

static const struct column cgroup_columns[] = {
	{ "file", "file", CELL_TEXT, 0, "name of the capture", offsetof(struct info_cgroup, file) },
	{ "id", "id", CELL_COUNT, 6, "id of a cgroup", offsetof(struct info_cgroup, id) },
	{ "path", "cgroup", CELL_TEXT, 6, "its path", offsetof(struct info_cgroup, path) },
	{ 0 },
};

static const struct object info_object = { "info", { info_columns } };
static const struct object text_object = { "text", { text_columns } };
static const struct object count_object = { "count", { count_columns } };
static const struct object device_object = { "device", { device_columns } };
static const struct object partition_object = { "partition", { partition_columns } };
static const struct object cgroup_object = { "cgroup", { cgroup_columns } };
static const struct object *const info_objects[] = {
	&info_object,	   &text_object,   &count_object, &device_object,
	&partition_object, &cgroup_object, NULL
};

static const struct option_def info_options[] = {
	{ "FILE", 0, OPTION_OPERANDS, offsetof(struct info, files), "FILE...", "captures",
	  .completes = "file" },
	{ "verify", 0, OPTION_FLAG, offsetof(struct info, verify), NULL,
	  "read and check every block, not only the headers" },
	{ 0 },
};

static const struct option_group info_group = { "What is read", info_options };
static int info_run(void *state, const struct options *options, char **argv);

static const struct option_group *const info_groups[] = { &output_group, NULL };
const struct cmd cmd_info = {
	.name = "info",
	.group = "files",
	.brief = "what is in a capture? Who made it where, its devices, whether it is whole",
	.synopsis = "[options] FILE...",
	.groups = info_groups,
	.own = &info_group,
	.view_size = sizeof(struct info),
	.objects = info_objects,
	.run = info_run,
};

/* ---- tables ---- */

enum { INFO_COLUMNS = 24 };

/* A table of all these columns; `from` leaves out the first. */
static struct table *info_table(const struct info *i, const char *type,
				const struct column *columns, size_t from,
				const struct column *shown[INFO_COLUMNS])
{
	size_t nr = 0;

	for (const struct column *c = columns + from; c->key && nr < INFO_COLUMNS; c++)
		shown[nr++] = c;
	return table__new(i->out, i->format, type, shown, nr);
}

static const char *info_kind(enum device_kind kind)
{
	switch (kind) {
	case DEVICE_NVME_NS: return "namespace";
	case DEVICE_NVME_HEAD: return "multipath";
	case DEVICE_NVME_CTRL: return "controller";
	case DEVICE_REQUEST: return "disk";
	case DEVICE_BIO: return "bio-based";
	}
	return "?";
}

static const char *info_text(const char *text)
{
	return *text ? text : NULL;
}

/* The same device stands there under the numbers that records have and under its own. */
static bool info_is_first(const struct capture_about *about, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (about->devices[i].diskseq == about->devices[nr].diskseq &&
		    !strcmp(about->devices[i].name, about->devices[nr].name) &&
		    !strcmp(about->devices[i].serial, about->devices[nr].serial))
			return false;
	return true;
}

static void info_show_device(struct table *table, const char *file, const struct device *d)
{
	const struct info_device row = {
		.file = file,
		.dev = d->name,
		.kind = info_kind(d->kind),
		.size_bytes = d->size_bytes,
		.block_bytes = d->block_size,
		.major = d->kind == DEVICE_NVME_CTRL ? CELL_NO_NUMBER : d->major,
		.minor = d->kind == DEVICE_NVME_CTRL ? CELL_NO_NUMBER : d->minor,
		.ctrl = d->ctrl < 0 ? CELL_NO_NUMBER : (uint64_t)d->ctrl,
		.nsid = d->nsid ? d->nsid : CELL_NO_NUMBER,
		.queues = d->nr_queues,
		.depth = d->depth,
		.model = info_text(d->model),
		.serial = info_text(d->serial),
		.firmware = info_text(d->firmware),
	};

	table__row(table, &row);
}

static int info_show_devices(const struct info *i, const struct capture_about *about,
			     const char *file)
{
	const struct column *shown[INFO_COLUMNS];
	struct table *table =
		info_table(i, "device", device_columns, i->format == TABLE_TEXT, shown);

	if (!table)
		return log_err(-ENOMEM, "out of memory");
	for (size_t nr = 0; nr < about->nr_devices; nr++)
		if (info_is_first(about, nr))
			info_show_device(table, file, &about->devices[nr]);
	table__free(table);
	return 0;
}

static void info_show_partitions_of(struct table *table, const char *file, const struct device *d)
{
	for (uint32_t i = 0; i < d->nr_partitions; i++) {
		const struct device_partition *p = &d->partitions[i];

		table__row(table,
			   &(struct info_partition){ .file = file,
						     .partition = p->name,
						     .dev = d->name,
						     .from_sector = p->from_sector,
						     .sectors = p->nr_sectors,
						     .size_bytes = p->nr_sectors > UINT64_MAX / 512
									   ? CELL_NO_NUMBER
									   : p->nr_sectors * 512 });
	}
}

static int info_show_partitions(const struct info *i, const struct capture_about *about,
				const char *file)
{
	const struct column *shown[INFO_COLUMNS];
	struct table *table =
		info_table(i, "partition", partition_columns, i->format == TABLE_TEXT, shown);

	if (!table)
		return log_err(-ENOMEM, "out of memory");
	for (size_t nr = 0; nr < about->nr_devices; nr++)
		if (info_is_first(about, nr))
			info_show_partitions_of(table, file, &about->devices[nr]);
	table__free(table);
	return 0;
}

static int info_show_cgroups(const struct info *i, const struct capture_about *about,
			     const char *file)
{
	const struct glossary *cgroups = &about->glossaries[GLOSSARY_CGROUPS];
	const struct column *shown[INFO_COLUMNS];
	struct table *table =
		info_table(i, "cgroup", cgroup_columns, i->format == TABLE_TEXT, shown);

	if (!table)
		return log_err(-ENOMEM, "out of memory");
	for (size_t nr = 0; nr < cgroups->nr; nr++)
		table__row(table, &(struct info_cgroup){ file, cgroups->entries[nr].text,
							 cgroups->entries[nr].id.words[0] });
	table__free(table);
	return 0;
}

static int info_show_lists(const struct info *i, const struct capture_about *about,
			   const char *file)
{
	int err = about->nr_devices ? info_show_devices(i, about, file) : 0;

	err = err ? err : info_show_partitions(i, about, file);
	return err ? err : info_show_cgroups(i, about, file);
}

/* ---- JSON: one object for everything ---- */

static int info_show_pairs(const struct info *i, const struct capture_about *about,
			   const char *file)
{
	const struct column *texts_shown[INFO_COLUMNS], *counts_shown[INFO_COLUMNS];
	struct table *texts = info_table(i, "text", text_columns, 0, texts_shown);
	struct table *counts = info_table(i, "count", count_columns, 0, counts_shown);
	const struct {
		const char *name;
		const struct capture_counts *counts;
	} lists[] = { { "ledger", &about->trailer.ledger }, { "lost", &about->trailer.lost } };

	for (size_t k = 0; texts && k < about->nr_info; k++)
		table__row(texts, &(struct info_pair){ .file = file,
						       .name = about->info[k].key,
						       .text = about->info[k].value });
	for (size_t l = 0; counts && l < 2; l++)
		for (size_t k = 0; k < lists[l].counts->nr; k++)
			table__row(counts, &(struct info_pair){
						   .file = file,
						   .list = lists[l].name,
						   .name = lists[l].counts->counts[k].name,
						   .value = lists[l].counts->counts[k].value });
	table__free(texts);
	table__free(counts);
	return texts && counts ? 0 : log_err(-ENOMEM, "out of memory");
}

/* ---- text ---- */

static void info_line(const struct info *i, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	fputs("  ", i->out);
	text__put_terminal(i->out, name);
	fprintf(i->out, "%*s", (int)(name[0] && strlen(name) < 12 ? 12 - strlen(name) : 1), "");
	text__put_terminal(i->out, text);
	fputc('\n', i->out);
}

/* "ledger  issued 10240, completed 10240": what is not 0. */
static void info_counts(const struct info *i, const char *name, const struct capture_counts *counts)
{
	const char *before = name;

	for (size_t k = 0; k < counts->nr; k++) {
		if (!counts->counts[k].value)
			continue;
		fputs(before, i->out);
		text__put_terminal(i->out, counts->counts[k].name);
		fprintf(i->out, " %" PRIu64, counts->counts[k].value);
		before = ", ";
	}
	if (before != name)
		fputc('\n', i->out);
}

static void info_tell_calls(const struct info *i, const struct info_row *row)
{
	if (row->calls_missing)
		fprintf(i->out, "  missing     %" PRIu64 " records of calls that were recorded\n",
			row->calls_missing);
	if (row->calls_surplus)
		fprintf(i->out,
			"  repeated    %" PRIu64 " records of calls more than were recorded: "
			"blocks are repeated or added\n",
			row->calls_surplus);
}

static void info_tell_damage(const struct info *i, const struct info_row *row)
{
	if (row->truncated)
		fprintf(i->out, "  cut         it has no end after %" PRIu64 " bytes\n",
			row->truncated_at);
	if (row->blocks_corrupt || row->records_corrupt)
		fprintf(i->out, "  damaged     %" PRIu64 " blocks with %" PRIu64 " records\n",
			row->blocks_corrupt, row->records_corrupt);
	if (row->records_surplus)
		fprintf(i->out,
			"  repeated    %" PRIu64 " records more than were recorded: blocks are "
			"repeated or added\n",
			row->records_surplus);
	if (row->records_astray)
		fprintf(i->out,
			"  astray      %" PRIu64 " records have times outside the range of their "
			"block's header\n",
			row->records_astray);
	info_tell_calls(i, row);
	if (row->verified && row->whole)
		fprintf(i->out, "  whole       every block was read and checked\n");
}

static int info_tell(const struct info *i, const struct capture_about *about,
		     const struct info_row *row)
{
	char line[160], size[16];

	text__put_terminal(i->out, row->file);
	fputc('\n', i->out);
	text__bytes(size, sizeof(size), row->bytes);
	if (row->calls)
		snprintf(line, sizeof(line), "%" PRIu64 " of calls in %s", row->calls, size);
	else
		snprintf(line, sizeof(line), "%" PRIu64 " in %s, %.1f bytes each", row->records,
			 size, row->bytes_per_record);
	info_line(i, "records", line);
	if (row->begin) {
		snprintf(line, sizeof(line), "%s, %.3f s", row->begin, row->seconds);
		info_line(i, "begin", line);
	}
	info_line(i, "ended", row->ended);
	info_tell_damage(i, row);
	for (size_t k = 0; k < about->nr_info; k++)
		info_line(i, about->info[k].key, about->info[k].value);
	info_counts(i, "  lost        ", &about->trailer.lost);
	info_counts(i, "  ledger      ", &about->trailer.ledger);
	return info_show_lists(i, about, row->file);
}

/* ---- a file ---- */

/* 2026-11-15T07:08:09Z: UTC. */
static const char *info_wall(char buf[48], uint64_t real_ns)
{
	time_t s = (time_t)(real_ns / 1000000000);
	struct tm tm;

	if (!real_ns || !gmtime_r(&s, &tm) || !strftime(buf, 48, "%Y-%m-%dT%H:%M:%SZ", &tm))
		return NULL;
	return buf;
}

static void info_fill(struct info_row *row, const struct capture_reader *reader)
{
	const struct capture_about *about = capture_reader__about(reader);
	uint64_t min_ns, max_ns;

	row->file = capture_reader__path(reader);
	row->bytes = capture_reader__bytes(reader);
	row->records = capture_reader__nr_records(reader);
	row->calls = capture_reader__nr_calls(reader);
	if (capture_reader__span(reader, &min_ns, &max_ns)) {
		row->begin = info_wall(row->begin_text, capture_about__wall_ns(about, min_ns));
		row->end = info_wall(row->end_text, capture_about__wall_ns(about, max_ns));
		row->seconds = (double)(max_ns - min_ns) / 1e9;
	}
	for (size_t nr = 0; nr < about->nr_devices; nr++)
		row->devices += info_is_first(about, nr);
	row->clocks = about->nr_clocks;
	row->ended = about->trailer.there ? about->trailer.ended : NULL;
}

static void info_fill_damage(struct info_row *row, const struct capture_damage *damage)
{
	row->truncated = damage->truncated;
	row->truncated_at = damage->truncated ? damage->truncated_at : CELL_NO_NUMBER;
	row->blocks_corrupt = damage->blocks_corrupt;
	row->records_corrupt = damage->records_corrupt;
	row->records_lost = damage->records_lost;
	row->records_surplus = damage->records_surplus;
	row->records_astray = damage->records_astray;
	row->calls_missing = damage->calls_missing;
	row->calls_surplus = damage->calls_surplus;
	row->whole = capture_damage__is_whole(damage);
}

static int info_show(struct info *i, const struct capture_reader *reader, struct info_row *row)
{
	const struct capture_about *about = capture_reader__about(reader);
	int err;

	row->bytes_per_record = row->records ? (double)row->bytes / (double)row->records : 0;
	if (i->format == TABLE_TEXT)
		return info_tell(i, about, row);
	table__row(i->summaries, row);
	if (i->format == TABLE_CSV)
		return 0;
	err = info_show_pairs(i, about, row->file);
	return err ? err : info_show_lists(i, about, row->file);
}

/* A file that cannot be read is a failure of the file, not of how we were called. */
static int info_file(struct info *i, const char *path)
{
	struct capture_report report;
	struct capture_reader *reader;
	struct info_row row = { 0 };
	int err = capture_reader__open(path, &reader);

	if (err)
		return err == -ENOMEM ? err : -EIO;
	info_fill(&row, reader);
	info_fill_damage(&row, capture_reader__damage(reader));
	if (i->verify)
		err = capture__verify(path, &report);
	if (!err && i->verify) {
		row.verified = 1;
		row.records = report.records;
		info_fill_damage(&row, &report.damage);
	}
	i->broken |= !row.whole;
	err = err ?: info_show(i, reader, &row);
	capture_reader__free(reader);
	return err;
}

/* Every file, even if one of them is none. */
static int info_files(struct info *i, char **argv)
{
	int err, failed = 0;

	for (size_t nr = 0; nr < i->files.nr; nr++) {
		err = info_file(i, i->files.words[nr]);
		failed = err ? err : failed;
	}
	for (; *argv; argv++) {
		err = info_file(i, *argv);
		failed = err ? err : failed;
	}
	return failed;
}

static int info_put(struct info *i, char **argv)
{
	const struct column *shown[INFO_COLUMNS];
	int err;

	i->summaries = info_table(i, "info", info_columns, 0, shown);
	err = i->summaries ? info_files(i, argv) : log_err(-ENOMEM, "out of memory");
	table__free(i->summaries);
	return err;
}

static int info_run(void *state, const struct options *options, char **argv)
{
	struct info *i = state;
	struct output output;
	int err;

	if (!i->files.nr && !argv[0])
		return log_err(-EINVAL, "info needs a capture: iosonar info FILE");
	err = output__open(&output, options->output.path, &i->files);
	if (err)
		return err;
	i->format = (enum table_format)options->output.format;
	i->out = output.file;
	err = output__finish(&output, info_put(i, argv));
	if (err)
		return err;
	return i->broken ? EXIT_LOST : EXIT_DONE;
}
