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

/* What follows CSV is the view's own, numbered in its group's order. */
enum output_format {
	OUTPUT_TEXT,
	OUTPUT_JSON,
	OUTPUT_CSV,
	OUTPUT_FOLDED,
	OUTPUT_SVG,
	OUTPUT_DOT,
	OUTPUT_CHROME,
	OUTPUT_TRACE, /* a page, of calls */
	OUTPUT_KERNEL = OUTPUT_FOLDED,
	OUTPUT_FIO = OUTPUT_FOLDED,
	OUTPUT_HTML = OUTPUT_FOLDED,
	OUTPUT_PAGE = OUTPUT_TEXT, /* what a command that makes pages has for people */
};
enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct output_options {
	int format; /* -o text|json|csv; folded|svg of stacks, dot|chrome of calls, fio of a pattern
		     */
	const char *path; /* --out FILE */
	int color;
};

/* Captures: what is kept of a run, and what is read instead of running. */
struct file_options {
	const char *write; /* -w FILE */
	const char *mode;  /* --mode 0640 */
	bool zstd;
	struct option_number size_bytes, files, last_ns; /* --size, --files, --last */
	struct option_list read;			 /* -r FILE */
	struct option_number from_ns, to_ns;		 /* since the start of the run */
	bool anonymous;
	const char *key; /* of --anonymous */
};

struct cmd;

struct options {
	struct filter_options filter;
	struct run_options run;
	struct output_options output;
	struct file_options file;
	const struct cmd *const *commands; /* all there are, as main has them: doctor judges each */
};

struct option_given {
	bool given;
	const char *name;
};
/* The name of the first that is given; NULL: none is. */
const char *options__first_given(const struct option_given *given, size_t nr);
/* Of --mode: what a capture's permissions are to be; those of its default if that is not given. */
mode_t options__mode(const struct file_options *file);
/* The same of filters that only I/O has. */
const char *options__io_filter(const struct options *options);

/* keep_group: how `record` keeps what -w names. */
extern const struct option_group filter_group, run_group, output_group;
extern const struct option_group whole_group;	/* instead of run_group, of captures only */
extern const struct option_group task_group;	/* instead of filter_group, of any event */
extern const struct option_group picture_group; /* output_group with pictures of stacks, */
extern const struct option_group call_group;	/* and of calls, */
extern const struct option_group line_group;	/* with the kernel's own lines */
extern const struct option_group job_group;	/* with a job for fio */
extern const struct option_group browser_group; /* with a page for a browser */
extern const struct option_group page_group;	/* instead of it, of pages; OUTPUT_PAGE is one */
extern const struct option_group place_group;	/* where it goes, and nothing else of them */
extern const struct option_group write_group, keep_group, read_group;
extern const struct option_group alias_group; /* other names for what is handed on */

#endif
