/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency.c: how long do my I/Os take? Percentiles every interval and histograms at the end, per
 * device and operation or whatever --by says, counted in the kernel by two short programs per I/O.
 * It cannot see the time before a command is built (queue, scheduler), nor bio-based devices.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "analyse/breakdown.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "decode/column.h"
#include "decode/op.h"
#include "render/chart.h"
#include "session/condition.h"
#include "session/io_source.h"
#include "session/session.h"

enum {
	LATENCY_DEFAULT_BY = 1 << BY_DEV | 1 << BY_OP,
	LATENCY_RANGES = 24,  /* rows of a histogram in text */
	LATENCY_HEADING = 20, /* intervals between two headings */
};

/*
 *   time dev     op      count  IO/s  MB/s  size    p50    p90    p99  p99.9 p99.99    max   mean
 *    1.0 nvme0n1 read     5312  5.3k  21.8 4.0Ki  163us  190us  280us  511us  912us 1.02ms  170us
 */
struct latency_row {
	const char *span; /* "interval" or "total" */
	double time_s;
	const char *ctrl, *dev, *op, *size_class, *comm, *cgroup, *file, *path;
	uint64_t nsid, queue, cpu, pid;
	uint64_t count;
	double per_s, mb_per_s;
	uint64_t size_bytes;
	uint64_t p50_ns, p90_ns, p99_ns, p999_ns, p9999_ns, max_ns, mean_ns;
	double share;
	uint64_t failovers;
	uint64_t from_ns, to_ns; /* of a bucket, with its count */
	double cumulative_percent;
};

struct latency {
	/* options */
	struct option_list by;
	bool hist, cumulative, heat;
	struct option_number lat_min_us, lat_shift;
	const char *fail_if;
	/* state */
	struct breakdown breakdown;
	struct hist scratch; /* the distribution at hand */
	struct hist_range ranges[HIST_CELLS];
	struct table *table, *buckets;
	const struct column *shown[OBJECT_COLUMNS], *bucket_shown[OBJECT_COLUMNS];
	const struct column *asked[OBJECT_COLUMNS]; /* by --fail-if */
	struct condition *condition;
	struct chart_style style;
	unsigned int intervals, shown_rows;
	int err;
	/* labels of the row at hand */
	char ctrl_label[16], dev_label[48], op_label[16], size_label[16], cgroup_label[256];
	char comm_label[24];
};

static const char *const by_words[] = { "ctrl", "ns",	"dev",	  "op",	  "size", "queue", "cpu",
					"pid",	"comm", "cgroup", "file", "path", NULL };

static const struct option_def latency_options[] = {
	{ "by", 0, OPTION_LIST, offsetof(struct latency, by), NULL,
	  "one row per these (default dev,op); pid, comm, cgroup: of the task that submitted",
	  .choices = by_words },
	{ "hist", 0, OPTION_FLAG, offsetof(struct latency, hist), NULL,
	  "the histogram every interval, not only at the end", .not_with = "heat" },
	{ "cumulative", 0, OPTION_FLAG, offsetof(struct latency, cumulative), NULL,
	  "count from the start, not from the last interval" },
	{ "heat", 0, OPTION_FLAG, offsetof(struct latency, heat), NULL,
	  "latency over time as a heat map, one row an interval",
	  .not_with = "lat_min_us,lat_shift,cumulative" },
	{ "lat_min_us", 0, OPTION_NUMBER, offsetof(struct latency, lat_min_us), "US",
	  "zoom: fine histogram buckets from here on (default 0)", .max = 1000000000 },
	{ "lat_shift", 0, OPTION_NUMBER, offsetof(struct latency, lat_shift), "N",
	  "zoom: the first bucket is 2^N us wide (default 0)", .max = 32 },
	{ "fail-if", 0, OPTION_STRING, offsetof(struct latency, fail_if), "EXPR",
	  "exit 5 when a row makes it true: 'p99 > 500us && op == read'" },
	{ 0 },
};

static const struct option_group latency_group = { "What is shown", latency_options };

#define FIELD(name) offsetof(struct latency_row, name)

