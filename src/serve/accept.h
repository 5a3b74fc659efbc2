/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * accept.h: which text format does a scraper want? Decided by its Accept header: OpenMetrics 1.0 if
 * it names that and does not prefer plain text, otherwise Prometheus' older format. Compressed only
 * if it names gzip. Pure.
 */
#ifndef IOSONAR_SERVE_ACCEPT_H
#define IOSONAR_SERVE_ACCEPT_H

#include <stdbool.h>
#include "render/openmetrics.h"

/* Does this Accept-Encoding take gzip? NULL: the request has none. */
bool accept__zips(const char *encoding);
/* NULL: the request has no Accept. */
enum openmetrics_format accept__format(const char *accept);
const char *accept__content_type(enum openmetrics_format format);

#endif
