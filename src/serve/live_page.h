/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * live_page.h: the page at /, made once, before the privileges are dropped: the parts of `report`'s
 * pages and a script that watches /api/events. It may ask the server that it came from, nobody
 * else.
 */
#ifndef IOSONAR_SERVE_LIVE_PAGE_H
#define IOSONAR_SERVE_LIVE_PAGE_H

#include "serve/http.h"

int live_page__make(struct http_page *page); /* 0 or -ENOMEM */
void live_page__free(struct http_page *page);

#endif
