/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * async_rows.h: the rows of `waits --async`: of requests with the same key one row per step of
 * their time, and the total; the slowest requests; and the ledger.
 */
#ifndef IOSONAR_VIEW_ASYNC_ROWS_H
#define IOSONAR_VIEW_ASYNC_ROWS_H

#include "analyse/async.h"
#include "session/session.h"
#include "view/wait_row.h"

extern const struct object async_rows, async_slow, async_ledger;
extern const struct wait_words async_rows_words;

void async_rows__key(const struct async_record *record, struct wait_key *key);

/* A request and its machine, as host_source__here. */
struct async_slow {
	struct async_record record;
	uint16_t host;
};

/* Slowest first, at most `most`. */
struct async_slowest {
	struct async_slow *requests;
	size_t nr, most;
};

int async_slowest__init(struct async_slowest *slowest, size_t most); /* -ENOMEM */
void async_slowest__add(struct async_slowest *slowest, const struct session *session,
			const struct async_record *record);
void async_slowest__put(const struct async_slowest *slowest, struct table *table,
			struct session *session);
void async_slowest__free(struct async_slowest *slowest);

/*
 * The ledger: says where all requests went, and whether something was lost. taken: records that the
 * view got; uneven: those whose steps do not add up.
 */
void async_rows__close(struct session *session, uint64_t taken, uint64_t uneven);

#endif
