/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache_account.h: how reliable are the counts of `cache`? Its first line says how the page cache
 * is observed, its last lines whether all pages add up, and what was lost. Used only by that
 * command; remove it with that command.
 */
#ifndef IOSONAR_VIEW_CACHE_ACCOUNT_H
#define IOSONAR_VIEW_CACHE_ACCOUNT_H

#include "session/session.h"

extern const struct object cache_account_method, cache_account_ledger;

void cache_account__show_method(const struct session *session);
/* False: tracepoints alone show no accesses. */
bool cache_account__sees_accesses(const struct session *session);
/* At the end, of the sum of all rows: the ledger, and whether the run is incomplete. */
void cache_account__close(const struct cache_sum *total, struct session *session);

#endif
