/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/latency_rows.h"

#include "decode/op.h"
#include "session/host_source.h"
#include "session/io_source.h"
#include "view/cgroup_groups.h"

#define FIELD(name) offsetof(struct latency_row, name)

const struct column latency_span_columns[] = {
	{ "span", "span", CELL_TEXT, 0, "interval, cumulative, or total for the whole run",
	  .at = FIELD(span), .not_in_text = true },
	{ "time_s", "time", CELL_SECONDS, 5, "time of the end of the span, since the start",
	  .at = FIELD(time_s) },
	{ 0 },
};

/* The tags of a row, in the order of enum breakdown_by. */
const struct column latency_ctrl_columns[] = {
	{ "host", "host", CELL_TEXT, 5, "machine, of captures", .at = FIELD(host) },
	{ "ctrl", "ctrl", CELL_TEXT, 5, "NVMe controller", .at = FIELD(ctrl) },
	{ "nsid", "ns", CELL_NSID, 3, "namespace id", .at = FIELD(nsid) },
	{ 0 },
};

const struct column latency_op_columns[] = {
	{ "dev", "dev", CELL_TEXT, 7,
	  "disk, or controller for admin commands; #2 is the second device of that name",
	  .at = FIELD(dev) },
	{ "op", "op", CELL_TEXT, 8, "operation", .at = FIELD(op) },
	{ 0 },
};

const struct column latency_more_columns[] = {
	{ "size_class", "up to", CELL_TEXT, 5, "size, rounded up to a power of two",
	  .at = FIELD(size_class) },
	{ "qid", "qid", CELL_COUNT, 3,
	  "NVMe queue id (0: admin), or hardware queue of another disk", .at = FIELD(queue) },
	{ "cpu", "cpu", CELL_COUNT, 3, "CPU that issued the commands", .at = FIELD(cpu) },
	{ "pid", "pid", CELL_COUNT, 7, "process that submitted the commands", .at = FIELD(pid) },
	{ "comm", "comm", CELL_TEXT, 15, "name of the task that submitted the commands",
	  .at = FIELD(comm) },
	{ "cgroup", "cgroup", CELL_TEXT, 10, "cgroup of the task that submitted the commands",
	  .at = FIELD(cgroup) },
	{ "unit", "unit", CELL_TEXT, 20, "unit of systemd that the cgroup belongs to; null: none",
	  .at = FIELD(unit) },
	{ "container", "container", CELL_TEXT, 12,
	  "container that the cgroup belongs to: 12 digits of its id; null: none",
	  .at = FIELD(container) },
	{ "file", "file", CELL_TEXT, 20, "path of the file, or what it is instead, e.g. [device]",
	  .at = FIELD(file) },
	{ "path", "path", CELL_TEXT, 9, "path of a multipath disk; null for other disks",
	  .at = FIELD(path) },
	{ 0 },
};