/* What a row is about. The column of enum breakdown_by number i is i + LATENCY_BY. */
enum { LATENCY_BY = 2 };
static const struct column tag_columns[] = {
	{ "span", "span", CELL_TEXT, 0, "interval, cumulative, or total for the whole run",
	  .at = FIELD(span) },
	{ "time_s", "time", CELL_SECONDS, 5, "end of the span, since the start",
	  .at = FIELD(time_s) },
	{ "ctrl", "ctrl", CELL_TEXT, 5, "NVMe controller", .at = FIELD(ctrl) },
	{ "nsid", "ns", CELL_COUNT, 3, "namespace id", .at = FIELD(nsid) },
	{ "dev", "dev", CELL_TEXT, 7,
	  "disk, or controller for admin commands; #2 is the second of that name",
	  .at = FIELD(dev) },
	{ "op", "op", CELL_TEXT, 8, "operation", .at = FIELD(op) },
	{ "size_class", "up to", CELL_TEXT, 5, "size, rounded up to a power of two",
	  .at = FIELD(size_class) },
	{ "queue", "queue", CELL_COUNT, 5,
	  "NVMe queue id (0: admin), or hardware queue of another disk", .at = FIELD(queue) },
	{ "cpu", "cpu", CELL_COUNT, 3, "CPU that issued", .at = FIELD(cpu) },
	{ "pid", "pid", CELL_COUNT, 7, "process that submitted", .at = FIELD(pid) },
	{ "comm", "comm", CELL_TEXT, 15, "its task's name", .at = FIELD(comm) },
	{ "cgroup", "cgroup", CELL_TEXT, 10, "its cgroup", .at = FIELD(cgroup) },
	{ "file", "file", CELL_TEXT, 20, "path, or what it is if it is no file",
	  .at = FIELD(file) },
	{ "path", "path", CELL_TEXT, 9, "path of a multipath disk; null of others",
	  .at = FIELD(path) },
	{ 0 },
};

/* What was measured. */
static const struct column latency_columns[] = {
	{ "count", "count", CELL_COUNT, 7, "commands", .at = FIELD(count) },
	{ "iops", "IO/s", CELL_RATE, 5, "commands per second", .at = FIELD(per_s) },
	{ "mb_per_s", "MB/s", CELL_MBPS, 5, "10^6 bytes per second", .at = FIELD(mb_per_s) },
	{ "size_bytes", "size", CELL_BYTES, 5, "mean size of a command", .at = FIELD(size_bytes) },
	{ "p50_ns", "p50", CELL_DURATION, 6, "median latency", .at = FIELD(p50_ns) },
	{ "p90_ns", "p90", CELL_DURATION, 6, "90 % took less", .at = FIELD(p90_ns) },
	{ "p99_ns", "p99", CELL_DURATION, 6, "99 % took less", .at = FIELD(p99_ns) },
	{ "p99_9_ns", "p99.9", CELL_DURATION, 6, "99.9 % took less", .at = FIELD(p999_ns) },
	{ "p99_99_ns", "p99.99", CELL_DURATION, 6, "99.99 % took less", .at = FIELD(p9999_ns) },
	{ "max_ns", "max", CELL_DURATION, 6, "the longest, exact", .at = FIELD(max_ns) },
	{ "mean_ns", "mean", CELL_DURATION, 6, "mean latency, exact", .at = FIELD(mean_ns) },
	{ "share_percent", "share", CELL_PERCENT, 6, "of the disk's commands; with --by path",
	  .at = FIELD(share) },
	{ "failovers", "failovers", CELL_COUNT, 9,
	  "commands that failed with this path in the whole run; with --by path",
	  .at = FIELD(failovers) },
	{ 0 },
};

/* A bucket of a row's histogram, as JSON has it. */
static const struct column bucket_columns[] = {
	{ "from_ns", "from", CELL_DURATION, 6, "smallest latency of the bucket",
	  .at = FIELD(from_ns) },
	{ "to_ns", "to", CELL_DURATION, 6, "where the next one begins; 0: it has no end",
	  .at = FIELD(to_ns) },
	{ "count", "count", CELL_COUNT, 7, "commands", .at = FIELD(count) },
	{ "cumulative_percent", "cumulative", CELL_PERCENT, 6, "commands up to here",
	  .at = FIELD(cumulative_percent) },
	{ 0 },
};

