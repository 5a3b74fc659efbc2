/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * info.c: what is in this capture? Who made it where and when, its devices, how it ended, whether
 * it is complete. Reads headers and everything except records; with --verify it checks and decodes
 * every block. Texts of a file are hostile and printed escaped.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "capture/clock_step.h"
#include "capture/read.h"
#include "cmd/cmd.h"
#include "decode/column.h"
#include "view/capture_lists.h"
#include "view/listing.h"

struct info {
	/* options */
	struct option_list files;
	bool verify;
	int verbose;
	/* state */
	struct listing to;
	struct table *summaries; /* CSV has one table with one heading for all files */
	bool broken;		 /* a file is cut or damaged */
};

/* One file. */
struct info_row {
	const char *file, *host;
	uint64_t clock_steps;
	uint64_t bytes, records, calls, waits, requests, reserve_bytes;
	double bytes_per_record;
	const char *begin, *end; /* wall clock of the first and last record */
	double seconds;		 /* between them */
	uint64_t devices, clocks;
	const char *ended;
	uint64_t verified, truncated, truncated_at, blocks_corrupt, records_corrupt, records_lost;
	uint64_t records_surplus, records_astray, calls_missing, calls_surplus;
	bool whole;
	char begin_text[32], end_text[32];
};

#define FIELD(name) offsetof(struct info_row, name)

static const struct column info_columns[] = {
	{ "capture", "capture", CELL_TEXT, 10, "name of the capture", .at = FIELD(file) },
	{ "host", "host", CELL_TEXT, 0, "machine on which it was recorded", .at = FIELD(host) },
	{ "bytes", "bytes", CELL_COUNT, 0, "size of the capture", .at = FIELD(bytes) },
	{ "records", "records", CELL_COUNT, 0,
	  "number of records according to the headers; with --verify: those that can be read",
	  .at = FIELD(records) },
	{ "calls", "calls", CELL_COUNT, 0, "number of records of calls, from class and calls",
	  .at = FIELD(calls) },
	{ "waits", "waits", CELL_COUNT, 0, "number of calls that waited, from waits",
	  .at = FIELD(waits) },
	{ "requests", "requests", CELL_COUNT, 0, "number of requests, from waits --async",
	  .at = FIELD(requests) },
	{ "bytes_per_record", "each", CELL_RATE, 0, "bytes of the file per record",
	  .at = FIELD(bytes_per_record) },
	{ "begin", "begin", CELL_TEXT, 0, "wall clock time of the first record, UTC",
	  .at = FIELD(begin) },
	{ "end", "end", CELL_TEXT, 0, "wall clock time of the last record, UTC", .at = FIELD(end) },
	{ "seconds", "seconds", CELL_SECONDS, 0, "time from the first to the last record",
	  .at = FIELD(seconds) },
	{ "devices", "devices", CELL_COUNT, 0, "number of devices that the capture describes",
	  .at = FIELD(devices) },
	{ "clocks", "clocks", CELL_COUNT, 0, "number of times that all clocks were read",
	  .at = FIELD(clocks) },
	{ "clock_steps", "steps", CELL_COUNT, 0,
	  "number of times that the wall clock was set during the recording",
	  .at = FIELD(clock_steps) },
	{ "ended", "ended", CELL_TEXT, 0, "why the recording ended; null: the file is truncated",
	  .at = FIELD(ended) },
	{ "verified", "verified", CELL_COUNT, 0, "1: every block was read and checked",
	  .at = FIELD(verified) },
	{ "truncated", "cut", CELL_COUNT, 0, "1: the end of the file is missing",
	  .at = FIELD(truncated) },
	{ "truncated_at", "cut at", CELL_COUNT, 0, "bytes up to the end of the intact part",
	  .at = FIELD(truncated_at) },
	{ "blocks_corrupt", "corrupt blocks", CELL_COUNT, 0, "number of damaged blocks",
	  .at = FIELD(blocks_corrupt) },
	{ "records_corrupt", "corrupt records", CELL_COUNT, 0,
	  "number of records in the damaged blocks", .at = FIELD(records_corrupt) },
	{ "records_lost", "lost", CELL_COUNT, 0, "number of records lost while recording",
	  .at = FIELD(records_lost) },
	{ "records_surplus", "surplus", CELL_COUNT, 0,
	  "number of records that repeat an earlier number or that the end of the file does not "
	  "count: blocks were repeated or added",
	  .at = FIELD(records_surplus) },
	{ "records_astray", "astray", CELL_COUNT, 0,
	  "number of records with times outside the range in their block's header; requires "
	  "--verify",
	  .at = FIELD(records_astray) },
	{ "calls_missing", "calls missing", CELL_COUNT, 0,
	  "number of records of calls that were recorded but are missing; requires --verify",
	  .at = FIELD(calls_missing) },
	{ "calls_surplus", "calls surplus", CELL_COUNT, 0,
	  "number of records of calls in excess of those recorded; requires --verify",
	  .at = FIELD(calls_surplus) },
	{ 0 },
};

