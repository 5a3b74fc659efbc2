/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.c: the tables of the options every view shares. What an option means is written here
 * once; a command that wants it names its group. Which devices, operations and cgroups exist is
 * not known here: the collector refuses a word that means nothing on this machine.
 */
#include "base/options.h"

#include <stdlib.h>

#define PID_LIMIT      4194304 /* the kernel's PID_MAX_LIMIT on 64-bit machines */
#define COMM_LIMIT     15      /* TASK_COMM_LEN without its NUL: a longer name could never match */
#define INTERVAL_LEAST 1000000 /* 1 ms: reading the maps takes a large part of it */

#define FILTER(field) offsetof(struct filter_options, field)
#define RUN(field)    offsetof(struct run_options, field)
#define FILES(field)  offsetof(struct file_options, field)

#define SIZE_LEAST 65536 /* of a part: a block of records is about as large */

#define FILTER_DEVICE                                                                            \
	{                                                                                        \
		.name = "device", .letter = 'd', .kind = OPTION_LIST, .offset = FILTER(devices), \
		.arg = "DEV",                                                                    \
		.help = "only this device: nvme0, nvme0n1, sda1, a path, a mount point or "      \
			"259:0; repeatable",                                                     \
		.completes = "device"                                                            \
	}

static const struct option_def filter_defs[] = {
	FILTER_DEVICE,
	{ .name = "op",
	  .kind = OPTION_LIST,
	  .offset = FILTER(ops),
	  .arg = "OP,...",
	  .help = "only these operations: read,write,flush,..." },
	{ .name = "pid",
	  .letter = 'p',
	  .kind = OPTION_NUMBER,
	  .offset = FILTER(pid),
	  .arg = "PID",
	  .help = "only I/O that this process submits",
	  .min = 1,
	  .max = PID_LIMIT,
	  .completes = "pid" },
	{ .name = "comm",
	  .kind = OPTION_STRING,
	  .offset = FILTER(comm),
	  .arg = "NAME",
	  .help = "only I/O that tasks of this name submit",
	  .max = COMM_LIMIT },
	{ .name = "cgroup",
	  .kind = OPTION_STRING,
	  .offset = FILTER(cgroup),
	  .arg = "PATH",
	  .help = "only I/O from this cgroup and the cgroups below it",
	  .completes = "file" },
	{ .name = "nsid",
	  .kind = OPTION_NUMBER,
	  .offset = FILTER(nsid),
	  .arg = "N",
	  .help = "only this NVMe namespace",
	  .min = 1,
	  .max = UINT32_MAX },
	{ .name = "qid",
	  .kind = OPTION_NUMBER,
	  .offset = FILTER(qid),
	  .arg = "N",
	  .help = "only this NVMe queue; 0 is the admin queue",
	  .max = UINT16_MAX },
	{ .name = "ctrl-id",
	  .alias = "ctrl_id", /* nvme_bpf's */
	  .kind = OPTION_NUMBER,
	  .offset = FILTER(ctrl_id),
	  .arg = "N",
	  .help = "only this NVMe controller; 1 is nvme1",
	  .max = INT32_MAX },
	{ .name = "min",
	  .kind = OPTION_DURATION,
	  .offset = FILTER(min_ns),
	  .arg = "DURATION",
	  .help = "only I/O that took at least this long, e.g. 100us" },
	{ .name = "failed",
	  .kind = OPTION_FLAG,
	  .offset = FILTER(failed),
	  .help = "only I/O that ended with an error" },
	{ 0 },
};

/* For a command that needs all I/O of a device. */
static const struct option_def device_defs[] = { FILTER_DEVICE, { 0 } };

/* For any event: the task that runs when it happens. */
#define NO_DASHES "clauses take no dashes; write them after the event: EVENT by comm if 'pid == 1'"

static const struct option_def task_defs[] = {
	{ .name = "pid",
	  .letter = 'p',
	  .kind = OPTION_NUMBER,
	  .offset = FILTER(pid),
	  .arg = "PID",
	  .help = "only events in this process, in all its threads",
	  .min = 1,
	  .max = PID_LIMIT,
	  .completes = "pid" },
	{ .name = "children",
	  .kind = OPTION_FLAG,
	  .offset = FILTER(children),
	  .help = "with -p: also in its children and their children" },
	{ .name = "follow",
	  .kind = OPTION_FLAG,
	  .offset = FILTER(follow),
	  .help = OPTION_FOLLOW_HELP,
	  .not_with = "pid" },
	{ .name = "cgroup",
	  .kind = OPTION_STRING,
	  .offset = FILTER(cgroup),
	  .arg = "PATH",
	  .help = "only events in tasks of this cgroup or a cgroup below it",
	  .completes = "file" },
	/* Clauses are words. */
	{ .name = "of", .kind = OPTION_STRING, .arg = "VALUE", .refuses = NO_DASHES },
	{ .name = "by", .kind = OPTION_STRING, .arg = "KEYS", .refuses = NO_DASHES },
	{ .name = "show", .kind = OPTION_STRING, .arg = "VALUES", .refuses = NO_DASHES },
	{ .name = "on", .kind = OPTION_STRING, .arg = "KEYS", .refuses = NO_DASHES },
	{ .name = "if", .kind = OPTION_STRING, .arg = "CONDITION", .refuses = NO_DASHES },
	{ 0 },
};