static const struct object latency_rows = { "latency", { tag_columns, latency_columns } };
static const struct object latency_buckets = { "hist", { tag_columns, bucket_columns } };
static const struct object *const latency_objects[] = { &latency_rows, &latency_buckets,
							&session_ledger, NULL };

static int latency_run(void *state, const struct options *options, char **argv);

static const struct option_group *const latency_groups[] = {
	&filter_group, &run_group, &output_group, &write_group, &read_group, &alias_group, NULL
};
const struct cmd cmd_latency = {
	.name = "latency",
	.group = "I/O",
	.brief = "how long do they take? Percentiles and histograms by device, operation, process",
	.synopsis = "[options] [-- COMMAND...]",
	.groups = latency_groups,
	.own = &latency_group,
	.view_size = sizeof(struct latency),
	.objects = latency_objects,
	.run = latency_run,
	.needs = NEED_IO | NEED_FILES,
};

/* ---- what is shown ---- */

static uint32_t latency_by_mask(const struct latency *l)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < l->by.nr; i++)
		for (int by = 0; by < NR_BY; by++)
			if (!strcmp(l->by.words[i], by_words[by]))
				mask |= 1u << by;
	if (mask & 1u << BY_NS)
		mask |= 1u << BY_CTRL; /* a namespace id means nothing without its controller */
	if (mask & 1u << BY_PATH)
		mask |= 1u << BY_DEV; /* nor a path without its disk */
	return mask ? mask : LATENCY_DEFAULT_BY;
}

static bool latency_zooms(const struct latency *l)
{
	return l->lat_min_us.given || l->lat_shift.given;
}

/* Nothing has a column that --by did not ask for, nor percentiles under the zoom. */
static bool latency_has(const struct latency *l, size_t i, const struct column *column)
{
	if (i >= LATENCY_BY && i < LATENCY_BY + NR_BY)
		return l->breakdown.mask >> (i - LATENCY_BY) & 1;
	if (column->at == FIELD(share) || column->at == FIELD(failovers))
		return l->breakdown.mask >> BY_PATH & 1;
	return !latency_zooms(l) || column->at < FIELD(p50_ns) || column->at > FIELD(p9999_ns);
}

/* Text leaves out the span, which its headings tell. */
static size_t latency_pick(const struct latency *l, enum table_format format,
			   const struct object *object, const struct column **shown)
{
	const struct column *all[OBJECT_COLUMNS];
	size_t nr = 0, nr_all = object__columns(object, all);

	for (size_t i = format == TABLE_TEXT; i < nr_all; i++)
		if (latency_has(l, i, all[i]))
			shown[nr++] = all[i];
	return nr;
}

static struct table *latency_make_table(const struct latency *l, const struct session *s,
					const struct object *object, const struct column **shown)
{
	size_t nr = latency_pick(l, s->format, object, shown);

	return table__new(s->out, s->format, object->type, shown, nr);
}

static int latency_make_tables(struct latency *l, struct session *s)
{
	l->table = latency_make_table(l, s, &latency_rows, l->shown);
	l->buckets = latency_make_table(l, s, &latency_buckets, l->bucket_shown);
	return l->table && l->buckets ? 0 : log_err(-ENOMEM, "out of memory");
}

static struct io_wants latency_wants(void *state, const struct options *options)
{
	struct latency *l = state;
	uint32_t mask = l->breakdown.mask;

	return (struct io_wants){
		.filter = &options->filter,
		.by_size = mask >> BY_SIZE & 1,
		.by_queue = mask >> BY_QUEUE & 1,
		.by_cpu = mask >> BY_CPU & 1,
		.by_pid = mask >> BY_PID & 1,
		.by_comm = mask >> BY_COMM & 1,
		.by_cgroup = mask >> BY_CGROUP & 1,
		.by_file = mask >> BY_FILE & 1,
		.by_path = mask >> BY_PATH & 1,
		/* Rows do not tell how a command ended: records of those in trouble do. */
		.records = mask >> BY_PATH & 1,
		.rows = mask >> BY_PATH & 1,
		.only_troubled = mask >> BY_PATH & 1 && !options->file.write,
		.zoom = latency_zooms(l),
		.zoom_min_us = l->lat_min_us.value,
		.zoom_shift = (uint32_t)l->lat_shift.value,
	};
}

/* ---- labels ---- */