static const struct object info_object = { "info", { info_columns } };
static const struct object *const info_objects[] = { &info_object,
						     &capture_text_object,
						     &capture_count_object,
						     &capture_device_object,
						     &capture_partition_object,
						     &capture_cgroup_object,
						     NULL };

static const struct option_def info_options[] = {
	{ "FILE", 0, OPTION_OPERANDS, offsetof(struct info, files), "FILE...", "captures",
	  .completes = "file" },
	{ "read", 'r', OPTION_FILES, offsetof(struct info, files), "FILE", "the same as FILE",
	  .completes = "file" },
	{ "verify", 0, OPTION_FLAG, offsetof(struct info, verify), NULL,
	  "read and check every block, not only the headers" },
	{ "verbose", 'v', OPTION_COUNT, offsetof(struct info, verbose), NULL,
	  "in text: also print start_ns and end_ns, and columns without a value" },
	{ 0 },
};

static const struct option_group info_group = { "What is read", info_options };
static int info_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_info = {
	.name = "info",
	.group = "captures",
	.brief = "what a capture contains, and whether it is complete",
	.synopsis = "[options] FILE...",
	.groups = CMD_GROUPS(OUTPUT_IN(OUTPUT_TABLES)),
	.own = &info_group,
	.view_size = sizeof(struct info),
	.objects = info_objects,
	.run = info_run,
};

/* ---- text ---- */

static void info_line(const struct info *i, const char *name, const char *text)
{
	if (!text || !*text)
		return;
	fputs("  ", i->to.out);
	text__put_terminal(i->to.out, name);
	fprintf(i->to.out, "%*s", (int)(name[0] && strlen(name) < 12 ? 12 - strlen(name) : 1), "");
	text__put_terminal(i->to.out, text);
	fputc('\n', i->to.out);
}

/* "ledger  issued 10240, completed 10240": terms that are not 0. */
static void info_counts(const struct info *i, const char *name, const struct capture_counts *counts)
{
	const char *before = name;

	for (size_t k = 0; k < counts->nr; k++) {
		if (!counts->counts[k].value)
			continue;
		fputs(before, i->to.out);
		text__put_terminal(i->to.out, counts->counts[k].name);
		fprintf(i->to.out, " %" PRIu64, counts->counts[k].value);
		before = ", ";
	}
	if (before != name)
		fputc('\n', i->to.out);
}

static void info_tell_calls(const struct info *i, const struct info_row *row)
{
	if (row->calls_missing)
		fprintf(i->to.out, "  missing     %" PRIu64 " records of calls\n",
			row->calls_missing);
	if (row->calls_surplus)
		fprintf(i->to.out,
			"  repeated    %" PRIu64 " more records of calls than were recorded: "
			"blocks were repeated or added\n",
			row->calls_surplus);
}

static void info_tell_damage(const struct info *i, const struct info_row *row)
{
	if (row->truncated)
		fprintf(i->to.out,
			"  cut         the end of the file is missing after %" PRIu64 " bytes\n",
			row->truncated_at);
	if (row->blocks_corrupt || row->records_corrupt)
		fprintf(i->to.out, "  damaged     %" PRIu64 " blocks with %" PRIu64 " records\n",
			row->blocks_corrupt, row->records_corrupt);
	if (row->records_surplus)
		fprintf(i->to.out,
			"  repeated    %" PRIu64
			" more records than were recorded: blocks were repeated or added\n",
			row->records_surplus);
	if (row->records_astray)
		fprintf(i->to.out,
			"  astray      %" PRIu64 " records have times outside the range of their "
			"block's header\n",
			row->records_astray);
	info_tell_calls(i, row);
	if (row->verified && row->whole)
		fprintf(i->to.out, "  intact      every block was read and checked\n");
}

static void info_tell_steps(const struct info *i, const struct capture_about *about)
{
	struct capture_clock_step step;
	size_t nr = 1;
	char buf[32];

	while (capture_clock_step__next(about, &nr, &step)) {
		const char *wall = capture_clock_step__wall(buf, step.wall_ns);

		fprintf(i->to.out, "  clock step  %+.3f s at %s\n", (double)step.by_ns / 1e9,
			wall ? wall : "?");
	}
}

/* What the lines begin and records say in time of day. */
static bool info_is_raw(const char *key)
{
	return !strcmp(key, CAPTURE_INFO_START) || !strcmp(key, CAPTURE_INFO_END);
}

