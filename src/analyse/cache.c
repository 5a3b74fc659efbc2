/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyse/cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/grow.h"

void cache_tags__set(struct cache_tags *tags, const struct cache_key *key)
{
	*tags = (struct cache_tags){
		.inode = key->inode,
		.nth = (uint16_t)cache_key_nth(key),
		.cgroup = key->cgroup,
		.dev = key->dev,
		.pid = key->pid,
		.op = (int)cache_key_op(key) - 1,
	};
	memcpy(tags->comm, key->comm, sizeof(tags->comm) - 1);
}

void cache_tags__mask(struct cache_tags *tags, uint32_t by)
{
	if (!(by >> CACHE_BY_COMM & 1))
		memset(tags->comm, 0, sizeof(tags->comm));
	if (!(by >> CACHE_BY_PID & 1))
		tags->pid = 0;
	if (!(by >> CACHE_BY_FILE & 1))
		tags->inode = tags->nth = 0;
	if (!(by >> CACHE_BY_FILE & 1) && !(by >> CACHE_BY_DEV & 1))
		tags->dev = 0;
	if (!(by >> CACHE_BY_CGROUP & 1))
		tags->cgroup = 0;
	if (!(by >> CACHE_BY_OP & 1))
		tags->op = -1;
	tags->other &= by != 0;
}

void cache_table__free(struct cache_table *t)
{
	free(t->sums);
	memset(t, 0, sizeof(*t));
}

static void sum_begin(struct cache_sum *sum)
{
	memcpy(sum->before, sum->now, sizeof(sum->before));
	memset(sum->now, 0, sizeof(sum->now));
}

void cache_table__begin(struct cache_table *t)
{
	t->next = 0;
	sum_begin(&t->total);
	for (size_t i = 0; i < t->nr; i++)
		sum_begin(&t->sums[i]);
}

static bool tags_are(const struct cache_tags *a, const struct cache_tags *b)
{
	return a->inode == b->inode && a->nth == b->nth && a->host == b->host && a->dev == b->dev &&
	       a->pid == b->pid && a->op == b->op && a->cgroup == b->cgroup &&
	       a->other == b->other && !memcmp(a->comm, b->comm, sizeof(a->comm));
}

/* Keys keep their places, so a full search is rare: once for each new key. */
static struct cache_sum *table_find(struct cache_table *t, const struct cache_tags *tags)
{
	for (size_t i = 0; i < t->nr; i++) {
		size_t at = (t->next + i) % t->nr;

		if (!tags_are(&t->sums[at].tags, tags))
			continue;
		t->next = at + 1;
		return &t->sums[at];
	}
	if (GROW(t->sums, t->room, t->nr + 1))
		return NULL;
	t->sums[t->nr] = (struct cache_sum){ .tags = *tags };
	return &t->sums[t->nr++];
}

int cache_table__add(struct cache_table *t, const struct cache_tags *tags,
		     const uint64_t counts[NR_CACHE_COUNTS])
{
	struct cache_sum *sum = table_find(t, tags);

	if (!sum)
		return -ENOMEM;
	for (int i = 0; i < NR_CACHE_COUNTS; i++) {
		sum->now[i] += counts[i];
		t->total.now[i] += counts[i];
	}
	return 0;
}

/* An access may be counted as a hit in one interval and taken back in the next. */
static uint64_t sum_hits(const uint64_t n[NR_CACHE_COUNTS])
{
	int64_t hits = (int64_t)(n[CACHE_HITS] - n[CACHE_HITS_BACK]);

	return hits > 0 ? (uint64_t)hits : 0;
}

void cache_sum__take(const struct cache_sum *sum, bool whole, struct cache_sums *s)
{
	uint64_t n[NR_CACHE_COUNTS];

	for (int i = 0; i < NR_CACHE_COUNTS; i++)
		n[i] = sum->now[i] - (whole ? 0 : sum->before[i]);
	*s = (struct cache_sums){
		.accesses = n[CACHE_ACCESSES],
		.hits = sum_hits(n),
		.ra_hits = n[CACHE_RA_HITS],
		.misses = n[CACHE_MISSES],
		.allocated = n[CACHE_ALLOCATED],
		.added = n[CACHE_ADDED],
		.demanded = n[CACHE_DEMANDED],
		.readahead = n[CACHE_RA],
		.other = n[CACHE_OTHER],
		.dirtied = n[CACHE_DIRTIED],
		.written = n[CACHE_WRITTEN],
		.removed = n[CACHE_REMOVED],
		.evicted = n[CACHE_EVICTED],
		.truncated = n[CACHE_TRUNCATED],
		.unused = n[CACHE_UNUSED],
	};
}

double cache_sums__hit_percent(const struct cache_sums *s)
{
	if (!s->accesses)
		return __builtin_nan("");
	return 100.0 * (double)(s->hits + s->ra_hits) / (double)s->accesses;
}

/* ---- order ---- */