/* A disk with one path only has none that could be named. */
static const char *latency_path_label(const struct session *s, const struct io_tags *t)
{
	return t->path > 0 && t->path != t->device
		       ? io_source__devices(s)->devices[t->path - 1].name
		       : NULL;
}

static void latency_label(struct latency *l, const struct session *s, const struct io_tags *t,
			  struct latency_row *row)
{
	char size[16];

	snprintf(l->ctrl_label, sizeof(l->ctrl_label), "nvme%d", t->ctrl - 1);
	snprintf(l->comm_label, sizeof(l->comm_label), "%s", t->comm);
	snprintf(l->size_label, sizeof(l->size_label), "%s",
		 t->size_class ? text__bytes(size, sizeof(size), 1ULL << (t->size_class - 1))
			       : "none");
	row->ctrl = t->ctrl ? l->ctrl_label : NULL;
	row->size_class = l->size_label;
	row->comm = l->comm_label;
	row->nsid = t->nsid ? t->nsid : CELL_NO_NUMBER;
	row->queue = t->other ? CELL_NO_NUMBER : t->queue;
	row->cpu = t->other ? CELL_NO_NUMBER : t->cpu;
	row->pid = t->other ? CELL_NO_NUMBER : t->pid;
	row->dev = t->other ? "other"
			    : device_list__label(io_source__devices(s), t->device - 1, l->dev_label,
						 sizeof(l->dev_label));
	row->op = t->other ? "other"
			   : op__word(t->kind, t->op, io_source__op_names(s), l->op_label,
				      sizeof(l->op_label));
	if (l->breakdown.mask >> BY_CGROUP & 1)
		row->cgroup = session__cgroup_path(s, t->cgroup, l->cgroup_label,
						   sizeof(l->cgroup_label));
	if (l->breakdown.mask >> BY_FILE & 1)
		row->file = t->other ? "other"
				     : session__file(s, t->inode,
						     io_file_place(t->file_dev, t->file_nth));
	if (l->breakdown.mask >> BY_PATH & 1)
		row->path = latency_path_label(s, t);
}

/* Of the distribution in scratch. */
static void latency_measure(const struct latency *l, double seconds, struct latency_row *row)
{
	const struct hist *h = &l->scratch;

	row->count = h->count;
	row->per_s = seconds > 0 ? (double)h->count / seconds : 0;
	row->mb_per_s = seconds > 0 ? (double)h->bytes / seconds / 1e6 : 0;
	row->size_bytes = h->count ? h->bytes / h->count : 0;
	row->max_ns = h->max_ns;
	row->mean_ns = hist__mean_ns(h);
	if (latency_zooms(l))
		return;
	row->p50_ns = hist__percentile(h, 5000);
	row->p90_ns = hist__percentile(h, 9000);
	row->p99_ns = hist__percentile(h, 9900);
	row->p999_ns = hist__percentile(h, 9990);
	row->p9999_ns = hist__percentile(h, 9999);
}

/* ---- --fail-if ---- */

/* Every column that is printed, and no other: a comparison with what is not there would be a lie.
 */
static int latency_parse_condition(struct latency *l)
{
	size_t nr = latency_pick(l, TABLE_TEXT, &latency_rows, l->asked);

	return condition__parse("--fail-if", l->fail_if, l->asked, nr, &l->condition);
}

/* "nvme0n1 read": the row's tags in the order of its columns. */
static const char *latency_title(const struct latency *l, const struct latency_row *row, char *buf,
				 size_t size)
{
	size_t len = 0;

	buf[0] = 0;
	for (int by = 0; by < NR_BY && len < size; by++) {
		const struct column *column = &tag_columns[LATENCY_BY + by];
		struct cell cell = column__cell(column, row);

		if (!(l->breakdown.mask >> by & 1))
			continue;
		if (cell.kind == CELL_TEXT)
			len += (size_t)snprintf(buf + len, size - len, "%s%s", len ? " " : "",
						cell.text);
		else if (cell.kind == CELL_COUNT)
			len += (size_t)snprintf(buf + len, size - len, "%s%s %llu", len ? " " : "",
						column->header, (unsigned long long)cell.n);
	}
	return buf;
}

