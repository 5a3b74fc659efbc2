/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * latency_by.h: what does --by of `latency` and `top` mean? Its words, the keys they stand for in
 * the order in which they were given, and what the collector has to distinguish for them.
 */
#ifndef IOSONAR_VIEW_LATENCY_BY_H
#define IOSONAR_VIEW_LATENCY_BY_H

#include "analyse/breakdown.h"
#include "base/option.h"
#include "collect/io.h"
#include "view/cgroup_groups.h"

extern const char *const latency_by_words[];

/* A namespace id means nothing without its controller, nor a path without its disk: the key that
 * has to come before this one; the same one if there is none. */
enum breakdown_by latency_by__above(enum breakdown_by key);
/* Fills keys, each once, with those that another one needs before it; without words: dev, op. */
size_t latency_by__keys(const struct option_list *by, enum breakdown_by keys[NR_BY]);
/* The same as 1 << enum breakdown_by. */
uint32_t latency_by__mask(const struct option_list *by);
/*
 * Of captures of several machines: with the host, unless a key tells them apart (dev), or all keys
 * mean the same on each (op, size).
 */
uint32_t latency_by__with_host(uint32_t mask, const struct session *session);
/* Rows by these keys, and nothing else. */
struct io_wants latency_by__wants(uint32_t mask, const struct filter_options *filter);
/* The tags of rows by these keys, from those of the collector. 0 or -ENOMEM. */
int latency_by__tag(uint32_t mask, struct cgroup_groups *groups, const struct session *session,
		    struct io_tags *tags);

#endif
