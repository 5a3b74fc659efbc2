/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/live_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "decode/column.h"
#include "render/page.h"

struct live_about {
	const char *host, *kernel, *version;
};

static const struct column about_columns[] = {
	{ "host", "host", CELL_TEXT, 0, "name of this machine",
	  .at = offsetof(struct live_about, host) },
	{ "kernel", "kernel", CELL_TEXT, 0, "its kernel",
	  .at = offsetof(struct live_about, kernel) },
	{ "version", "version", CELL_TEXT, 0, "of iosonar",
	  .at = offsetof(struct live_about, version) },
	{ 0 },
};
static const struct object live_about_object = { "about", { about_columns } };

static int live_page_put(FILE *out, const struct page_parts *parts, const struct utsname *host)
{
	const struct live_about about = { host->nodename, host->release, VERSION };
	struct page *page = page__begin(out, parts);
	FILE *data = page ? page__open_data(page, "about") : NULL;
	int err = data ? object__put(&live_about_object, data, TABLE_JSON, &about) : -ENOMEM;

	if (err) {
		page__abandon(page);
		return err;
	}
	page__close_data(page);
	page__end(page);
	return 0;
}

static int live_page_put_policy(char **policy, const struct page_parts *parts)
{
	size_t len = 0;
	FILE *out = open_memstream(policy, &len);

	if (!out)
		return -ENOMEM;
	page__put_policy(out, parts);
	fputs("; frame-ancestors 'none'", out);
	return fclose(out) ? -ENOMEM : 0;
}

int live_page__make(struct http_page *made)
{
	struct utsname host = { 0 };
	char title[sizeof(host.nodename) + 16];
	struct page_parts parts = {
		.title = title,
		.styles = { &page_source_report_css, &page_source_live_css },
		.scripts = { &page_source_chart_js, &page_source_live_charts_js,
			     &page_source_live_js },
		.connects = true,
	};
	FILE *out = open_memstream(&made->text, &made->len);
	int err, policy_err;

	if (!out)
		return -ENOMEM;
	if (uname(&host))
		strcpy(host.nodename, "?");
	snprintf(title, sizeof(title), "iosonar: %s", host.nodename);
	err = live_page_put(out, &parts, &host);
	if (fclose(out))
		err = -ENOMEM;
	policy_err = live_page_put_policy(&made->policy, &parts);
	return err ?: policy_err;
}

void live_page__free(struct http_page *page)
{
	free(page->text);
	free(page->policy);
	*page = (struct http_page){ NULL, NULL, 0 };
}
