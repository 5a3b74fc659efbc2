/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.h: a trace of calls as a page for a browser (-o html): keeps calls as they end and objects
 * as they die, and writes everything at the end, each text once. src/pages/trace.js shows it;
 * page_model.c defines the format. Takes about 100 bytes a call.
 */
#ifndef IOSONAR_CALLS_PAGE_H
#define IOSONAR_CALLS_PAGE_H

#include <sys/utsname.h>
#include "calls/members.h"
#include "calls/source_tree.h"
#include "calls/trace.h"
#include "render/intern.h"
#include "session/session.h"

enum {
	TRACE_PAGE_MOST = 1000000, /* calls: a browser cannot handle many more */
	TRACE_PAGE_NONE = -1,
};

struct trace_row {
	uint64_t start_ns, duration_ns; /* duration: UINT64_MAX if it was not left */
	uint64_t number;		/* of the call */
	size_t args_at;			/* in args: one for each argument of the function */
	uint32_t function, cpu, depth;
	int32_t task, object, ret; /* texts; TRACE_PAGE_NONE */
	int32_t entered, left;	   /* snapshots; likewise */
};

struct trace_task {
	uint32_t pid, tid, comm; /* a text */
};

struct trace_life {
	uint64_t number;
	uint32_t object; /* a text */
	bool is_born, is_dead, is_whole, is_wanted;
};

/* The life that a call handles, at its entry and at its return; numbered from 1, 0: none. */
struct trace_about {
	uint32_t entered, left;
};

struct trace_page {
	/* given */
	const char *source_dir; /* --source; NULL: none */
	struct call_limits limits;
	const char *command; /* "class bio" */
	/* made */
	struct utsname here; /* this machine, read while that is still possible */
	uint64_t wall_ns;    /* start of the run, if it ran on this machine */
	struct session *session;
	struct call_trace *trace;
	struct trace_words in_words;
	struct source_text *source; /* by function; NULL: not requested */
	struct intern texts, tasks, snapshots;
	uint32_t *snapshot_texts; /* nr_shown - 1 for each */
	struct trace_row *rows;
	size_t nr, room;
	uint32_t *args;
	size_t nr_args, room_args;
	struct trace_life *lives;
	size_t nr_lives, room_lives;
	struct trace_about *about; /* by number of the call */
	size_t room_about, room_snapshots;
	uint64_t left_out;
	FILE *words; /* where values are turned into text */
	char *word;
	size_t word_len;
};

/* Call before attaching: it may take seconds. 0 or a negative errno, said. */
int trace_page__read_source(struct trace_page *page, const struct call_trace *trace);
int trace_page__start(struct trace_page *page, struct session *session, struct call_trace *trace);
int trace_page__tree(struct trace_page *page, const struct call *root);
/* is_wanted: the filters select it (-d, -p, --if). */
int trace_page__life(struct trace_page *page, const struct life *life, bool is_wanted);
/* counts: what became of all hits, or NULL if unknown. */
int trace_page__end(struct trace_page *page, const struct run_counts *counts);
void trace_page__free(struct trace_page *page); /* all zeros, too */

/* ---- page_model.c ---- */

/* -ENOMEM. */
int trace_model__write(const struct trace_page *page, const struct run_counts *counts, FILE *out);

#endif
