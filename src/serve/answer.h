/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * answer.h: what does a request get? Decided by its head alone, before anything is made for it:
 * GET and HEAD of a few paths, for a Host that is ours, without a body. Pure. Everything in a head
 * is hostile; nothing of it is repeated in an answer.
 */
#ifndef IOSONAR_SERVE_ANSWER_H
#define IOSONAR_SERVE_ANSWER_H

#include "serve/host.h"

struct answer_head {
	const char *method, *path, *version; /* as sent, without the query */
	const char *host;		     /* NULL: none */
	unsigned int nr_hosts;		     /* Host headers */
	bool has_body;			     /* announced: Content-Length or Transfer-Encoding */
	const char *site; /* Sec-Fetch-Site: who asks, says a browser; NULL: nothing was said */
};

enum answer_page {
	ANSWER_LINE, /* of text */
	ANSWER_METRICS,
	ANSWER_PAGE,
	ANSWER_EVENTS,
	ANSWER_LATENCY,
	ANSWER_DEVICES,
	ANSWER_LEDGER,
	ANSWER_COMMANDS, /* with --keep */
	ANSWER_CAPTURE,	 /* likewise */
};

struct answer {
	unsigned int status;
	enum answer_page page;
	const char *text; /* of ANSWER_LINE; NULL: it has to be made */
};

struct answer answer__of(const struct answer_head *head, const struct host_list *hosts);

#endif
