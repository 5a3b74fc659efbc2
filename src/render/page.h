/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.h: a page for a browser: one HTML file with its style, its data and its scripts, which needs
 * no server and may not ask the network for anything: its policy forbids it, and runs no script but
 * ours, by hash. Data is JSON in blocks of its own, written as it comes: nothing is kept in memory.
 *
 *	struct page *page = page__begin(out, &parts);
 *	FILE *data = page__open_data(page, "rows");
 *	... JSON, or JSON lines as a column table prints them ...
 *	page__close_data(page);
 *	page__end(page);
 */
#ifndef IOSONAR_RENDER_PAGE_H
#define IOSONAR_RENDER_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* A file of src/pages, as it was when the program was built. */
struct page_source {
	const char *text;
	size_t len;
	const char *hash; /* "sha256-…", of a policy */
};

/* src/pages/report.js is page_source_report_js; the Makefile makes them. */
extern const struct page_source page_source_page_css, page_source_page_js;
extern const struct page_source page_source_diff_css, page_source_diff_js;
extern const struct page_source page_source_chart_js; /* for who draws */
extern const struct page_source page_source_report_css, page_source_report_js;
extern const struct page_source page_source_trace_css, page_source_trace_js,
	page_source_trace_model_js, page_source_trace_timeline_js, page_source_trace_ways_js;

/* No pages, but put into the program in the same way, and written without their first line, the
 * licence: what a flame graph has, what a completion script begins with. */
extern const struct page_source page_source_flame_css, page_source_flame_js;
extern const struct page_source page_source_completion_bash, page_source_completion_zsh;

enum { PAGE_MAX_SOURCES = 4 };

/* page.css and page.js come first by themselves; lists end with NULL. */
struct page_parts {
	const char *title; /* hostile */
	const struct page_source *styles[PAGE_MAX_SOURCES], *scripts[PAGE_MAX_SOURCES];
};

struct page;

/* Up to the body. NULL: no memory. Parts are kept by the caller. */
struct page *page__begin(FILE *out, const struct page_parts *parts);
/*
 * A block that page.js finds by its id. What is written is JSON whose texts may be hostile: no
 * text ends the block. One is open at a time. NULL and errno: it could not be made.
 */
FILE *page__open_data(struct page *page, const char *id);
void page__close_data(struct page *page);
/* The scripts, and the end. Frees the page; whether it was written is for the stream to say. */
void page__end(struct page *page);
/* Frees it without another byte: its stream may be gone. NULL is nothing. */
void page__abandon(struct page *page);

#endif