#define RUN_ALLOW_LOSS                                                                \
	{                                                                             \
		.name = "allow-loss", .kind = OPTION_FLAG, .offset = RUN(allow_loss), \
		.help = "exit 0 instead of 3 when events are lost"                    \
	}
#define RUN_DURATION                                                                     \
	{                                                                                \
		.name = "duration", .letter = 't', .kind = OPTION_DURATION,              \
		.offset = RUN(duration_ns), .arg = "DURATION",                           \
		.help = "stop after this long, e.g. 500ms, 10s, 5m, 1h (default: until " \
			"Ctrl-C)",                                                       \
		.min = 1                                                                 \
	}
#define RUN_KEEP_PRIVILEGES                                                                     \
	{                                                                                       \
		.name = "keep-privileges", .kind = OPTION_FLAG, .offset = RUN(keep_privileges), \
		.help = "for debugging: keep all capabilities, do not filter system calls"      \
	}
#define RUN_VERBOSE                                                                             \
	{                                                                                       \
		.name = "verbose", .letter = 'v', .kind = OPTION_COUNT, .offset = RUN(verbose), \
		.help = "print more on stderr; -vv: also libbpf's messages"                     \
	}

static const struct option_def run_defs[] = {
	{ .name = "interval",
	  .letter = 'i',
	  .kind = OPTION_DURATION,
	  .offset = RUN(interval_ns),
	  .arg = "DURATION",
	  .help = "print every DURATION (default 1s)",
	  .min = INTERVAL_LEAST },
	RUN_DURATION,
	{ .name = "count",
	  .letter = 'n',
	  .kind = OPTION_NUMBER,
	  .offset = RUN(count),
	  .arg = "N",
	  .help = "stop after N intervals; trace, print, pair --each: after N lines",
	  .min = 1 },
	RUN_ALLOW_LOSS,
	RUN_KEEP_PRIVILEGES,
	RUN_VERBOSE,
	{ 0 },
};

/* For commands that only read captures. */
static const struct option_def whole_defs[] = { RUN_ALLOW_LOSS, RUN_VERBOSE, { 0 } };
/* For a command that runs and prints nothing. */
static const struct option_def lasting_defs[] = {
	RUN_DURATION, RUN_ALLOW_LOSS, RUN_KEEP_PRIVILEGES, RUN_VERBOSE, { 0 }
};

const char *const output_words[] = {
	"text",	  "json", "csv",      "folded",	     "svg", "dot",	"chrome", "html",
	"kernel", "fio",  "blktrace", "openmetrics", "hdr", "perfetto", "matrix", NULL,
};
const char *const output_helps[] = {
	[OUTPUT_TEXT] = "for people",
	[OUTPUT_JSON] = "one object per line",
	[OUTPUT_CSV] = "with a header line",
	[OUTPUT_FOLDED] = "folded stacks",
	[OUTPUT_SVG] = "a flame graph",
	[OUTPUT_DOT] = "a graph for Graphviz",
	[OUTPUT_CHROME] = "Trace Event JSON",
	[OUTPUT_HTML] = "a page for a browser",
	[OUTPUT_KERNEL] = "lines as the kernel logs them",
	[OUTPUT_FIO] = "a job or log that fio replays",
	[OUTPUT_BLKTRACE] = "for blkparse and btt",
	[OUTPUT_OPENMETRICS] = "for Prometheus",
	[OUTPUT_HDR] = "HdrHistogram log",
	[OUTPUT_PERFETTO] = "for ui.perfetto.dev",
	[OUTPUT_MATRIX] = "victims down, culprits across",
};
const char *const color_words[] = { "auto", "always", "never", NULL }; /* enum color_when */

static const struct option_def write_defs[] = {
	{ .name = "write",
	  .letter = 'w',
	  .kind = OPTION_STRING,
	  .offset = FILES(write),
	  .arg = "FILE",
	  .help = "write every record to this file, a capture",
	  .not_with = "read",
	  .completes = "file" },
	{ .name = "mode",
	  .kind = OPTION_STRING,
	  .offset = FILES(mode),
	  .arg = "MODE",
	  .help = "permissions of the capture in octal, e.g. 0640 (default 0600)",
	  .not_with = "read" },
	{ .name = "host",
	  .kind = OPTION_STRING,
	  .offset = FILES(host),
	  .arg = "NAME",
	  .help = "name of the machine in the capture (default: its own)",
	  .not_with = "read" },
	{ .name = "zstd",
	  .kind = OPTION_FLAG,
	  .offset = FILES(zstd),
	  .help = "compress the capture with zstd: 10 % smaller, more CPU",
	  .not_with = "read" },
	{ 0 },
};

