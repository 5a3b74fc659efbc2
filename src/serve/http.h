/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http.h: a small HTTP server inside another loop, by libmicrohttpd: no thread, one request per
 * connection. At most 128 connections, 16 KiB of memory and 10 s for each, however slow its peer
 * is. At most 64 of them watch events: these stay, and have 10 s to take what there is. One may
 * download a capture, for five minutes. Optional: without libmicrohttpd it only says that it is not
 * built in.
 */
#ifndef IOSONAR_SERVE_HTTP_H
#define IOSONAR_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include "render/openmetrics.h"
#include "serve/answer.h"
#include "serve/events.h"
#include "serve/host.h"
#include "serve/query.h"

struct http;

struct http_request {
	enum answer_page page;
	enum openmetrics_format format;
	const struct query *query; /* NULL: the page takes none */
	bool zips;		   /* the text has to be compressed by gzip */
};

struct http_options {
	int fd; /* listens and does not block; http__free closes it */
	struct host_list hosts;
	/* What is made for a request: malloced. 0, -EBUSY: later, or a negative errno. */
	int (*make)(void *arg, const struct http_request *request, char **text, size_t *len);
	void *arg;
	struct http_page {
		char *text, *policy; /* HTML, and what it may do */
		size_t len;
	} page;
	const struct events *events;
	const char *run; /* their run */
	bool keeps;	 /* there is a flight recorder */
};

bool http__is_built_in(void);
/* -EOPNOTSUPP, said, if it is not. */
int http__check(void);
/* 0, or a negative errno, said; then fd is open. */
int http__new(struct http **http, const struct http_options *options);
void http__free(struct http *http);
int http__fd(const struct http *http); /* readable: something is to be done */
/* For a loop: does all that is to be done. To be called every second, too, for time-outs. */
int http__run(void *http);
/* There is a new event. */
void http__wake(struct http *http);

#endif
