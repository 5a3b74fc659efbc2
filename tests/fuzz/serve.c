/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * serve.c: can a request, or the name of a device, break what `serve` answers? A libFuzzer target.
 * Lines of the input are what libmicrohttpd would pass on: method, path, version, Host, Accept;
 * then an address for --listen, labels, a query, the name of an event, Accept-Encoding,
 * Sec-Fetch-Site, and a length if there is a body; then paths of cgroups, links to logs, a task and
 * one more header. Only a Host of ours gets the metrics, no request of another site's page and none
 * with a body, and a label is never more than a label. The same request goes through serve/http.c
 * and libmicrohttpd, and gets a page of a small machine that has these names.
 */
#define _GNU_SOURCE 1 /* strcasestr, asprintf */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "decode/cgroup_names.h"
#include "serve/accept.h"
#include "serve/answer.h"
#include "serve/listen.h"
#include "serve/events.h"
#include "serve/metrics.h"
#include "serve/query.h"
#include "serve_http.h"
#include "serve_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	LINE_METHOD,
	LINE_PATH,
	LINE_VERSION,
	LINE_HOST,
	LINE_ACCEPT,
	LINE_LISTEN,
	LINE_LABEL,
	LINE_OTHER_LABEL,
	LINE_QUERY,
	LINE_EVENT,
	LINE_ENCODING,
	LINE_SITE, /* empty: there is none */
	LINE_BODY, /* likewise */
	LINE_CGROUPS,
	LINE_LINKS,
	LINE_COMM,
	LINE_HEADER, /* whole */
	NR_LINES
};

static const char own_name[] = "store1.example.org";
static const char *const own_names[] = { own_name };

/* A second opinion, as simple as can be: the name is ours, and only digits follow. */
static bool is_ours(const char *host)
{
	static const char *const ours[] = { "localhost", own_name };
	size_t len = strcspn(host, ":");

	if (*host == '[' || !strncmp(host, "127.", 4))
		return true; /* an address is not a name that somebody else resolves */
	for (size_t i = 0; i < 2; i++)
		if (len == strlen(ours[i]) && !strncasecmp(host, ours[i], len))
			return strspn(host + len, ":0123456789") == strlen(host + len);
	return false;
}

/* A second opinion, too: a browser says that a page of another site asks, and not for our page. */
static bool is_strange(const char *site, const char *path)
{
	return *site && strcmp(site, "none") && strcmp(site, "same-origin") && strcmp(path, "/");
}

static void try_answer(char *const lines[NR_LINES])
{
	const struct host_list hosts = { own_names, 1, false };
	const char *site = lines[LINE_SITE];
	const struct answer_head head = {
		lines[LINE_METHOD], lines[LINE_PATH],	 lines[LINE_VERSION], lines[LINE_HOST], 1,
		*lines[LINE_BODY],  *site ? site : NULL,
	};
	struct answer answer = answer__of(&head, &hosts);

	if ((answer.page == ANSWER_LINE) != !!answer.text)
		abort();
	if (answer.status == 200 &&
	    (!is_ours(lines[LINE_HOST]) || is_strange(site, lines[LINE_PATH]) ||
	     *lines[LINE_BODY] || strcmp(lines[LINE_VERSION], "HTTP/1.1") > 0 ||
	     (strcmp(lines[LINE_METHOD], "GET") && strcmp(lines[LINE_METHOD], "HEAD"))))
		abort();
	if (answer.page == ANSWER_METRICS && strcmp(lines[LINE_PATH], "/metrics"))
		abort();
}

/* "last=60s&x=y" is what libmicrohttpd takes apart: here key and value lie side by side. */
static void try_query(char *line)
{
	static const enum answer_page pages[] = { ANSWER_CAPTURE, ANSWER_COMMANDS, ANSWER_LEDGER };

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		struct query q = query__new();
		char *copy = strdup(line), *rest = copy, *word;

		while ((word = strsep(&rest, "&"))) {
			char *value = strchr(word, '=');

			if (value)
				*value++ = 0;
			query__add(&q, pages[i], word, value);
		}
		if (strlen(q.dev) >= sizeof(q.dev) || (pages[i] == ANSWER_LEDGER && q.refusal) ||
		    (pages[i] == ANSWER_CAPTURE && q.given & ~(1u << QUERY_LAST)) ||
		    (pages[i] == ANSWER_COMMANDS && q.given & 1u << QUERY_LAST))
			abort();
		free(copy);
	}
}

/* A name that a reader comes back with leads to an event of ours, or to the oldest. */
static void try_event(const char *last)
{
	static struct events events;
	struct events_reader reader;

	if (!events.end)
		for (int i = 0; i < 5; i++)
			events__add(&events, "1f", "x\n");
	reader = events__begin(&events, "1f", last);
	if (reader.at || reader.number > events.end || (reader.number && strncmp(last, "1f-", 3)))
		abort();
}