static const struct option_def keep_defs[] = {
	{ .name = "ring",
	  .kind = OPTION_STRING,
	  .offset = FILES(ring),
	  .arg = "DIR",
	  .help = "instead of -w: write files to this directory, go on after a restart, and remove "
		  "the oldest",
	  .not_with = "write,last",
	  .completes = "directory" },
	{ .name = "size",
	  .kind = OPTION_SIZE,
	  .offset = FILES(size_bytes),
	  .arg = "SIZE",
	  .help = "start a new part (FILE.1, FILE.2, ...) at this size; with --ring: size of all "
		  "files; with --last: memory to use (default 512Mi)",
	  .min = SIZE_LEAST },
	{ .name = "files",
	  .kind = OPTION_NUMBER,
	  .offset = FILES(files),
	  .arg = "N",
	  .help = "keep the N newest parts (default: all; with --ring: 20)",
	  .min = 1,
	  .max = 1000000 },
	{ .name = "last",
	  .kind = OPTION_DURATION,
	  .offset = FILES(last_ns),
	  .arg = "DURATION",
	  .help = "keep the last DURATION in memory; write it on SIGUSR1 or --when",
	  .min = 1000000 },
	{ 0 },
};

static const struct option_def read_defs[] = {
	{ .name = "read",
	  .letter = 'r',
	  .kind = OPTION_FILES,
	  .offset = FILES(read),
	  .arg = "FILE",
	  .help = "read this capture instead of this machine; repeatable, merged by time",
	  .completes = "file" },
	{ .name = "from",
	  .kind = OPTION_DURATION,
	  .offset = FILES(from_ns),
	  .arg = "DURATION",
	  .help = "start this long after the start of the capture" },
	{ .name = "to",
	  .kind = OPTION_DURATION,
	  .offset = FILES(to_ns),
	  .arg = "DURATION",
	  .help = "stop this long after the start of the capture",
	  .min = 1 },
	{ .name = "jobs",
	  .letter = 'j',
	  .kind = OPTION_NUMBER,
	  .offset = FILES(jobs),
	  .arg = "N",
	  .help = "read the capture with N processes (default: one per CPU, at most 8)",
	  .min = 1,
	  .max = 8 },
	{ 0 },
};

static const struct option_def alias_defs[] = {
	{ .name = "anonymous",
	  .kind = OPTION_FLAG,
	  .offset = FILES(anonymous),
	  .help = "replace names of tasks, files, cgroups, hosts and serial numbers" },
	{ .name = "key",
	  .kind = OPTION_STRING,
	  .offset = FILES(key),
	  .arg = "FILE",
	  .help = "with --anonymous: the same key gives the same names (default: a random key)",
	  .completes = "file" },
	{ 0 },
};

const struct option_group filter_group = { "Which I/O", filter_defs };
const struct option_group device_group = { "Which I/O", device_defs };
const struct option_group task_group = { "Which tasks", task_defs };
const struct option_group run_group = { "Run", run_defs };
const struct option_group whole_group = { "Run", whole_defs };
const struct option_group lasting_group = { "Run", lasting_defs };
const struct option_group write_group = { "Write a capture", write_defs };
const struct option_group keep_group = { "Parts and memory", keep_defs };
const struct option_group read_group = { "Read a capture", read_defs };
const struct option_group alias_group = { "Hide names", alias_defs };

mode_t options__mode(const struct file_options *file)
{
	unsigned long mode;
	char *end;

	if (!file->mode)
		return 0600;
	mode = strtoul(file->mode, &end, 8);
	return *file->mode < '0' || *end || mode > 0777 ? 0 : (mode_t)mode;
}

const char *options__first_given(const struct option_given *given, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (given[i].given)
			return given[i].name;
	return NULL;
}

const char *options__io_filter(const struct options *options)
{
	const struct filter_options *f = &options->filter;
	const struct option_given filters[] = {
		{ f->devices.nr, "-d" },      { f->ops.nr, "--op" },
		{ f->comm, "--comm" },	      { f->nsid.given, "--nsid" },
		{ f->qid.given, "--qid" },    { f->ctrl_id.given, "--ctrl-id" },
		{ f->min_ns.given, "--min" }, { f->failed, "--failed" },
	};

	return options__first_given(filters, sizeof(filters) / sizeof(filters[0]));
}
