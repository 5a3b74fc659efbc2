/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_account.h: how far can the counts of `cache` be trusted? Its first line says by which
 * method the page cache is seen, its last ones whether all pages add up, and what was lost. It
 * serves that command alone, and goes with it.
 */
#ifndef IOSONAR_VIEW_CACHE_ACCOUNT_H
#define IOSONAR_VIEW_CACHE_ACCOUNT_H

#include "session/session.h"

extern const struct object cache_account_method, cache_account_ledger;

void cache_account__show_method(const struct session *session);
/* False: by tracepoints alone no accesses are seen. */
bool cache_account__sees_accesses(const struct session *session);
/* At the end, of the sum of all rows: the ledger, and whether the run is incomplete. */
void cache_account__close(const struct cache_sum *total, struct session *session);

#endif
