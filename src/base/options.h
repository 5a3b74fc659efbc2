/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.h: the options every view shares, and the structs they fill. An option means the same
 * in every command because there is one table for it, in options.c.
 */
#ifndef IOSONAR_BASE_OPTIONS_H
#define IOSONAR_BASE_OPTIONS_H

#include <sys/types.h>
#include "base/option.h"

/* Which I/O: decided at submit, except min and failed, which need the outcome. */
struct filter_options {
	struct option_list devices; /* -d DEV */
	struct option_list ops;	    /* --op read,write */
	struct option_number pid;   /* -p PID */
	const char *comm;	    /* --comm NAME */
	bool children;		    /* --children */
	bool follow;		    /* --follow */
	const char *cgroup;	    /* --cgroup PATH */
	struct option_number nsid, qid, ctrl_id;
	struct option_number min_ns; /* --min 100us */
	bool failed;		     /* --failed */
};

/* How long and how often. */
struct run_options {
	struct option_number interval_ns; /* -i 1s */
	struct option_number duration_ns; /* -t 10s */
	struct option_number count;	  /* -n N */
	bool allow_loss;
	bool keep_privileges;
	int verbose;
};

/* Every format a command may print; each command's OUTPUT_IN says which it knows. */
enum output_format {
	OUTPUT_TEXT,
	OUTPUT_JSON,
	OUTPUT_CSV,
	OUTPUT_FOLDED,
	OUTPUT_SVG,
	OUTPUT_DOT,
	OUTPUT_CHROME,
	OUTPUT_HTML,
	OUTPUT_KERNEL,
	OUTPUT_FIO,
	OUTPUT_BLKTRACE,
	OUTPUT_OPENMETRICS,
	OUTPUT_HDR,
	OUTPUT_PERFETTO,
	OUTPUT_MATRIX,
};
#define OUTPUT_BIT(format) (1u << (format))
#define OUTPUT_TABLES	   (OUTPUT_BIT(OUTPUT_TEXT) | OUTPUT_BIT(OUTPUT_JSON) | OUTPUT_BIT(OUTPUT_CSV))
#define OUTPUT_FLAMES	   (OUTPUT_TABLES | OUTPUT_BIT(OUTPUT_FOLDED) | OUTPUT_BIT(OUTPUT_SVG))
#define OUTPUT_CALLS                                                          \
	(OUTPUT_FLAMES | OUTPUT_BIT(OUTPUT_DOT) | OUTPUT_BIT(OUTPUT_CHROME) | \
	 OUTPUT_BIT(OUTPUT_HTML))
enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct output_options {
	int format;	  /* -o: enum output_format */
	const char *path; /* --out FILE */
	int color;
	bool wall; /* --wall */
};

/* Captures: what a run writes, and what is read instead of running. */
struct file_options {
	const char *write; /* -w FILE */
	const char *ring;  /* --ring DIR */
	const char *host;  /* --host NAME */
	const char *mode;  /* --mode 0640 */
	bool zstd;
	struct option_number size_bytes, files, last_ns; /* --size, --files, --last */
	struct option_list read;			 /* -r FILE */
	struct option_number from_ns, to_ns;		 /* since the start of the run */
	struct option_number jobs;			 /* -j: processes that read a capture */
	bool anonymous;
	const char *key; /* of --anonymous */
};

struct cmd;

struct options {
	struct filter_options filter;
	struct run_options run;
	struct output_options output;
	struct file_options file;
	const struct cmd *const *commands; /* all commands, as in main: doctor judges each */
};

struct option_given {
	bool given;
	const char *name;
};
/* The name of the first option that is given; NULL: none is. */
const char *options__first_given(const struct option_given *given, size_t nr);
/* The permissions of a capture: those of --mode, or the default. */
mode_t options__mode(const struct file_options *file);
/* The first given filter that only I/O has; NULL: none is. */
const char *options__io_filter(const struct options *options);

extern const struct option_group filter_group, run_group;
extern const struct option_group whole_group;	/* instead of run_group, for captures only */
extern const struct option_group lasting_group; /* likewise, for a run without intervals */
extern const struct option_group device_group;	/* instead of filter_group: devices alone */
extern const struct option_group task_group;	/* instead of filter_group, for any event */
extern const struct option_group write_group, read_group;
extern const struct option_group keep_group;  /* how `record` keeps what -w names */
extern const struct option_group alias_group; /* other names, for captures that are passed on */

/* --follow, which stacks has without the rest of task_group. */
#define OPTION_FOLLOW_HELP "only events in COMMAND, its children and their children"

/* One table of formats, in the order of enum output_format; NULL ends it. */
extern const char *const output_words[], *const output_helps[];
extern const char *const color_words[];

/* The output options of a command that knows these formats; OUTPUT_FILE_IN: without --color. */
#define OUTPUT_FORMAT(formats)                                                              \
	{                                                                                   \
		.name = "format", .letter = 'o', .kind = OPTION_CHOICE,                     \
		.offset = offsetof(struct output_options, format), .help = "output format", \
		.choices = output_words, .choice_helps = output_helps, .offered = (formats) \
	}
#define OUTPUT_FILE                                                             \
	{                                                                       \
		.name = "out", .kind = OPTION_STRING,                           \
		.offset = offsetof(struct output_options, path), .arg = "FILE", \
		.help = "write to FILE instead of stdout", .completes = "file"  \
	}
#define OUTPUT_COLOR                                                             \
	{                                                                        \
		.name = "color", .kind = OPTION_CHOICE,                          \
		.offset = offsetof(struct output_options, color), .arg = "WHEN", \
		.help = "use colors in text", .choices = color_words             \
	}
#define OUTPUT_WALL                                                                     \
	{                                                                               \
		.name = "wall", .kind = OPTION_FLAG,                                    \
		.offset = offsetof(struct output_options, wall),                        \
		.help = "print the wall clock time instead of the time since the start" \
	}
#define OUTPUT_GROUP(...)                        \
	(&(const struct option_group){ "Output", \
				       (const struct option_def[]){ __VA_ARGS__, { 0 } } })
#define OUTPUT_IN(formats) OUTPUT_GROUP(OUTPUT_FORMAT(formats), OUTPUT_FILE, OUTPUT_COLOR)
/* Of a command whose lines begin with a time: with --wall. */
#define OUTPUT_TIMED_IN(formats) \
	OUTPUT_GROUP(OUTPUT_FORMAT(formats), OUTPUT_FILE, OUTPUT_COLOR, OUTPUT_WALL)
#define OUTPUT_FILE_IN(formats) OUTPUT_GROUP(OUTPUT_FORMAT(formats), OUTPUT_FILE)

#endif
