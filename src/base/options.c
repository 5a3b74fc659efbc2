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
#define INTERVAL_LEAST 1000000 /* 1 ms: reading the maps takes a good part of it */

#define FILTER(field) offsetof(struct filter_options, field)
#define RUN(field)    offsetof(struct run_options, field)
#define OUTPUT(field) offsetof(struct output_options, field)
#define FILES(field)  offsetof(struct file_options, field)

#define SIZE_LEAST 65536 /* of a part: a block of records takes about as much */

static const struct option_def filter_defs[] = {
	{ .name = "device",
	  .letter = 'd',
	  .kind = OPTION_LIST,
	  .offset = FILTER(devices),
	  .arg = "DEV",
	  .help = "this device: nvme0, nvme0n1, sda1, a path, a mount point, 259:0; repeatable",
	  .completes = "device" },
	{ .name = "op",
	  .kind = OPTION_LIST,
	  .offset = FILTER(ops),
	  .arg = "OP,...",
	  .help = "these operations: read,write,flush,..." },
	{ .name = "pid",
	  .letter = 'p',
	  .kind = OPTION_NUMBER,
	  .offset = FILTER(pid),
	  .arg = "PID",
	  .help = "sent by this process",
	  .min = 1,
	  .max = PID_LIMIT,
	  .completes = "pid" },
	{ .name = "comm",
	  .kind = OPTION_STRING,
	  .offset = FILTER(comm),
	  .arg = "NAME",
	  .help = "sent by a task of this name",
	  .max = COMM_LIMIT },
	{ .name = "cgroup",
	  .kind = OPTION_STRING,
	  .offset = FILTER(cgroup),
	  .arg = "PATH",
	  .help = "sent from this cgroup or one below it",
	  .completes = "file" },
	{ .name = "nsid",
	  .kind = OPTION_NUMBER,
	  .offset = FILTER(nsid),
	  .arg = "N",
	  .help = "NVMe namespace",
	  .min = 1,
	  .max = UINT32_MAX },
	{ .name = "qid",
	  .kind = OPTION_NUMBER,
	  .offset = FILTER(qid),
	  .arg = "N",
	  .help = "NVMe queue; 0 is the admin queue",
	  .max = UINT16_MAX },
	{ .name = "ctrl_id",
	  .kind = OPTION_NUMBER,
	  .offset = FILTER(ctrl_id),
	  .arg = "N",
	  .help = "NVMe controller: 1 is nvme1",
	  .max = INT32_MAX },
	{ .name = "min",
	  .kind = OPTION_DURATION,
	  .offset = FILTER(min_ns),
	  .arg = "DURATION",
	  .help = "took at least so long: 100us" },
	{ .name = "failed",
	  .kind = OPTION_FLAG,
	  .offset = FILTER(failed),
	  .help = "ended with an error" },
	{ 0 },
};

/* Of any event: who was running. */
#define NO_DASHES "clauses have no dashes; write it behind the event: EVENT by comm if 'pid == 1'"