static void try_accept(const char *accept)
{
	if (accept__format(accept) == OPENMETRICS_1_0 &&
	    !strcasestr(accept, "application/openmetrics-text"))
		abort();
}

/* Who does not name it does not get it, and who then names it does. */
static void try_encoding(const char *encoding)
{
	char *more = NULL;

	if (strcasestr(encoding, "gzip"))
		return;
	if (accept__zips(encoding) || asprintf(&more, "%s, GZIP;q=0.1", encoding) < 0 ||
	    !accept__zips(more))
		abort();
	free(more);
}

/* What is taken reads the same when it was printed. */
static void try_listen(const char *text)
{
	struct listen_address first, second;
	char shown[160], *at = shown;

	if (listen_address__parse(&first, text))
		return;
	listen_address__text(&first, shown, sizeof(shown));
	at += strncmp(shown, "http://", 7) ? 0 : 7;
	if (listen_address__parse(&second, at) ||
	    memcmp(&first.address, &second.address, sizeof(first.address)))
		abort();
}

static bool label(void *arg, const struct io_tags *tags, const char *labels[NR_SERIES_LABELS])
{
	char *const *lines = arg;

	labels[SERIES_DEVICE] = lines[LINE_LABEL];
	labels[tags->op ? SERIES_MODEL : SERIES_CGROUP] = lines[LINE_OTHER_LABEL];
	return true;
}

/* One line per sample, whatever is in a label. */
static size_t count_lines(const char *page)
{
	size_t nr = 0;

	while (*page) {
		const char *end = strchr(page, '\n');

		if (!end || (strncmp(page, "iosonar_", 8) && strncmp(page, "# ", 2)))
			abort();
		nr++;
		page = end + 1;
	}
	return nr;
}

static size_t page_lines(char *const lines[NR_LINES], const struct edges *edges)
{
	struct series_set set = { .most = 4, .edges = edges, .label = label, .arg = (void *)lines };
	const struct ledger ledger = { 0 };
	static const struct failures failures;
	static const struct hist nothing;
	char *page = NULL;
	size_t size, nr;
	FILE *out = open_memstream(&page, &size);

	series_set__init(&set);
	for (uint8_t op = 0; op < 2; op++)
		series_set__add(&set, &(struct io_tags){ .device = 1, .op = op }, &nothing);
	series_set__end(&set);
	metrics__write(&(struct metrics){ .set = &set, .ledger = &ledger, .failures = &failures },
		       out);
	fclose(out);
	nr = count_lines(page);
	free(page);
	series_set__free(&set);
	return nr;
}

static void try_labels(char *const lines[NR_LINES])
{
	static char *const tame[NR_LINES] = { [LINE_LABEL] = "a", [LINE_OTHER_LABEL] = "b" };
	static struct edges edges;
	static size_t want;

	if (!want) {
		edges__init(&edges, 1);
		want = page_lines(tame, &edges);
	}
	if (page_lines(lines, &edges) != want)
		abort();
}

/* ---- names of containers ---- */

static bool is_of(const char *text, const char *letters)
{
	return strspn(text, letters) == strlen(text);
}

/* Each name is a part of the path; a pod's has dashes for what systemd cannot have. */
static void try_path(const char *path)
{
	struct cgroup_names *names = malloc(sizeof(*names));

	cgroup_names__find(names, path);
	if (!strstr(path, names->unit) || strchr(names->unit, '/') ||
	    !strstr(path, names->container))
		abort();
	if (*names->container && (strlen(names->container) != NAME_ID - 1 ||
				  !is_of(names->container, "0123456789abcdef")))
		abort();
	if (*names->pod && (!*names->container || !is_of(names->pod, "0123456789abcdef-")))
		abort();
	free(names);
}

/* A link's name says all that is read from it, and nothing else. */
static void try_link(const char *name)
{
	struct pod_link *link = malloc(sizeof(*link));
	char *again;

	if (pod_link__parse(link, name)) {
		if (asprintf(&again, "%s_%s_%s-%s.log", link->pod, link->namespace, link->container,
			     link->id) < 0 ||
		    strcmp(again, name) != 0)
			abort();
		free(again);
	}
	free(link);
}

static void try_names(const char *list, void (*try)(const char *))
{
	char *copy = strdup(list), *rest = copy;
	const char *name;

	while ((name = strsep(&rest, "&")))
		try(name);
	free(copy);
}

/* ---- the whole way ---- */