/* What was measured; `about` is in front of what is estimated if not all commands were timed. */
#define MEASURED(about)                                                                               \
	{ "count", "count", CELL_COUNT, 7, "commands", .at = FIELD(count) }, { "iops",                \
									       "IO/s",                \
									       CELL_RATE,             \
									       5,                     \
									       "commands per second", \
									       .at = FIELD(per_s),    \
									       .drop = 7 },           \
		{ "mb_per_s", "MB/s", CELL_MBPS, 5, "10^6 bytes per second", .at = FIELD(mb_per_s),   \
		  .drop = 6 },                                                                        \
		{ "size_bytes",                                                                       \
		  "size",                                                                             \
		  CELL_BYTES,                                                                         \
		  5,                                                                                  \
		  "mean size of a command",                                                           \
		  .at = FIELD(size_bytes),                                                            \
		  .drop = 4 },                                                                        \
		{ "p50_ns",	    about "p50",	 CELL_DURATION, 6,                            \
		  "median latency", .at = FIELD(p50_ns), .drop = 9 },                                 \
		{ "p90_ns",                                                                           \
		  about "p90",                                                                        \
		  CELL_DURATION,                                                                      \
		  6,                                                                                  \
		  "90th percentile of latency",                                                       \
		  .at = FIELD(p90_ns),                                                                \
		  .drop = 1 },                                                                        \
		{ "p99_ns",	      about "p99", CELL_DURATION, 6, "99th percentile of latency",    \
		  .at = FIELD(p99_ns) },                                                              \
		{ "p99_9_ns",                                                                         \
		  about "p99.9",                                                                      \
		  CELL_DURATION,                                                                      \
		  6,                                                                                  \
		  "99.9th percentile of latency",                                                     \
		  .at = FIELD(p999_ns),                                                               \
		  .drop = 5 },                                                                        \
		{ "p99_99_ns",                                                                        \
		  about "p99.99",                                                                     \
		  CELL_DURATION,                                                                      \
		  6,                                                                                  \
		  "99.99th percentile of latency",                                                    \
		  .at = FIELD(p9999_ns),                                                              \
		  .drop = 2 },                                                                        \
		{ "max_ns",                                                                           \
		  "max",                                                                              \
		  CELL_DURATION,                                                                      \
		  6,                                                                                  \
		  "maximum latency, exact; with --budget, of those timed",                            \
		  .at = FIELD(max_ns),                                                                \
		  .drop = 8 },                                                                        \
	{                                                                                             \
		"mean_ns", about "mean", CELL_DURATION, 6,                                            \
			"mean latency, exact; with --budget, estimated", .at = FIELD(mean_ns),        \
									 .drop = 3                    \
	}

const struct column latency_measured_columns[] = { MEASURED(""), { 0 } };
static const struct column estimated_columns[] = { MEASURED("~"), { 0 } };

static const struct column path_columns[] = {
	{ "share_percent", "share", CELL_PERCENT, 6,
	  "percentage of the disk's commands; with --by path", .at = FIELD(share) },
	{ "failovers", "failovers", CELL_COUNT, 9,
	  "commands that failed on this path in the whole run; with --by path",
	  .at = FIELD(failovers) },
	{ 0 },
};

static struct cell latency_get_error(const void *at)
{
	const struct latency_row *row = at;
	struct hist_interval in = row->p99_interval;

	if (!in.to_ns || !row->p99_ns)
		return (struct cell){ 0 };
	return (struct cell){ CELL_PERCENT, .real = 50.0 * (double)(in.to_ns - in.from_ns) /
						    (double)row->p99_ns };
}

/* A limit that is not known is 0. */
#define INTERVAL_GETS(field)                                                             \
	static struct cell latency_get_to_##field(const void *row)                       \
	{                                                                                \
		uint64_t ns = ((const struct latency_row *)row)->field##_interval.to_ns; \
                                                                                         \
		return (struct cell){ .kind = ns ? CELL_DURATION : CELL_NONE, .n = ns }; \
	}
INTERVAL_GETS(p50)
INTERVAL_GETS(p99)

