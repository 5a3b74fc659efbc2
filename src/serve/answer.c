/* SPDX-License-Identifier: BSD-2-Clause */
#include "serve/answer.h"

#include <string.h>

static const char answer_index[] = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
				   "charset=\"utf-8\"><title>iosonar</title></head>\n"
				   "<body><h1>iosonar</h1>\n<ul>\n"
				   "<li><a href=\"/metrics\">/metrics</a>: for Prometheus</li>\n"
				   "<li><a href=\"/healthz\">/healthz</a>: does it answer?</li>\n"
				   "</ul></body></html>\n";

static const struct {
	const char *path;
	struct answer answer;
} answer_pages[] = {
	{ "/metrics", { 200, ANSWER_METRICS, NULL } },
	{ "/healthz", { 200, ANSWER_LINE, "ok\n" } },
	{ "/", { 200, ANSWER_INDEX, answer_index } },
};

static bool answer_is_one_of(const char *word, const char *first, const char *second)
{
	return word && (!strcmp(word, first) || !strcmp(word, second));
}

static struct answer answer_line(unsigned int status, const char *text)
{
	return (struct answer){ status, ANSWER_LINE, text };
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
	for (size_t i = 0; i < sizeof(answer_pages) / sizeof(answer_pages[0]); i++)
		if (!strcmp(head->path, answer_pages[i].path))
			return answer_pages[i].answer;
	return answer_line(404, "not found; there are /metrics, /healthz and /\n");
}