static char *request_of(char *const lines[NR_LINES])
{
	static const struct {
		int line;
		const char *key;
	} headers[] = {
		{ LINE_ACCEPT, "Accept" },	 { LINE_ENCODING, "Accept-Encoding" },
		{ LINE_SITE, "Sec-Fetch-Site" }, { LINE_EVENT, "Last-Event-ID" },
		{ LINE_BODY, "Content-Length" },
	};
	char *request = NULL;
	size_t len;
	FILE *out = open_memstream(&request, &len);

	fprintf(out, "%s %s%s%s %s\r\nHost: %s\r\n", lines[LINE_METHOD], lines[LINE_PATH],
		*lines[LINE_QUERY] ? "?" : "", lines[LINE_QUERY], lines[LINE_VERSION],
		lines[LINE_HOST]);
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		if (*lines[headers[i].line])
			fprintf(out, "%s: %s\r\n", headers[i].key, lines[headers[i].line]);
	if (*lines[LINE_HEADER])
		fprintf(out, "%s\r\n", lines[LINE_HEADER]);
	fputs("\r\n", out);
	fclose(out);
	return request;
}

/* Lines that libmicrohttpd reads as they are: without ends of lines and blanks. */
static bool is_plain(char *const lines[NR_LINES])
{
	static const int heads[] = { LINE_METHOD,   LINE_PATH, LINE_VERSION, LINE_HOST, LINE_ACCEPT,
				     LINE_ENCODING, LINE_SITE, LINE_EVENT,   LINE_BODY };

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		for (const char *c = lines[heads[i]]; *c; c++)
			if ((unsigned char)*c <= ' ' || *c == 0x7f)
				return false;
	return !strpbrk(lines[LINE_PATH], "?#") && !*lines[LINE_HEADER] &&
	       !strpbrk(lines[LINE_QUERY], " \t\r");
}

/* The second opinions, of what libmicrohttpd made of the request. */
static void check_right(char *const lines[NR_LINES], const struct exchange *e)
{
	if (e->status == 200 &&
	    (!is_ours(lines[LINE_HOST]) || is_strange(lines[LINE_SITE], lines[LINE_PATH]) ||
	     (*lines[LINE_BODY] && strcmp(lines[LINE_BODY], "0") != 0) ||
	     (strcmp(lines[LINE_METHOD], "GET") && strcmp(lines[LINE_METHOD], "HEAD"))))
		abort();
	if (exchange_header(e, "Content-Encoding") && !strcasestr(lines[LINE_ENCODING], "gzip"))
		abort();
}

/* Does the request get a page, as the head alone decides? Else no machine is made for it. */
static bool is_for_model(char *const lines[NR_LINES])
{
	const struct host_list hosts = { own_names, 1, false };
	const struct answer_head head = { .method = lines[LINE_METHOD],
					  .path = lines[LINE_PATH],
					  .version = lines[LINE_VERSION],
					  .host = lines[LINE_HOST],
					  .nr_hosts = 1 };

	return *lines[LINE_CGROUPS] || answer__of(&head, &hosts).page != ANSWER_LINE;
}

static void try_request(char *const lines[NR_LINES])
{
	static const struct events no_events;
	const struct model_names machine = {
		lines[LINE_LABEL],   lines[LINE_OTHER_LABEL], lines[LINE_COMM],
		lines[LINE_CGROUPS], lines[LINE_LINKS],
	};
	struct model *m = is_for_model(lines) ? model__new(&machine) : NULL;
	struct http_options options = {
		.hosts = { own_names, 1, false },
		.make = model__make,
		.arg = m,
		.page = { .text = "<p>", .policy = "default-src 'self'", .len = 3 },
		.events = m ? &m->events : &no_events,
		.run = "1f",
		.keeps = !strchr(lines[LINE_COMM], '!'),
	};
	char *request = request_of(lines);
	struct exchange e = exchange__of(&options, request);

	if (e.is_ours) {
		if (is_plain(lines))
			check_right(lines, &e);
		exchange_check(&e, !strncmp(request, "HEAD ", 5));
	}
	free(request);
	if (m)
		model__free(m, &machine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *at = text, *lines[NR_LINES];

	memcpy(text, data, size);
	text[size] = 0;
	for (int i = 0; i < NR_LINES; i++) {
		char *end = i + 1 < NR_LINES ? strchr(at, '\n') : NULL;

		lines[i] = at;
		at = end ? end + 1 : at + strlen(at);
		if (end)
			*end = 0;
	}
	try_answer(lines);
	try_accept(lines[LINE_ACCEPT]);
	try_encoding(lines[LINE_ENCODING]);
	try_listen(lines[LINE_LISTEN]);
	try_labels(lines);
	try_query(lines[LINE_QUERY]);
	try_event(lines[LINE_EVENT]);
	try_names(lines[LINE_CGROUPS], try_path);
	try_names(lines[LINE_LINKS], try_link);
	try_request(lines);
	free(text);
	return 0;
}
