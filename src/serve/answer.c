/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/answer.h"

#include <string.h>

static const struct {
	const char *path;
	struct answer answer;
} answer_pages[] = {
	{ "/metrics", { 200, ANSWER_METRICS, NULL } },
	{ "/healthz", { 200, ANSWER_LINE, "ok\n" } },
	{ "/", { 200, ANSWER_PAGE, NULL } },
	{ "/api/events", { 200, ANSWER_EVENTS, NULL } },
	{ "/api/latency", { 200, ANSWER_LATENCY, NULL } },
	{ "/api/devices", { 200, ANSWER_DEVICES, NULL } },
	{ "/api/ledger", { 200, ANSWER_LEDGER, NULL } },
	{ "/api/commands", { 200, ANSWER_COMMANDS, NULL } },
	{ "/capture", { 200, ANSWER_CAPTURE, NULL } },
};

static bool answer_is_one_of(const char *word, const char *first, const char *second)
{
	return word && (!strcmp(word, first) || !strcmp(word, second));
}

static struct answer answer_line(unsigned int status, const char *text)
{
	return (struct answer){ status, ANSWER_LINE, text };
}

/* A page of another site can send a request, though it cannot read the answer. Links are fine. */
static bool answer_is_for_stranger(const struct answer_head *head, enum answer_page page)
{
	return head->site && page != ANSWER_PAGE &&
	       !answer_is_one_of(head->site, "same-origin", "none");
}

static struct answer answer_for_path(const struct answer_head *head)
{
	for (size_t i = 0; i < sizeof(answer_pages) / sizeof(answer_pages[0]); i++) {
		if (strcmp(head->path, answer_pages[i].path))
			continue;
		if (answer_is_for_stranger(head, answer_pages[i].answer.page))
			return answer_line(403, "not for pages of other sites\n");
		return answer_pages[i].answer;
	}
	return answer_line(404, "not found; iosonar-serve(8) has the paths\n");
}

struct answer answer__of(const struct answer_head *head, const struct host_list *hosts)
{
	if (!answer_is_one_of(head->version, "HTTP/1.1", "HTTP/1.0"))
		return answer_line(400, "only HTTP/1.1 and HTTP/1.0\n");
	if (head->nr_hosts > 1)
		return answer_line(400, "more than one Host\n");
	if (!host_list__allows(hosts, head->host))
		return answer_line(403, "this Host is not allowed; see --allow-host\n");
	if (!answer_is_one_of(head->method, "GET", "HEAD"))
		return answer_line(405, "only GET and HEAD\n");
	if (head->has_body)
		return answer_line(400, "a request must have no body\n");
	return answer_for_path(head);
}
