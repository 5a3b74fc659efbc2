/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/cache_rows.h"

#include <string.h>
#include "base/log.h"
#include "session/cache_source.h"
#include "session/host_source.h"
#include "session/table.h"
#include "view/cache_account.h"

/*
 *  time accesses    hits  ra_hits  misses   hit%  missed readahead dirtied written evicted
 *   1.0     1024       0     1023       1  99.9%   4.0Ki      1023       0       0       0
 */
struct cache_line {
	const char *span; /* "interval", "total" or "sum" */
	double time_s;
	const char *host, *comm, *file, *cgroup, *dev, *op;
	uint64_t pid;
	bool says_all; /* for people: of all processes */
	struct cache_sums n;
	double hit_percent;
	uint64_t access_bytes, hit_bytes, ra_hit_bytes, miss_bytes, readahead_bytes, unused_bytes,
		dirtied_bytes, written_bytes, evicted_bytes;
	/* Buffers for some texts of this row. */
	char comm_text[24], cgroup_text[256], dev_text[384];
};

static const char *const op_words[] = { "read", "write", "mmap", "readahead", "none" };

#define LINE(field) offsetof(struct cache_line, field)
#define PAGES(name) offsetof(struct cache_line, n.name)

static struct cell cache_get_pid(const void *row)
{
	const struct cache_line *line = row;

	if (line->says_all)
		return (struct cell){ CELL_TEXT, .text = "all" };
	return (struct cell){ line->pid == CELL_NO_NUMBER ? CELL_NONE : CELL_COUNT,
			      .n = line->pid };
}

/* The tags of a row. */
static const struct column tag_columns[] = {
	{ "span", "span", CELL_TEXT, 0,
	  "interval; total for the whole run; sum: all rows of the whole run together, with --by",
	  .at = LINE(span), .not_in_text = true },
	{ "time_s", "time", CELL_SECONDS, 5, "time of the end of the span, since the start",
	  .at = LINE(time_s) },
	{ "host", "host", CELL_TEXT, 5, "machine, of captures", .at = LINE(host) },
	{ "comm", "comm", CELL_TEXT, 12, "name of the task", .at = LINE(comm) },
	{ "pid", "pid", CELL_COUNT, 7, "process of the task", .at = LINE(pid),
	  .get = cache_get_pid },
	{ "file", "file", CELL_TEXT, 20, "path of the file, or what it is instead, e.g. [device]",
	  .at = LINE(file) },
	{ "cgroup", "cgroup", CELL_TEXT, 10, "cgroup of the task", .at = LINE(cgroup) },
	{ "dev", "dev", CELL_TEXT, 7, "device that holds the file", .at = LINE(dev) },
	{ "op", "op", CELL_TEXT, 9, "read, write, mmap, readahead; none: the kernel for itself",
	  .at = LINE(op) },
	{ 0 },
};

