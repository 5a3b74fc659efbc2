/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/report_whole.h"

#include "capture/about.h"
#include "session/io_source.h"

struct report_row {
	const char *file, *kernel, *machine, *command, *recorder;
	uint64_t files, wall_ns;
	double from_s, seconds;
	uint64_t count, failed, bytes, staged, fileless, processes, paths;
	double per_s, mb_per_s;
	uint64_t p50_ns, p99_ns, max_ns;
};

#define FIELD(name) offsetof(struct report_row, name)
static const struct column whole_columns[] = {
	{ "capture", "capture", CELL_TEXT, 0, "name of the capture, or of the first of several",
	  .at = FIELD(file) },
	{ "captures", "captures", CELL_COUNT, 0, "captures", .at = FIELD(files) },
	{ "kernel", "kernel", CELL_TEXT, 0, "kernel release of the machine that recorded it",
	  .at = FIELD(kernel) },
	{ "machine", "machine", CELL_TEXT, 0, "architecture of the machine that recorded it",
	  .at = FIELD(machine) },
	{ "command", "command", CELL_TEXT, 0, "command line that recorded it",
	  .at = FIELD(command) },
	{ "recorder", "recorder", CELL_TEXT, 0, "version of iosonar that recorded it",
	  .at = FIELD(recorder) },
	{ "wall_s", "wall", CELL_TIME, 0, "wall clock of the run's start, seconds since 1970, UTC",
	  .at = FIELD(wall_ns) },
	{ "from_s", "from", CELL_SECONDS, 0,
	  "start of the part that is shown, since the start of the run", .at = FIELD(from_s) },
	{ "seconds", "seconds", CELL_SECONDS, 0, "duration of the part that is shown",
	  .at = FIELD(seconds) },
	{ "count", "count", CELL_COUNT, 0, "number of commands shown", .at = FIELD(count) },
	{ "failed", "failed", CELL_COUNT, 0, "number of commands shown that failed",
	  .at = FIELD(failed) },
	{ "bytes", "bytes", CELL_BYTES, 0, "bytes that the commands moved", .at = FIELD(bytes) },
	{ "iops", "IO/s", CELL_RATE, 0, "commands per second", .at = FIELD(per_s) },
	{ "mb_per_s", "MB/s", CELL_MBPS, 0, "10^6 bytes per second", .at = FIELD(mb_per_s) },
	{ "p50_ns", "p50", CELL_DURATION, 0, "median latency of all commands",
	  .at = FIELD(p50_ns) },
	{ "p99_ns", "p99", CELL_DURATION, 0, "99th percentile of latency", .at = FIELD(p99_ns) },
	{ "max_ns", "max", CELL_DURATION, 0, "maximum latency, exact", .at = FIELD(max_ns) },
	{ "staged", "staged", CELL_COUNT, 0, "commands with known stages; requires record --stages",
	  .at = FIELD(staged) },
	{ "fileless", "fileless", CELL_COUNT, 0, "commands without a known file",
	  .at = FIELD(fileless) },
	{ "processes", "processes", CELL_COUNT, 0, "number of different processes, shown or not",
	  .at = FIELD(processes) },
	{ "files", "files", CELL_COUNT, 0, "number of different files, shown or not",
	  .at = FIELD(paths) },
	{ 0 },
};
#undef FIELD

struct report_device {
	const char *dev, *model, *serial, *firmware;
	uint64_t size_bytes, block_bytes, queues, depth;
};

#define FIELD(name) offsetof(struct report_device, name)
static const struct column device_columns[] = {
	{ "dev", "dev", CELL_TEXT, 7, "name of the device", .at = FIELD(dev) },
	{ "size_bytes", "size", CELL_BYTES, 5, "size of the device", .at = FIELD(size_bytes) },
	{ "block_bytes", "block", CELL_COUNT, 5, "logical block size", .at = FIELD(block_bytes) },
	{ "queues", "queues", CELL_COUNT, 6, "hardware queues", .at = FIELD(queues) },
	{ "depth", "depth", CELL_COUNT, 5, "requests per queue", .at = FIELD(depth) },
	{ "model", "model", CELL_TEXT, 5, "model", .at = FIELD(model) },
	{ "serial", "serial", CELL_TEXT, 6, "serial number", .at = FIELD(serial) },
	{ "firmware", "firmware", CELL_TEXT, 8, "firmware revision", .at = FIELD(firmware) },
	{ 0 },
};
#undef FIELD

const struct object report_whole_object = { "report", { whole_columns } };
const struct object report_device_object = { "device", { device_columns } };

static const char *report_text(const char *text)
{
	return text && *text ? text : NULL;
}

static void report_measure(const struct report_latency *latency, const struct session *s,
			   struct report_row *row)
{
	struct hist all = { 0 };

	for (size_t i = 0; i < latency->nr; i++)
		hist__merge(&all, &latency->groups[i]->hist);
	row->count = all.count;
	row->bytes = all.bytes;
	row->per_s = s->span_s > 0 ? (double)all.count / s->span_s : 0;
	row->mb_per_s = s->span_s > 0 ? (double)all.bytes / s->span_s / 1e6 : 0;
	row->p50_ns = all.count ? hist__percentile(&all, 5000) : CELL_NO_NUMBER;
	row->p99_ns = all.count ? hist__percentile(&all, 9900) : CELL_NO_NUMBER;
	row->max_ns = all.count ? all.max_ns : CELL_NO_NUMBER;
}

int report_whole__put(const struct report_whole *w, const struct session *s, FILE *out)
{
	const struct option_list *files = &s->options->file.read;
	struct report_row row = {
		.file = files->words[0],
		.files = files->nr,
		.kernel = session__about(s, CAPTURE_INFO_KERNEL),
		.machine = session__about(s, CAPTURE_INFO_MACHINE),
		.command = session__about(s, CAPTURE_INFO_COMMAND),
		.recorder = session__about(s, CAPTURE_INFO_VERSION),
		.wall_ns = session__wall_ns(s, s->start_ns),
		.from_s = s->elapsed_s - s->span_s,
		.seconds = s->span_s,
		.failed = w->latency->failed,
		.staged = w->staged,
		.fileless = w->tops->fileless,
		.processes = w->tops->processes.nr,
		.paths = w->tops->files.nr,
	};

	if (!row.wall_ns)
		row.wall_ns = CELL_NO_NUMBER;
	report_measure(w->latency, s, &row);
	return object__put(&report_whole_object, out, TABLE_JSON, &row);
}

int report_whole__put_devices(const struct report_whole *w, const struct session *s, FILE *out)
{
	const struct device_list *list = io_source__devices(s);
	char label[48];
	int err = 0;

	for (size_t i = 0; i < w->nr_seen && !err; i++) {
		const struct device *d = &list->devices[i];
		const struct report_device row = {
			.dev = device_list__label(list, (int)i, label, sizeof(label)),
			.size_bytes = d->size_bytes,
			.block_bytes = d->block_size,
			.queues = d->nr_queues,
			.depth = d->depth,
			.model = report_text(d->model),
			.serial = report_text(d->serial),
			.firmware = report_text(d->firmware),
		};

		if (w->seen[i])
			err = object__put(&report_device_object, out, TABLE_JSON, &row);
	}
	return err;
}