static void latency_check(struct latency *l, struct session *s, const struct latency_row *row)
{
	char title[512];

	if (!l->condition || !row->count || !condition__is_true(l->condition, row))
		return;
	if (!s->came_true)
		log_warn("--fail-if '%s' came true: %s, %s up to %.1f s", l->fail_if,
			 latency_title(l, row, title, sizeof(title)), row->span, row->time_s);
	s->came_true = true;
}

/* ---- one interval, or the whole run ---- */

static void latency_take_part(void *arg, const struct io_tags *tags, const struct hist *part)
{
	struct latency *l = arg;

	if (breakdown__add(&l->breakdown, tags, part))
		l->err = -ENOMEM;
}

static int latency_read(struct latency *l, struct session *s)
{
	breakdown__begin(&l->breakdown);
	io_source__read(s, latency_take_part, l);
	return l->err ? log_err(l->err, "out of memory") : 0;
}

/* As a chart for people; in JSON as one object a bucket, every bucket as it was counted. */
static int latency_ranges(struct latency *l, enum table_format format)
{
	if (latency_zooms(l))
		return hist__zoom_ranges(l->scratch.slots, l->lat_min_us.value,
					 (uint32_t)l->lat_shift.value, l->ranges);
	return hist__ranges(&l->scratch, l->ranges,
			    format == TABLE_TEXT ? LATENCY_RANGES : HIST_CELLS);
}

static void latency_show_hist(struct latency *l, struct session *s, struct latency_row *row)
{
	int nr = latency_ranges(l, s->format);
	char title[512];

	if (s->format == TABLE_TEXT) {
		fputc('\n', s->out);
		text__put_terminal(s->out, latency_title(l, row, title, sizeof(title)));
		fputc('\n', s->out);
		chart__histogram(s->out, l->style, l->ranges, nr);
	}
	for (int i = 0; i < nr && s->format == TABLE_JSON; i++) {
		if (!l->ranges[i].count)
			continue;
		row->from_ns = l->ranges[i].from_ns;
		row->to_ns = l->ranges[i].to_ns;
		row->count = l->ranges[i].count;
		row->cumulative_percent = l->ranges[i].cumulative_percent;
		table__row(l->buckets, row);
	}
}

static uint64_t latency_count(const struct breakdown_row *row, bool whole)
{
	return whole ? row->total.count : row->total.count - row->before.count;
}

/* Of all commands of its disk in this span, and what its path failed with in all. */
static void latency_measure_path(const struct latency *l, const struct session *s,
				 const struct breakdown_row *from, bool whole,
				 struct latency_row *row)
{
	uint64_t all = 0;

	for (size_t i = 0; i < l->breakdown.nr; i++)
		if (l->breakdown.rows[i]->tags.device == from->tags.device)
			all += latency_count(l->breakdown.rows[i], whole);
	row->share = all ? 100.0 * (double)row->count / (double)all : 0;
	row->failovers = io_source__failovers(s, from->tags.path - 1);
}

/* What a pass over the rows shows: the last interval or everything, as a line or as a histogram. */
struct latency_pass {
	const char *span;
	bool whole, hist, quiet; /* quiet: only --fail-if looks at it */
};

static void latency_show_row(struct latency *l, struct session *s, const struct breakdown_row *from,
			     const struct latency_pass *pass)
{
	struct latency_row row = { .span = pass->span, .time_s = s->elapsed_s };

	if (pass->whole)
		l->scratch = from->total;
	else
		breakdown_row__interval(from, &l->scratch);
	if (!l->scratch.count)
		return;
	if (!latency_zooms(l))
		hist__mend_max(&l->scratch);
	latency_label(l, s, &from->tags, &row);
	latency_measure(l, pass->whole ? s->span_s : s->interval_s, &row);
	if (l->breakdown.mask >> BY_PATH & 1)
		latency_measure_path(l, s, from, pass->whole, &row);
	if (pass->hist) {
		latency_show_hist(l, s, &row);
		return;
	}
	if (!pass->quiet)
		table__row(l->table, &row);
	latency_check(l, s, &row);
	l->shown_rows++;
}