static const struct column page_columns[] = {
	{ "accesses", "accesses", CELL_COUNT, 8, "pages asked for: hits + ra_hits + misses",
	  .at = PAGES(accesses) },
	{ "hits", "hits", CELL_COUNT, 8, "accessed pages that were in the cache, without ra_hits",
	  .at = PAGES(hits), .drop = 7 },
	{ "ra_hits", "ra_hits", CELL_COUNT, 7, "first accesses of pages that were read ahead",
	  .at = PAGES(ra_hits), .drop = 3 },
	{ "misses", "misses", CELL_COUNT, 7, "accessed pages that were not in the cache",
	  .at = PAGES(misses) },
	{ "hit_percent", "hit%", CELL_PERCENT, 6, "percentage of accesses that are hits or ra_hits",
	  .at = LINE(hit_percent) },
	{ "allocated", "alloc", CELL_COUNT, 6,
	  "misses of writes that made the page without reading it", .at = PAGES(allocated) },
	{ "readahead", "ahead", CELL_COUNT, 7, "pages that were read ahead", .at = PAGES(readahead),
	  .drop = 4 },
	{ "unused", "unused", CELL_COUNT, 7, "evicted pages that were read ahead and never used",
	  .at = PAGES(unused), .drop = 1 },
	{ "dirtied", "dirtied", CELL_COUNT, 7, "pages that became dirty", .at = PAGES(dirtied),
	  .drop = 6 },
	{ "written", "written", CELL_COUNT, 7, "pages for which writeback began",
	  .at = PAGES(written), .drop = 2 },
	{ "evicted", "evicted", CELL_COUNT, 7,
	  "pages removed from the cache that are still part of their file", .at = PAGES(evicted),
	  .drop = 5 },
	{ "truncated", "truncated", CELL_COUNT, 9,
	  "pages removed because their file was shortened or deleted", .at = PAGES(truncated) },
	{ "other", "other", CELL_COUNT, 7, "pages added without a known access, e.g. metadata",
	  .at = PAGES(other) },
	{ "added", "added", CELL_COUNT, 7, "pages added, for any reason", .at = PAGES(added) },
	{ "removed", "removed", CELL_COUNT, 7, "pages removed: evicted + truncated",
	  .at = PAGES(removed) },
	{ "access_bytes", "accessed", CELL_BYTES, 6, "accesses in bytes, whole pages",
	  .at = LINE(access_bytes) },
	{ "hit_bytes", "hit", CELL_BYTES, 6, "hits in bytes", .at = LINE(hit_bytes) },
	{ "ra_hit_bytes", "ra_hit", CELL_BYTES, 6, "ra_hits in bytes", .at = LINE(ra_hit_bytes) },
	{ "miss_bytes", "missed", CELL_BYTES, 7, "misses in bytes", .at = LINE(miss_bytes),
	  .drop = 8 },
	{ "readahead_bytes", "ahead", CELL_BYTES, 6, "readahead in bytes",
	  .at = LINE(readahead_bytes) },
	{ "unused_bytes", "unused", CELL_BYTES, 6, "unused in bytes", .at = LINE(unused_bytes) },
	{ "dirtied_bytes", "dirtied", CELL_BYTES, 6, "dirtied in bytes",
	  .at = LINE(dirtied_bytes) },
	{ "written_bytes", "written", CELL_BYTES, 6, "written in bytes",
	  .at = LINE(written_bytes) },
	{ "evicted_bytes", "evicted", CELL_BYTES, 6, "evicted in bytes",
	  .at = LINE(evicted_bytes) },
	{ 0 },
};

const struct object cache_rows_object = { "cache", { tag_columns, page_columns } };

static const size_t by_at[NR_CACHE_BY] = {
	[CACHE_BY_COMM] = LINE(comm),	  [CACHE_BY_PID] = LINE(pid), [CACHE_BY_FILE] = LINE(file),
	[CACHE_BY_CGROUP] = LINE(cgroup), [CACHE_BY_DEV] = LINE(dev), [CACHE_BY_OP] = LINE(op),
	[CACHE_BY_HOST] = LINE(host),
};

void cache_rows__tell_hosts(struct cache_rows *v, const struct session *s)
{
	const uint32_t of_all = 1u << CACHE_BY_OP;

	v->tells_hosts = v->mask >> CACHE_BY_HOST & 1;
	if (!host_source__are_several(s) || !(v->mask & ~of_all))
		return;
	v->tells_hosts = true;
	if (!(v->mask >> CACHE_BY_DEV & 1))
		v->mask |= 1u << CACHE_BY_HOST;
}

/* Columns that fit: with --by rows have names, and changes by others are left to JSON. */
static bool cache_text_has(const struct cache_rows *v, const struct session *s,
			   const struct column *c)
{
	static const size_t always[] = { PAGES(accesses),  PAGES(hits),	      PAGES(ra_hits),
					 PAGES(misses),	   LINE(hit_percent), LINE(miss_bytes),
					 PAGES(readahead), PAGES(dirtied) };
	static const size_t rest[] = { PAGES(unused), PAGES(written), PAGES(evicted) };
	bool asked = !strcmp(c->key, v->sort);

	if (!cache_account__sees_accesses(s))
		return c->at == PAGES(added) || c->at == PAGES(removed) ||
		       c->at == PAGES(dirtied) || c->at == PAGES(evicted) ||
		       c->at == PAGES(truncated);
	if (v->mask >> CACHE_BY_FILE & 1 && (c->at == PAGES(dirtied) || c->at == LINE(miss_bytes)))
		return asked;
	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		if (c->at == always[i])
			return true;
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		if (c->at == rest[i])
			return !v->mask || asked;
	return false;
}

static bool cache_has(const struct cache_rows *v, const struct session *s, const struct column *c)
{
	for (int by = 0; by < NR_CACHE_BY; by++)
		if (c->at == by_at[by])
			return v->mask >> by & 1;
	return s->format != TABLE_TEXT || c->at == LINE(time_s) || cache_text_has(v, s, c);
}

static void cache_show_column(struct cache_rows *v, const struct session *s, size_t nr,
			      const struct column *column)
{
	struct cache_losses lost;

	cache_source__losses(s, &lost);
	v->columns[nr] = *column;
	if (strcmp(column->key, "unused") && (strcmp(column->key, "ra_hits") || !lost.ra_lost))
		return;
	snprintf(v->marks[nr], sizeof(v->marks[nr]), "~%s", column->header); /* an estimate */
	v->columns[nr].header = v->marks[nr];
}