static int info_tell(const struct info *i, const struct capture_about *about,
		     const struct info_row *row)
{
	const uint64_t nr = row->calls ?: row->waits ?: row->requests;
	const char *what = row->calls ? "calls" : row->waits ? "calls that waited" : "requests";
	char line[160], size[16];

	text__put_terminal(i->to.out, row->file);
	fputc('\n', i->to.out);
	text__bytes(size, sizeof(size), row->bytes);
	if (nr)
		snprintf(line, sizeof(line), "%" PRIu64 " of %s in %s", nr, what, size);
	else
		snprintf(line, sizeof(line), "%" PRIu64 " in %s, %.1f bytes each", row->records,
			 size, row->bytes_per_record);
	info_line(i, "records", line);
	if (row->begin) {
		snprintf(line, sizeof(line), "%s, %.3f s", row->begin, row->seconds);
		info_line(i, "begin", line);
	}
	info_tell_steps(i, about);
	info_line(i, "ended", row->ended);
	info_tell_damage(i, row);
	for (size_t k = 0; k < about->nr_info; k++)
		if (i->verbose || !info_is_raw(about->info[k].key))
			info_line(i, about->info[k].key, about->info[k].value);
	info_counts(i, "  lost        ", &about->trailer.lost);
	info_counts(i, "  ledger      ", &about->trailer.ledger);
	return capture_lists__put(
		&(struct capture_lists){ i->to.out, i->to.format, row->file, !i->verbose }, about);
}

/* ---- a file ---- */

static uint64_t info_clock_steps(const struct capture_about *about)
{
	struct capture_clock_step step;
	uint64_t steps = 0;
	size_t nr = 1;

	while (capture_clock_step__next(about, &nr, &step))
		steps++;
	return steps;
}

static void info_fill(struct info_row *row, const struct capture_reader *reader)
{
	const struct capture_about *about = capture_reader__about(reader);
	uint64_t min_ns, max_ns;

	row->file = capture_reader__label(reader);
	row->host = capture_about__info(about, CAPTURE_INFO_HOST);
	row->clock_steps = info_clock_steps(about);
	row->bytes = capture_reader__bytes(reader);
	row->records = capture_reader__nr_records(reader);
	row->calls = capture_reader__nr_calls(reader);
	row->waits = capture_reader__nr_waits(reader);
	row->requests = capture_reader__nr_requests(reader);
	if (capture_reader__span(reader, &min_ns, &max_ns)) {
		row->begin = capture_clock_step__wall(row->begin_text,
						      capture_about__wall_ns(about, min_ns));
		row->end = capture_clock_step__wall(row->end_text,
						    capture_about__wall_ns(about, max_ns));
		row->seconds = (double)(max_ns - min_ns) / 1e9;
	}
	for (size_t nr = 0; nr < about->nr_devices; nr++)
		row->devices += capture_lists__is_first(about, nr);
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
	const struct capture_lists to = { i->to.out, i->to.format, row->file };
	int err;

	row->bytes_per_record = row->records ? (double)row->bytes / (double)row->records : 0;
	if (i->to.format == TABLE_TEXT)
		return info_tell(i, about, row);
	table__row(i->summaries, row);
	if (i->to.format == TABLE_CSV)
		return 0;
	err = capture_lists__put_pairs(&to, about);
	return err ?: capture_lists__put(&to, about);
}

/* An unreadable file is the file's failure, not a usage error. */
static int info_part(struct info *i, const char *path, size_t nr, size_t *nr_parts)
{
	struct capture_report report;
	struct capture_reader *reader;
	struct info_row row = { 0 };
	int err = capture_reader__open_part(path, nr, &reader);

	if (err)
		return err == -ENOMEM ? err : -EIO;
	*nr_parts = capture_reader__nr_parts(reader);
	info_fill(&row, reader);
	info_fill_damage(&row, capture_reader__damage(reader));
	if (i->verify)
		err = capture__verify_part(path, nr, &report);
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

/* Every capture in it. */
static int info_file(struct info *i, const char *path)
{
	size_t nr_parts = 1;
	int err = 0;

	for (size_t nr = 0; nr < nr_parts && !err; nr++)
		err = info_part(i, path, nr, &nr_parts);
	return err;
}

/* Every file, even if one of them is not a capture. */
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

static int info_run(void *state, const struct options *options, char **argv)
{
	struct info *i = state;
	int err;

	if (!i->files.nr && !argv[0])
		return log_err(-EINVAL, "info requires a capture, e.g. iosonar info FILE");
	err = listing__open(&i->to, &options->output, &i->files);
	if (err)
		return err;
	i->summaries = table__of(i->to.out, i->to.format, &info_object, NULL, NULL);
	err = i->summaries ? info_files(i, argv) : log_no_memory();
	table__free(i->summaries);
	err = output__finish(&i->to.output, err);
	if (err)
		return err;
	return i->broken ? EXIT_LOST : EXIT_DONE;
}
