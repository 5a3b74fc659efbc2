/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.h: a page for a browser: one HTML file with its style, data and scripts. It needs no server
 * and cannot use the network: its policy forbids that, and allows only our scripts, by hash. Data
 * is JSON in separate blocks, written as it arrives: nothing is kept in memory.
 *
 *	struct page *page = page__begin(out, &parts);
 *	FILE *data = page__open_data(page, "rows");
 *	... JSON, or JSON lines as a column table prints them ...
 *	page__close_data(page);
 *	page__end(page);
 */
#ifndef IOSONAR_RENDER_PAGE_H
#define IOSONAR_RENDER_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* A file of src/pages, as it was when the program was built. */
struct page_source {
	const char *text;
	size_t len;
	const char *hash; /* "sha256-…", for a policy */
};

/* src/pages/report.js is page_source_report_js; the Makefile makes them. */
extern const struct page_source page_source_page_css, page_source_page_js;
extern const struct page_source page_source_blame_css, page_source_blame_js;
extern const struct page_source page_source_diff_css, page_source_diff_js;
extern const struct page_source page_source_chart_js; /* for who draws */
extern const struct page_source page_source_report_css, page_source_report_js;
extern const struct page_source page_source_live_css, page_source_live_js,
	page_source_live_charts_js;
extern const struct page_source page_source_trace_css, page_source_trace_js,
	page_source_trace_model_js, page_source_trace_timeline_js, page_source_trace_ways_js;

/* Not pages, but embedded in the same way, and written without their first line, the licence:
 * parts of a flame graph, and the start of a completion script. */
extern const struct page_source page_source_flame_css, page_source_flame_js;
extern const struct page_source page_source_completion_bash, page_source_completion_fish,
	page_source_completion_zsh;

enum { PAGE_MAX_SOURCES = 4 };

/* page.css and page.js are added first; lists end with NULL. */
struct page_parts {
	const char *title; /* hostile */
	const struct page_source *styles[PAGE_MAX_SOURCES], *scripts[PAGE_MAX_SOURCES];
	bool connects; /* it may ask the server that it came from, and nobody else */
};

struct page;

/* Writes up to the body. NULL: out of memory. parts must outlive the page. */
struct page *page__begin(FILE *out, const struct page_parts *parts);
/*
 * A block that page.js finds by its id. The caller writes JSON; its texts may be hostile: no text
 * ends the block. One block at a time. NULL and errno on failure.
 */
FILE *page__open_data(struct page *page, const char *id);
void page__close_data(struct page *page);
/* Writes the scripts and the end. Frees the page; the caller checks the stream for write errors. */
void page__end(struct page *page);
/* Frees it without writing: the stream may be gone. NULL is allowed. */
void page__abandon(struct page *page);
/* What a page of these parts may do, for the header of an answer. */
void page__put_policy(FILE *out, const struct page_parts *parts);

#endif