int cache_rows__make_table(struct cache_rows *v, const struct session *s)
{
	const struct column *all[OBJECT_COLUMNS], *shown[OBJECT_COLUMNS], *file = NULL;
	size_t nr_all = object__pick(&cache_rows_object, s->format, NULL, NULL, all), nr = 0;

	table__free(v->table);
	for (size_t i = 0; i < nr_all; i++) {
		if (!cache_has(v, s, all[i]))
			continue;
		if (s->format == TABLE_TEXT && all[i]->at == LINE(file))
			file = all[i]; /* file names are long: in text they come last */
		else
			cache_show_column(v, s, nr++, all[i]);
	}
	if (file)
		cache_show_column(v, s, nr++, file);
	for (size_t i = 0; i < nr; i++)
		shown[i] = &v->columns[i];
	v->table = session__table_new(s, cache_rows_object.type, shown, nr);
	if (!v->table)
		return log_no_memory();
	table__keep_column(v->table, v->sort);
	return 0;
}

static void cache_label(const struct cache_rows *v, const struct session *s,
			const struct cache_tags *t, struct cache_line *line)
{
	line->pid = CELL_NO_NUMBER;
	line->says_all = !t && s->format == TABLE_TEXT;
	if (line->says_all)
		line->host = line->comm = line->file = line->cgroup = line->dev = line->op = "all";
	if (!t)
		return;
	line->host = host_source__label(s, t->host);
	if (t->other) {
		line->comm = line->file = line->cgroup = line->dev = line->op = "other";
		return;
	}
	if (v->mask >> CACHE_BY_PID & 1)
		line->pid = t->pid;
	snprintf(line->comm_text, sizeof(line->comm_text), "%s", t->comm);
	line->comm = line->comm_text;
	line->op = t->op >= 0 ? op_words[t->op] : NULL;
	if (v->mask >> CACHE_BY_FILE & 1)
		line->file = session__file(s, t->inode, io_file_place(t->dev, t->nth));
	if (v->mask >> CACHE_BY_CGROUP & 1)
		line->cgroup = session__cgroup_path(s, t->cgroup, line->cgroup_text,
						    sizeof(line->cgroup_text));
	if (v->mask >> CACHE_BY_DEV & 1)
		line->dev = host_source__disk(s, t->host, t->dev, line->dev_text,
					      sizeof(line->dev_text));
}

static void cache_hide_accesses(struct cache_line *line)
{
	line->n.accesses = line->n.hits = line->n.ra_hits = line->n.misses = CELL_NO_NUMBER;
	line->n.allocated = line->n.readahead = line->n.unused = line->n.other = CELL_NO_NUMBER;
	line->access_bytes = line->hit_bytes = line->ra_hit_bytes = line->miss_bytes =
		CELL_NO_NUMBER;
	line->readahead_bytes = line->unused_bytes = line->written_bytes = CELL_NO_NUMBER;
	line->n.written = CELL_NO_NUMBER;
}

/* What --by tells apart adds up to a row of its own. */
static const char *cache_span(const struct cache_rows *v, const struct cache_tags *tags, bool whole)
{
	if (!whole)
		return "interval";
	return v->mask && !tags ? "sum" : "total";
}

void cache_rows__put(const struct cache_rows *v, struct session *s, const struct cache_sum *sum,
		     const struct cache_tags *tags, bool whole)
{
	struct cache_line line = { .span = cache_span(v, tags, whole), .time_s = s->elapsed_s };
	const uint64_t page_bytes = cache_source__about(s)->page_bytes;
	struct cache_sums *n = &line.n;

	cache_sum__take(sum, whole, n);
	line.hit_percent = cache_sums__hit_percent(n);
	line.access_bytes = n->accesses * page_bytes;
	line.hit_bytes = n->hits * page_bytes;
	line.ra_hit_bytes = n->ra_hits * page_bytes;
	line.miss_bytes = n->misses * page_bytes;
	line.readahead_bytes = n->readahead * page_bytes;
	line.unused_bytes = n->unused * page_bytes;
	line.dirtied_bytes = n->dirtied * page_bytes;
	line.written_bytes = n->written * page_bytes;
	line.evicted_bytes = n->evicted * page_bytes;
	if (!cache_account__sees_accesses(s))
		cache_hide_accesses(&line);
	cache_label(v, s, tags, &line);
	if (row_conditions__admit(&v->conditions, s, &line) && !v->is_hidden)
		table__row(v->table, &line);
}