static int latency_show(struct latency *l, struct session *s, const struct latency_pass *pass)
{
	struct breakdown *b = &l->breakdown;
	struct breakdown_row **sorted = malloc((b->nr + 1) * sizeof(*sorted));

	if (!sorted)
		return log_err(-ENOMEM, "out of memory");
	for (size_t i = 0; i < b->nr; i++)
		sorted[i] = b->rows[i];
	qsort(sorted, b->nr, sizeof(*sorted), breakdown_row__compare);
	for (size_t i = 0; i < b->nr; i++)
		latency_show_row(l, s, sorted[i], pass);
	free(sorted);
	return 0;
}

static int latency_show_heat(struct latency *l, struct session *s)
{
	struct hist interval;

	memset(&l->scratch, 0, sizeof(l->scratch));
	for (size_t i = 0; i < l->breakdown.nr; i++) {
		breakdown_row__interval(l->breakdown.rows[i], &interval);
		hist__merge(&l->scratch, &interval);
	}
	if (l->intervals % LATENCY_HEADING == 0)
		chart__heat_heading(s->out, l->style);
	chart__heat_row(s->out, l->style, s->elapsed_s, &l->scratch);
	return 0;
}

static int latency_show_interval(struct latency *l, struct session *s)
{
	struct latency_pass pass = { .span = l->cumulative ? "cumulative" : "interval",
				     .whole = l->cumulative,
				     .quiet = l->heat };
	int err;

	if (l->heat) {
		err = latency_show(l, s, &pass);
		return err ?: latency_show_heat(l, s);
	}
	if (l->intervals % LATENCY_HEADING == 0)
		table__heading_again(l->table);
	l->shown_rows = 0;
	err = latency_show(l, s, &pass);
	if (!l->shown_rows)
		session__status(s, "no I/O on these devices in the last interval");
	pass.hist = true;
	return err ?: l->hist ? latency_show(l, s, &pass) : 0;
}

static int latency_on_tick(void *state, struct session *s)
{
	struct latency *l = state;
	int err = latency_read(l, s);

	err = err ?: latency_show_interval(l, s);
	l->intervals++;
	breakdown__mark(&l->breakdown);
	return err;
}

/* What the rows hold, for the ledger: a second count of the same commands. */
static uint64_t latency_counted(const struct latency *l)
{
	uint64_t counted = 0;

	for (size_t i = 0; i < l->breakdown.nr; i++)
		counted += l->breakdown.rows[i]->total.count;
	return counted;
}

static int latency_on_end(void *state, struct session *s)
{
	struct latency *l = state;
	const struct latency_pass total = { .span = "total", .whole = true };
	const struct latency_pass hist = { .span = "total", .whole = true, .hist = true };
	int err = latency_read(l, s);

	io_source__take_ledger(s, latency_counted(l));
	if (s->format == TABLE_TEXT && l->breakdown.nr)
		fprintf(s->out, "\nthe whole run, %.1f s:\n", s->span_s);
	table__heading_again(l->table);
	err = err ?: latency_show(l, s, &total);
	err = err ?: latency_show(l, s, &hist);
	return err;
}

static int latency_on_start(void *state, struct session *s)
{
	struct latency *l = state;

	l->style = chart__style_of(s->out, s->options->output.color);
	if (io_source__sees_nvme(s))
		log_note("NVMe commands: from nvme_setup_cmd to nvme_complete_rq%s",
			 io_source__sees_block(s) ? "; other disks: from block_rq_issue to "
						    "block_rq_complete"
						  : "");
	else
		log_note("requests: from block_rq_issue to block_rq_complete");
	return latency_make_tables(l, s);
}

static const struct session_view latency_view = {
	.wants = latency_wants,
	.on_start = latency_on_start,
	.on_tick = latency_on_tick,
	.on_end = latency_on_end,
};

static int latency_run(void *state, const struct options *options, char **argv)
{
	struct latency *l = state;
	int err;

	breakdown__init(&l->breakdown, latency_by_mask(l));
	err = latency_parse_condition(l);
	if (!err && l->heat && options->output.format != OUTPUT_TEXT)
		err = log_err(-EINVAL, "--heat is a picture: it needs -o text");
	if (!err && l->hist && options->output.format == OUTPUT_CSV)
		err = log_err(-EINVAL, "--hist is a second table: it needs -o text or json");
	err = err ?: session__run(&latency_view, l, options, argv);
	breakdown__free(&l->breakdown);
	table__free(l->table);
	table__free(l->buckets);
	condition__free(l->condition);
	return err;
}
