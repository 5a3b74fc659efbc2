/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * query.h: what does a query ask for? "last=60s" of /capture, and "from=5s&to=6s&min=1ms&max=2ms&
 * dev=nvme0n1" or "number=17" of /api/commands: durations as options take them, each once. Pure.
 * All of it is hostile: what is not exactly one of these is refused.
 */
#ifndef IOSONAR_SERVE_QUERY_H
#define IOSONAR_SERVE_QUERY_H

#include <stdbool.h>
#include <stdint.h>
#include "serve/answer.h"

enum query_key { QUERY_LAST, QUERY_FROM, QUERY_TO, QUERY_MIN, QUERY_MAX, NR_QUERY_KEYS };

struct query {
	uint64_t ns[NR_QUERY_KEYS]; /* those of the end are UINT64_MAX if they are not given */
	uint32_t given;		    /* 1 << enum query_key */
	char dev[64];		    /* "": all */
	uint64_t number;	    /* of one record; 0: not given */
	const char *refusal;	    /* a line that says what is wrong; NULL: nothing is */
};

struct query query__new(void);
/* One argument, as it was sent; value may be NULL. Pages that take none ignore all. */
void query__add(struct query *query, enum answer_page page, const char *key, const char *value);

#endif