static uint64_t sums_by(const struct cache_sums *s, enum cache_sort by)
{
	switch (by) {
	case CACHE_SORT_ACCESSES: return s->accesses;
	case CACHE_SORT_HITS: return s->hits;
	case CACHE_SORT_RA_HITS: return s->ra_hits;
	case CACHE_SORT_READAHEAD: return s->readahead;
	case CACHE_SORT_UNUSED: return s->unused;
	case CACHE_SORT_DIRTIED: return s->dirtied;
	case CACHE_SORT_WRITTEN: return s->written;
	case CACHE_SORT_EVICTED: return s->evicted;
	default: return s->misses;
	}
}

struct sorted {
	const struct cache_sum *sum;
	uint64_t first, second; /* the requested measure, then all activity */
};

/* Breaks ties: rows with equal measures have the same order in every run. */
static int tags_compare(const struct cache_tags *a, const struct cache_tags *b)
{
	int order = memcmp(a->comm, b->comm, sizeof(a->comm));

	order = order ?: COMPARE(a->pid, b->pid);
	order = order ?: COMPARE(a->host, b->host);
	order = order ?: COMPARE(a->dev, b->dev);
	order = order ?: COMPARE(a->inode, b->inode);
	order = order ?: COMPARE(a->nth, b->nth);
	order = order ?: COMPARE(a->cgroup, b->cgroup);
	return order ?: COMPARE(a->op, b->op);
}

static int sorted_compare(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	return COMPARE(y->first, x->first) ?: COMPARE(y->second, x->second) ?: tags_compare(&x->sum->tags, &y->sum->tags);
}

static uint64_t sums_all(const struct cache_sums *s)
{
	return s->accesses + s->added + s->dirtied + s->written + s->removed;
}

size_t cache_table__sort(const struct cache_table *t, enum cache_sort by, bool whole,
			 const struct cache_sum **order)
{
	struct sorted *sorted = calloc(t->nr + 1, sizeof(*sorted));
	struct cache_sums s;
	size_t nr = 0;

	for (size_t i = 0; sorted && i < t->nr; i++) {
		cache_sum__take(&t->sums[i], whole, &s);
		if (sums_all(&s))
			sorted[nr++] =
				(struct sorted){ &t->sums[i], sums_by(&s, by), sums_all(&s) };
	}
	if (sorted)
		qsort(sorted, nr, sizeof(*sorted), sorted_compare);
	for (size_t i = 0; i < nr; i++)
		order[i] = sorted[i].sum;
	free(sorted);
	return nr;
}

/* ---- several captures ---- */

static bool names_have(const char *names, const char *name, size_t len)
{
	for (const char *at = names; *at; at += strspn(at, ", ")) {
		const size_t nr = strcspn(at, ", ");

		if (nr == len && !memcmp(at, name, len))
			return true;
		at += nr;
	}
	return false;
}

/* "shmem_fault, filemap_fault": names that are there stay once. */
static void names_add(char names[CACHE_UNSEEN], const char *other)
{
	for (const char *at = other; *at; at += strspn(at, ", ")) {
		const size_t nr = strcspn(at, ", "), len = strlen(names);

		if (!names_have(names, at, nr))
			snprintf(names + len, CACHE_UNSEEN - len, "%s%.*s", len ? ", " : "",
				 (int)nr, at);
		at += nr;
	}
}

/* UINT64_MAX: not known. */
static uint64_t pages_add(uint64_t a, uint64_t b)
{
	return a == UINT64_MAX || b == UINT64_MAX ? UINT64_MAX : a + b;
}

void cache_about__add(struct cache_about *about, const struct cache_about *other)
{
	if (other->method > about->method) /* they are in the order of what they tell */
		about->method = other->method;
	names_add(about->unseen, other->unseen);
	about->cached_before = pages_add(about->cached_before, other->cached_before);
	about->cached_after = pages_add(about->cached_after, other->cached_after);
	about->filtered |= other->filtered;
}

void cache_losses__add(struct cache_losses *losses, const struct cache_losses *other)
{
	losses->no_task += other->no_task;
	losses->no_key += other->no_key;
	losses->unclosed += other->unclosed;
	losses->ra_lost += other->ra_lost;
	losses->no_file += other->no_file;
	losses->skipped += other->skipped;
	losses->events += other->events;
	losses->events_lost += other->events_lost;
	losses->no_cause += other->no_cause;
}

/* ---- the ledger ---- */

static uint64_t differ(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

void cache_ledger__settle(struct cache_ledger *l)
{
	const struct cache_sums *s = &l->sums;
	const struct cache_losses *lost = &l->losses;

	l->grown = (int64_t)(s->added - s->removed);
	l->unaccounted = differ(s->accesses, s->hits + s->ra_hits + s->misses) +
			 differ(s->added, s->demanded + s->readahead + s->other) +
			 differ(s->removed, s->evicted + s->truncated);
	l->lost = lost->no_task + lost->no_key + lost->unclosed + lost->skipped +
		  lost->events_lost + lost->no_cause;
}