#define INTERVAL(key, field)                                                                    \
	{ key "_from_ns",                                                                       \
	  key "_from",                                                                          \
	  CELL_DURATION,                                                                        \
	  6,                                                                                    \
	  "with a chance of 95 %, this percentile of all commands is not below; with --budget", \
	  .at = FIELD(field##_interval.from_ns),                                                \
	  .not_in_text = true },                                                                \
	{                                                                                       \
		key "_to_ns", key "_to", CELL_DURATION, 6,                                      \
			"and not above; null: too few were timed to say; with --budget",        \
			.get = latency_get_to_##field, .not_in_text = true                      \
	}

/* With --budget. */
static const struct column sampling_columns[] = {
	{ "timed", "timed", CELL_COUNT, 7, "commands whose latency was measured; with --budget",
	  .at = FIELD(timed) },
	{ "one_of", "one_of", CELL_COUNT, 6,
	  "at the end, one of this many reads and writes is timed; with --budget",
	  .at = FIELD(one_of), .not_in_text = true },
	{ "p99_error_percent", "+-p99", CELL_PERCENT, 6,
	  "half the width of p99's interval, of p99; with --budget; null: not known",
	  .get = latency_get_error },
	INTERVAL("p50", p50),
	INTERVAL("p99", p99),
	{ 0 },
};

/* A bucket of a row's histogram, as JSON has it. */
static const struct column bucket_columns[] = {
	{ "from_ns", "from", CELL_DURATION, 6, "start of the bucket", .at = FIELD(from_ns) },
	{ "to_ns", "to", CELL_DURATION, 6, "start of the next bucket; 0: no upper limit",
	  .at = FIELD(to_ns) },
	{ "count", "count", CELL_COUNT, 7, "commands", .at = FIELD(count) },
	{ "cumulative_percent", "cumulative", CELL_PERCENT, 6,
	  "percentage of commands up to the end of the bucket", .at = FIELD(cumulative_percent) },
	{ 0 },
};

const struct object latency_rows = { "latency",
				     { latency_span_columns, latency_ctrl_columns,
				       latency_op_columns, latency_more_columns,
				       latency_measured_columns, path_columns, sampling_columns } };
const struct object latency_rows_of_some = { "latency",
					     { latency_span_columns, latency_ctrl_columns,
					       latency_op_columns, latency_more_columns,
					       estimated_columns, sampling_columns } };
const struct object latency_rows_by_op = {
	"latency", { latency_span_columns, latency_op_columns, latency_measured_columns }
};
const struct object latency_some_by_op = { "latency",
					   { latency_span_columns, latency_op_columns,
					     latency_measured_columns, sampling_columns } };
const struct object latency_buckets = { "bucket",
					{ latency_span_columns, latency_ctrl_columns,
					  latency_op_columns, latency_more_columns,
					  bucket_columns } };

static const size_t by_at[NR_BY] = {
	[BY_CTRL] = FIELD(ctrl),       [BY_NS] = FIELD(nsid),
	[BY_DEV] = FIELD(dev),	       [BY_OP] = FIELD(op),
	[BY_SIZE] = FIELD(size_class), [BY_QUEUE] = FIELD(queue),
	[BY_CPU] = FIELD(cpu),	       [BY_PID] = FIELD(pid),
	[BY_COMM] = FIELD(comm),       [BY_CGROUP] = FIELD(cgroup),
	[BY_FILE] = FIELD(file),       [BY_PATH] = FIELD(path),
	[BY_UNIT] = FIELD(unit),       [BY_CONTAINER] = FIELD(container),
	[BY_HOST] = FIELD(host),
};

/* The enum breakdown_by that a column shows; NR_BY: none. */
static int column_by(const struct column *column)
{
	int by = 0;

	while (by < NR_BY && column->at != by_at[by])
		by++;
	return by;
}

bool latency_column__is_asked(const struct column *column, uint32_t mask)
{
	if (column_by(column) < NR_BY)
		return mask >> column_by(column) & 1;
	if (column->at == FIELD(share) || column->at == FIELD(failovers))
		return mask >> BY_PATH & 1;
	return true;
}

bool latency_column__is_sampling(const struct column *column)
{
	return column >= sampling_columns &&
	       column < sampling_columns + sizeof(sampling_columns) / sizeof(sampling_columns[0]);
}

bool latency_column__is_percentile(const struct column *column)
{
	return column->at >= FIELD(p50_ns) && column->at <= FIELD(p9999_ns);
}

/* ---- labels ---- */

void latency_row__label(struct latency_row *row, const struct session *s, const struct io_tags *t,
			uint32_t mask)
{
	char size[16];

	snprintf(row->ctrl_text, sizeof(row->ctrl_text), "nvme%d", t->ctrl - 1);
	snprintf(row->comm_text, sizeof(row->comm_text), "%s", t->comm);
	snprintf(row->size_text, sizeof(row->size_text), "%s",
		 t->size_class ? text__bytes(size, sizeof(size), 1ULL << (t->size_class - 1))
			       : "none");
	row->host = host_source__label(s, t->host);
	row->ctrl = t->ctrl ? row->ctrl_text : NULL;
	row->size_class = row->size_text;
	row->comm = row->comm_text;
	row->nsid = t->nsid ? t->nsid : CELL_NO_NUMBER;
	row->queue = t->other ? CELL_NO_NUMBER : t->queue;
	row->cpu = t->other ? CELL_NO_NUMBER : t->cpu;
	row->pid = t->other ? CELL_NO_NUMBER : t->pid;
	row->dev = t->other ? "other"
			    : device_list__label(io_source__devices(s), t->device - 1,
						 row->dev_text, sizeof(row->dev_text));
	row->op = t->other ? "other"
			   : op__word(t->kind, t->op, io_source__op_names(s), row->op_text,
				      sizeof(row->op_text));
	if (mask >> BY_CGROUP & 1)
		row->cgroup = session__cgroup_path(s, t->cgroup, row->cgroup_text,
						   sizeof(row->cgroup_text));
	if (mask >> BY_UNIT & 1)
		row->unit = t->other ? "other"
				     : cgroup_groups__unit(s, t->unit, row->unit_text,
							   sizeof(row->unit_text));
	if (mask >> BY_CONTAINER & 1)
		row->container =
			t->other ? "other"
				 : cgroup_groups__container(s, t->container, row->container_text,
							    sizeof(row->container_text));
	if (mask >> BY_FILE & 1)
		row->file = t->other ? "other"
				     : session__file(s, t->inode,
						     io_file_place(t->file_dev, t->file_nth));
	if (mask >> BY_PATH & 1)
		row->path = t->path > 0 && t->path != t->device
				    ? device__shown(&io_source__devices(s)->devices[t->path - 1])
				    : NULL; /* a disk with only one path has no path name */
}

void latency_row__measure(struct latency_row *row, const struct hist *h, double seconds)
{
	row->count = h->count;
	row->per_s = seconds > 0 ? (double)h->count / seconds : 0;
	row->mb_per_s = seconds > 0 ? (double)h->bytes / seconds / 1e6 : 0;
	row->size_bytes = h->count ? h->bytes / h->count : 0;
	row->max_ns = h->max_ns;
	row->mean_ns = hist__mean_ns(h);
	row->timed = h->count - h->untimed;
	row->one_of = h->one_of ? h->one_of : 1;
}

void latency_row__measure_percentiles(struct latency_row *row, const struct hist *h)
{
	row->p50_ns = hist__percentile(h, 5000);
	row->p90_ns = hist__percentile(h, 9000);
	row->p99_ns = hist__percentile(h, 9900);
	row->p999_ns = hist__percentile(h, 9990);
	row->p9999_ns = hist__percentile(h, 9999);
}

void latency_row__measure_intervals(struct latency_row *row, const struct hist *h)
{
	row->p50_interval = hist__percentile_interval(h, 5000);
	row->p99_interval = hist__percentile_interval(h, 9900);
}

static bool title_has(const void *mask, const struct column *column)
{
	return column_by(column) < NR_BY && *(const uint32_t *)mask >> column_by(column) & 1;
}

const char *latency_row__title(const struct latency_row *row, uint32_t mask, char *buf, size_t size)
{
	const struct column *columns[OBJECT_COLUMNS];
	size_t nr = object__pick(&latency_rows, TABLE_TEXT, title_has, &mask, columns), len = 0;

	buf[0] = 0;
	for (size_t i = 0; i < nr && len < size; i++) {
		struct cell cell = column__cell(columns[i], row);

		if (cell.kind == CELL_TEXT)
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? " " : "",
						cell.text);
		else if (cell.kind == CELL_NSID && cell.n == CELL_ALL_NAMESPACES)
			len += (size_t)snprintf(buf + len, size - len, "%sall namespaces",
						len ? " " : "");
		else if (cell.kind == CELL_COUNT || cell.kind == CELL_NSID)
			len += (size_t)snprintf(buf + len, size - len, "%s%s %llu", len ? " " : "",
						columns[i]->header, (unsigned long long)cell.n);
	}
	return buf;
}
