/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * content.h: what is in the page that a request asks for? Made when it is asked for, of the counts
 * of that moment or of kept records. Rings are not emptied meanwhile: what takes longer than 5 ms
 * is refused for ten times as long.
 */
#ifndef IOSONAR_SERVE_CONTENT_H
#define IOSONAR_SERVE_CONTENT_H

#include "serve/http.h"
#include "serve/interval.h"
#include "serve/reading.h"

struct content {
	struct session *session;
	struct reading *reading;
	struct interval *interval;
	uint64_t rests_until_ns;
};

/* For http_options: arg is the content. */
int content__make(void *arg, const struct http_request *request, char **text, size_t *len);

#endif
