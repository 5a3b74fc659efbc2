/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * http.h: a small HTTP server inside another loop, by libmicrohttpd: no thread, one request per
 * connection. At most 64 connections, 16 KiB of memory and 10 s for each, however slow its peer is.
 * Optional: without libmicrohttpd it only says that it is not built in.
 */
#ifndef IOSONAR_SERVE_HTTP_H
#define IOSONAR_SERVE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include "render/openmetrics.h"
#include "serve/host.h"

struct http;

struct http_options {
	int fd; /* listens and does not block; http__free closes it */
	struct host_list hosts;
	/* The page /metrics: malloced. 0, or a negative errno: the request gets 500. */
	int (*metrics)(void *arg, enum openmetrics_format format, char **text, size_t *len);
	void *arg;
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

#endif
