/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * options.h: the options every view shares, and the structs they fill. An option means the same
 * in every command because there is one table for it, in options.c.
 */
#ifndef IOSONAR_OPTIONS_H
#define IOSONAR_OPTIONS_H

#include "option.h"

/* Which I/O: decided at submit, except min and failed, which need the outcome. */
struct filter_options {
	struct option_list devices; /* -d DEV */
	struct option_list ops;	    /* --op read,write */
	struct option_number pid;   /* -p PID */
	const char *comm;	    /* --comm NAME */
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

enum output_format { OUTPUT_TEXT, OUTPUT_JSON, OUTPUT_CSV, OUTPUT_FOLDED, OUTPUT_SVG };
enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct output_options {
	int format;	  /* -o text|json|csv; folded|svg where stacks are shown */
	const char *path; /* --out FILE */
	int color;
};

/* Captures: what is kept of a run, and what is read instead of running. */
struct file_options {
	const char *write; /* -w FILE */
	bool zstd;
	struct option_number size_bytes, files, last_ns; /* --size, --files, --last */
	struct option_list read;			 /* -r FILE */
	struct option_number from_ns, to_ns;		 /* since the start of the run */
};

struct options {
	struct filter_options filter;
	struct run_options run;
	struct output_options output;
	struct file_options file;
};

/* keep_group: how `record` keeps what -w names. */
extern const struct option_group filter_group, run_group, output_group;
extern const struct option_group picture_group; /* output_group with pictures of stacks */
extern const struct option_group write_group, keep_group, read_group;

#endif
