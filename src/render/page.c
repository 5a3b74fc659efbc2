/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.c: how is a page built so that no text in it can become markup or script? Titles are escaped
 * as HTML; in data every character that HTML might interpret is written as a JSON \u escape, which
 * is always valid: outside of strings JSON has none of these characters.
 */
#define _GNU_SOURCE 1 /* fopencookie */
#include "render/page.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_SEPARATOR = 3 }; /* bytes of U+2028 and U+2029 */

struct page {
	FILE *out;
	const struct page_parts *parts;
	FILE *data;
	char held[PAGE_SEPARATOR]; /* bytes that may form a separator with the next ones */
	size_t nr_held;
};

/* ---- the head ---- */

static void page_put_html(FILE *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '&': fputs("&amp;", out); break;
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '"': fputs("&quot;", out); break;
		case '\'': fputs("&#39;", out); break;
		default: fputc(*text, out);
		}
	}
}

static void page_put_hashes(FILE *out, const struct page_source *first,
			    const struct page_source *const *more)
{
	fprintf(out, " '%s'", first->hash);
	for (size_t i = 0; i < PAGE_MAX_SOURCES && more[i]; i++)
		fprintf(out, " '%s'", more[i]->hash);
}

void page__put_policy(FILE *out, const struct page_parts *parts)
{
	fputs("default-src 'none'; base-uri 'none'; form-action 'none'; script-src", out);
	page_put_hashes(out, &page_source_page_js, parts->scripts);
	fputs("; style-src", out);
	page_put_hashes(out, &page_source_page_css, parts->styles);
	if (parts->connects)
		fputs("; connect-src 'self'", out);
}

static void page_put_policy(FILE *out, const struct page_parts *parts)
{
	fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"", out);
	page__put_policy(out, parts);
	fputs("\">\n", out);
}

/* Only the text between the tags, because the hash covers exactly that. */
static void page_put_source(FILE *out, const char *tag, const struct page_source *source)
{
	fprintf(out, "<%s>", tag);
	fwrite(source->text, 1, source->len, out);
	fprintf(out, "</%s>\n", tag);
}

static void page_put_sources(FILE *out, const char *tag, const struct page_source *first,
			     const struct page_source *const *more)
{
	page_put_source(out, tag, first);
	for (size_t i = 0; i < PAGE_MAX_SOURCES && more[i]; i++)
		page_put_source(out, tag, more[i]);
}

struct page *page__begin(FILE *out, const struct page_parts *parts)
{
	struct page *page = calloc(1, sizeof(*page));

	if (!page)
		return NULL;
	page->out = out;
	page->parts = parts;
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
	page_put_policy(out, parts);
	fputs("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n"
	      "<meta name=\"generator\" content=\"iosonar " VERSION "\">\n<title>",
	      out);
	page_put_html(out, parts->title);
	fputs("</title>\n", out);
	page_put_sources(out, "style", &page_source_page_css, parts->styles);
	fputs("</head>\n<body>\n"
	      "<noscript><p>This page needs JavaScript, which is disabled in this "
	      "browser.</p></noscript>\n",
	      out);
	return page;
}

/* ---- data ---- */

static const char *page_escape(char c)
{
	switch (c) {
	case '<': return "\\u003c";
	case '>': return "\\u003e";
	case '&': return "\\u0026";
	}
	return NULL;
}

/* Do the held bytes and this byte begin E2 80 A8 or E2 80 A9? */
static int page_may_separate(const struct page *page, unsigned char c)
{
	static const unsigned char begin[] = { 0xe2, 0x80 };

	if (page->nr_held < sizeof(begin))
		return c == begin[page->nr_held];
	return c == 0xa8 || c == 0xa9;
}

static void page_release(struct page *page)
{
	fwrite(page->held, 1, page->nr_held, page->out);
	page->nr_held = 0;
}

static void page_put_byte(struct page *page, char c)
{
	const char *escape = page_escape(c);

	if (page->nr_held && !page_may_separate(page, (unsigned char)c))
		page_release(page);
	if (page_may_separate(page, (unsigned char)c)) {
		page->held[page->nr_held++] = c;
		if (page->nr_held < PAGE_SEPARATOR)
			return;
		page->nr_held = 0;
		escape = (unsigned char)c == 0xa8 ? "\\u2028" : "\\u2029";
	}
	if (escape)
		fputs(escape, page->out);
	else
		fputc(c, page->out);
}

/* Number of bytes that can be copied at once: usually most of them. */
static size_t page_plain(const char *bytes, size_t size)
{
	size_t len = 0;

	while (len < size && bytes[len] != '<' && bytes[len] != '>' && bytes[len] != '&' &&
	       bytes[len] != (char)0xe2)
		len++;
	return len;
}

static ssize_t page_write(void *cookie, const char *bytes, size_t size)
{
	struct page *page = cookie;
	size_t done = 0, plain;

	if (!page->out)
		return (ssize_t)size;
	while (done < size) {
		plain = page->nr_held ? 0 : page_plain(bytes + done, size - done);
		fwrite(bytes + done, 1, plain, page->out);
		done += plain;
		if (done < size)
			page_put_byte(page, bytes[done++]);
	}
	return ferror(page->out) ? 0 : (ssize_t)size;
}

FILE *page__open_data(struct page *page, const char *id)
{
	const cookie_io_functions_t functions = { .write = page_write };

	fputs("<script type=\"application/json\" id=\"", page->out);
	page_put_html(page->out, id);
	fputs("\">", page->out);
	page->data = fopencookie(page, "w", functions);
	return page->data;
}

void page__close_data(struct page *page)
{
	if (page->data)
		fclose(page->data);
	page->data = NULL;
	page_release(page);
	fputs("</script>\n", page->out);
}

void page__end(struct page *page)
{
	page_put_sources(page->out, "script", &page_source_page_js, page->parts->scripts);
	fputs("</body>\n</html>\n", page->out);
	free(page);
}

void page__abandon(struct page *page)
{
	if (!page)
		return;
	page->out = NULL;
	if (page->data)
		fclose(page->data);
	free(page);
}