static const struct option_def task_defs[] = {
	{ .name = "pid",
	  .letter = 'p',
	  .kind = OPTION_NUMBER,
	  .offset = FILTER(pid),
	  .arg = "PID",
	  .help = "while this process runs, with all its threads",
	  .min = 1,
	  .max = PID_LIMIT,
	  .completes = "pid" },
	{ .name = "children",
	  .kind = OPTION_FLAG,
	  .offset = FILTER(children),
	  .help = "with -p: and those that it starts, and so on" },
	{ .name = "cgroup",
	  .kind = OPTION_STRING,
	  .offset = FILTER(cgroup),
	  .arg = "PATH",
	  .help = "while a task of this cgroup or one below it runs",
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
		.help = "exit 0, not 3, when events were lost"                        \
	}
#define RUN_VERBOSE                                                                             \
	{                                                                                       \
		.name = "verbose", .letter = 'v', .kind = OPTION_COUNT, .offset = RUN(verbose), \
		.help = "say more on stderr; -vv: libbpf's words too"                           \
	}

static const struct option_def run_defs[] = {
	{ .name = "interval",
	  .letter = 'i',
	  .kind = OPTION_DURATION,
	  .offset = RUN(interval_ns),
	  .arg = "DURATION",
	  .help = "show what happened every so often (default 1s)",
	  .min = INTERVAL_LEAST },
	{ .name = "duration",
	  .letter = 't',
	  .kind = OPTION_DURATION,
	  .offset = RUN(duration_ns),
	  .arg = "DURATION",
	  .help = "end after so long: 500ms, 10s, 5m; else Ctrl-C ends it",
	  .min = 1 },
	{ .name = "count",
	  .letter = 'n',
	  .kind = OPTION_NUMBER,
	  .offset = RUN(count),
	  .arg = "N",
	  .help = "end after N intervals; trace, print, pair --each: N lines",
	  .min = 1 },
	RUN_ALLOW_LOSS,
	{ .name = "keep-privileges",
	  .kind = OPTION_FLAG,
	  .offset = RUN(keep_privileges),
	  .help = "for debugging: drop no capability and filter no system call" },
	RUN_VERBOSE,
	{ 0 },
};

/* Of what only reads captures: it ends with them. */
static const struct option_def whole_defs[] = { RUN_ALLOW_LOSS, RUN_VERBOSE, { 0 } };

/* In the order of enum output_format and enum color_when. */
static const char *const format_choices[] = { "text", "json", "csv", NULL };
static const char *const picture_choices[] = { "text", "json", "csv", "folded", "svg", NULL };
static const char *const call_choices[] = { "text", "json",   "csv",  "folded", "svg",
					    "dot",  "chrome", "html", NULL };
static const char *const line_choices[] = { "text", "json", "csv", "kernel", NULL };
static const char *const job_choices[] = { "text", "json", "csv", "fio", NULL };
static const char *const page_choices[] = { "html", "json", NULL };
static const char *const browser_choices[] = { "text", "json", "csv", "html", NULL };
static const char *const color_choices[] = { "auto", "always", "never", NULL };

/* Where it goes and how it looks, beside what it is. */
#define OUTPUT_FILE                                                                          \
	{                                                                                    \
		.name = "out", .kind = OPTION_STRING, .offset = OUTPUT(path), .arg = "FILE", \
		.help = "write there, not to stdout", .completes = "file"                    \
	}
#define OUTPUT_PLACE                                                                            \
	OUTPUT_FILE,                                                                            \
	{                                                                                       \
		.name = "color", .kind = OPTION_CHOICE, .offset = OUTPUT(color), .arg = "WHEN", \
		.help = "colors in text", .choices = color_choices                              \
	}

static const struct option_def output_defs[] = {
	{ .name = "format",
	  .letter = 'o',
	  .kind = OPTION_CHOICE,
	  .offset = OUTPUT(format),
	  .help = "text for people, JSON with one object per line, CSV",
	  .choices = format_choices },
	OUTPUT_PLACE,
	{ 0 },
};

static const struct option_def place_defs[] = { OUTPUT_FILE, { 0 } };

static const struct option_def picture_defs[] = {
	{ .name = "format",
	  .letter = 'o',
	  .kind = OPTION_CHOICE,
	  .offset = OUTPUT(format),
	  .help = "text for people, JSON, CSV, folded lines, a flame graph",
	  .choices = picture_choices },
	OUTPUT_PLACE,
	{ 0 },
};

static const struct option_def call_defs[] = {
	{ .name = "format",
	  .letter = 'o',
	  .kind = OPTION_CHOICE,
	  .offset = OUTPUT(format),
	  .help = "text for people, JSON, CSV, folded lines, a flame graph, Graphviz, Trace Event "
		  "JSON, a page",
	  .choices = call_choices },
	OUTPUT_PLACE,
	{ 0 },
};

static const struct option_def line_defs[] = {
	{ .name = "format",
	  .letter = 'o',
	  .kind = OPTION_CHOICE,
	  .offset = OUTPUT(format),
	  .help = "text for people, JSON, CSV, lines as the kernel logs them",
	  .choices = line_choices },
	OUTPUT_PLACE,
	{ 0 },
};

static const struct option_def job_defs[] = {
	{ .name = "format",
	  .letter = 'o',
	  .kind = OPTION_CHOICE,
	  .offset = OUTPUT(format),
	  .help = "text for people, JSON, CSV, a job for fio that makes such a load",
	  .choices = job_choices },
	OUTPUT_PLACE,
	{ 0 },
};

static const struct option_def page_defs[] = {
	{ .name = "format",
	  .letter = 'o',
	  .kind = OPTION_CHOICE,
	  .offset = OUTPUT(format),
	  .help = "a page for a browser, or its data as JSON with one object per line",
	  .choices = page_choices },
	{ .name = "out",
	  .kind = OPTION_STRING,
	  .offset = OUTPUT(path),
	  .arg = "FILE",
	  .help = "write there, not to stdout",
	  .completes = "file" },
	{ 0 },
};

static const struct option_def browser_defs[] = {
	{ .name = "format",
	  .letter = 'o',
	  .kind = OPTION_CHOICE,
	  .offset = OUTPUT(format),
	  .help = "text for people, JSON with one object per line, CSV, a page for a browser",
	  .choices = browser_choices },
	OUTPUT_PLACE,
	{ 0 },
};

static const struct option_def write_defs[] = {
	{ .name = "write",
	  .letter = 'w',
	  .kind = OPTION_STRING,
	  .offset = FILES(write),
	  .arg = "FILE",
	  .help = "keep every record in this file: a capture",
	  .not_with = "read",
	  .completes = "file" },
	{ .name = "mode",
	  .kind = OPTION_STRING,
	  .offset = FILES(mode),
	  .arg = "MODE",
	  .help = "permissions of the capture, octal: 0640 (default 0600)",
	  .not_with = "read" },
	{ .name = "zstd",
	  .kind = OPTION_FLAG,
	  .offset = FILES(zstd),
	  .help = "compress the capture with zstd: a tenth smaller, more CPU",
	  .not_with = "read" },
	{ 0 },
};

static const struct option_def keep_defs[] = {
	{ .name = "size",
	  .kind = OPTION_SIZE,
	  .offset = FILES(size_bytes),
	  .arg = "SIZE",
	  .help = "a part that is so large ends, FILE.1, FILE.2, ... follow; with --last: memory "
		  "it "
		  "may take (default 512Mi)",
	  .min = SIZE_LEAST },
	{ .name = "files",
	  .kind = OPTION_NUMBER,
	  .offset = FILES(files),
	  .arg = "N",
	  .help = "use N names in turn: the newest part replaces the oldest (default: all are "
		  "kept)",
	  .min = 1,
	  .max = 1000000 },
	{ .name = "last",
	  .kind = OPTION_DURATION,
	  .offset = FILES(last_ns),
	  .arg = "DURATION",
	  .help = "keep so much in memory, write it on SIGUSR1 or --when",
	  .min = 1000000 },
	{ 0 },
};

static const struct option_def read_defs[] = {
	{ .name = "read",
	  .letter = 'r',
	  .kind = OPTION_FILES,
	  .offset = FILES(read),
	  .arg = "FILE",
	  .help = "show this capture, not this machine; repeatable, several are merged by time",
	  .completes = "file" },
	{ .name = "from",
	  .kind = OPTION_DURATION,
	  .offset = FILES(from_ns),
	  .arg = "DURATION",
	  .help = "of a capture: from here on, since its start" },
	{ .name = "to",
	  .kind = OPTION_DURATION,
	  .offset = FILES(to_ns),
	  .arg = "DURATION",
	  .help = "of a capture: up to here",
	  .min = 1 },
	{ 0 },
};

static const struct option_def alias_defs[] = {
	{ .name = "anonymous",
	  .kind = OPTION_FLAG,
	  .offset = FILES(anonymous),
	  .help = "other names for tasks, files, cgroups, hosts and serial numbers" },
	{ .name = "key",
	  .kind = OPTION_STRING,
	  .offset = FILES(key),
	  .arg = "FILE",
	  .help = "with --anonymous: the same names for the same key (default: one of chance)",
	  .completes = "file" },
	{ 0 },
};

const struct option_group filter_group = { "Which I/O", filter_defs };
const struct option_group task_group = { "Which tasks", task_defs };
const struct option_group run_group = { "How long", run_defs };
const struct option_group whole_group = { "How it ends", whole_defs };
const struct option_group output_group = { "Output", output_defs };
const struct option_group picture_group = { "Output", picture_defs };
const struct option_group call_group = { "Output", call_defs };
const struct option_group line_group = { "Output", line_defs };
const struct option_group job_group = { "Output", job_defs };
const struct option_group page_group = { "Output", page_defs };
const struct option_group browser_group = { "Output", browser_defs };
const struct option_group place_group = { "Output", place_defs };
const struct option_group write_group = { "Keep a capture", write_defs };
const struct option_group keep_group = { "How it is kept", keep_defs };
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
		{ f->qid.given, "--qid" },    { f->ctrl_id.given, "--ctrl_id" },
		{ f->min_ns.given, "--min" }, { f->failed, "--failed" },
	};

	return options__first_given(filters, sizeof(filters) / sizeof(filters[0]));
}
