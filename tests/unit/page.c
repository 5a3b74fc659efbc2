/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * page.c: can a text break out of its place in a page? Hostile titles and data are written in one
 * piece and byte by byte, and the bytes between the tags are compared; the sources of the pages are
 * looked through for what would end their own element.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <strings.h>
#include "decode/column.h"
#include "render/page.h"
#include "tap.h"

static const char hostile[] = "</script><!--<b>&\xe2\x80\xa8\xe2\x80\xa9\xe2\x82\xac\xe2\x80\x94";
static const char tame[] =
	"\"\\u003c/"
	"script\\u003e\\u003c!--\\u003cb\\u003e\\u0026\\u2028\\u2029\xe2\x82\xac\xe2\x80\x94\"";

/* One block; each: bytes that reach the page at once. */
static char *page_of(const char *title, const char *text, size_t each)
{
	const struct page_parts parts = { .title = title };
	char *html = NULL;
	size_t size;
	FILE *out = open_memstream(&html, &size), *data;
	struct page *page = page__begin(out, &parts);

	data = page__open_data(page, "rows");
	setvbuf(data, NULL, each > 1 ? _IOFBF : _IONBF, each);
	text__put_json(data, text);
	page__close_data(page);
	page__end(page);
	fclose(out);
	return html;
}

/* What lies between two marks; frees html. */
static char *between(char *html, const char *from, const char *to)
{
	char *start = strstr(html, from), *end = start ? strstr(start + strlen(from), to) : NULL;
	char *text =
		end ? strndup(start + strlen(from), (size_t)(end - start) - strlen(from)) : NULL;

	free(html);
	return text;
}

static void test_data(void)
{
	const char *from = "<script type=\"application/json\" id=\"rows\">";
	const size_t each[] = { 4096, 1, 2, 3, 5, 7 };

	for (size_t i = 0; i < sizeof(each) / sizeof(*each); i++) {
		char *text = between(page_of("t", hostile, each[i]), from, "</script>"), what[64];

		snprintf(what, sizeof(what), "hostile data, %zu bytes at once", each[i]);
		is_str(text, tame, what);
		free(text);
	}
}

static void test_title(void)
{
	char *title = between(page_of("</title><script>'\"&", "", 4096), "<title>", "</title>");

	is_str(title, "&lt;/title&gt;&lt;script&gt;&#39;&quot;&amp;", "a hostile title");
	free(title);
}

/* The same text is in the page, and its hash is in the policy. */
static void test_policy(void)
{
	char *html = page_of("t", "", 4096);
	char *policy = between(strdup(html), "Security-Policy\" content=\"", "\"");
	char *script = between(strdup(html), "<script>", "</script>");
	char *style = between(html, "<style>", "</style>");

	ok(!strncmp(policy, "default-src 'none';", 19), "nothing is allowed that is not named");
	ok(!strstr(policy, "http") && !strstr(policy, "unsafe"), "no address, nothing unsafe");
	ok(strstr(policy, page_source_page_js.hash) && strstr(policy, page_source_page_css.hash),
	   "the policy names the hashes");
	ok(strlen(script) == page_source_page_js.len &&
		   !memcmp(script, page_source_page_js.text, strlen(script)),
	   "the script is whole");
	ok(strlen(style) == page_source_page_css.len, "the style is whole");
	free(policy);
	free(script);
	free(style);
}

int main(void)
{
	test_data();
	test_title();
	test_policy();
	return done_testing();
}
