/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.c: does the page cache help? Accesses, hits, misses, readahead, dirtying and eviction, in
 * pages, every interval, for the whole system or for whatever --by says; or, with --residency, what
 * of some files is cached now. Two short programs for each request. It cannot see accesses through
 * a mapping that do not fault.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/output.h"
#include "cmd/cmd.h"
#include "collect/residency.h"
#include "decode/column.h"
#include "render/cache_events.h"
#include "render/chart.h"
#include "render/residency.h"
#include "session/cache_source.h"
#include "session/session.h"

enum { CACHE_TOP = 20, CACHE_HEADING = 20, CACHE_COMM_LIMIT = 15, CACHE_PID_LIMIT = 4194304 };

/*
 *  time accesses    hits  ra_hits  misses   hit%  missed readahead dirtied written evicted
 *   1.0     1024       0     1023       1  99.9%   4.0Ki      1023       0       0       0
 */
struct cache_line {
	const char *span; /* "interval" or "total" */
	double time_s;
	const char *comm, *file, *cgroup, *dev, *op;
	uint64_t pid;
	struct cache_sums n;
	double hit_percent;
	uint64_t access_bytes, hit_bytes, ra_hit_bytes, miss_bytes, readahead_bytes, unused_bytes,
		dirtied_bytes, written_bytes, evicted_bytes;
};

/* The first thing that is said. */
struct cache_method_line {
	const char *method, *estimates, *unseen;
	uint64_t page_bytes;
};

struct cache_ledger_line {
	struct cache_sums n;
	struct cache_losses lost;
	uint64_t cached_before, cached_after, unaccounted;
};

struct cache_view {
	/* options */
	struct filter_options filter; /* of which only these are asked: */
	struct option_number tid, top;
	const char *file;
	struct option_list by, paths;
	int sort;
	bool residency, events, then_io;
	struct option_number buffer;
	/* state */
	uint32_t mask;
	struct cache_table rows;
	struct table *table;
	struct cache_event_table *told;
	uint64_t nr_told;
	struct column columns[OBJECT_COLUMNS]; /* with ~ where they are estimates */
	const struct column *shown[OBJECT_COLUMNS];
	char marks[OBJECT_COLUMNS][16];
	unsigned int intervals;
	int err;
	/* labels of the row at hand */
	char comm_label[24], cgroup_label[256], dev_label[64];
};

static const char *const by_words[] = { "comm", "pid", "file", "cgroup", "dev", "op", NULL };
static const char *const sort_words[] = { "misses", "accesses", "hits",	   "ra_hits", "readahead",
					  "unused", "dirtied",	"written", "evicted", NULL };
static const char *const op_words[] = { "read", "write", "mmap", "readahead", "none" };

#define VIEW(field) offsetof(struct cache_view, field)
static const struct option_def cache_options[] = {
	{ "by", 0, OPTION_LIST, VIEW(by), NULL, "one row per these; without it one for everything",
	  .choices = by_words },
	{ "sort", 0, OPTION_CHOICE, VIEW(sort), NULL, "rows with most of these come first",
	  .choices = sort_words },
	{ "top", 0, OPTION_NUMBER, VIEW(top), "N", "so many rows an interval (default 20)",
	  .min = 1, .max = 8192 },
	{ "events", 0, OPTION_FLAG, VIEW(events), NULL,
	  "each request that missed: who, which file, where, and how long until its pages were "
	  "there",
	  .not_with = "by,sort,top,interval" },
	{ "then-io", 0, OPTION_FLAG, VIEW(then_io), NULL,
	  "each command that brings pages: who waits for it, for which part of which file",
	  .not_with = "by,sort,top,interval" },
	{ "buffer", 0, OPTION_SIZE, VIEW(buffer), "SIZE", "of the ring for events (default 1Mi)",
	  .min = 4096, .max = 1 << 30 },
	{ "pid", 'p', OPTION_NUMBER, VIEW(filter.pid), "PID", "only this process", .min = 1,
	  .max = CACHE_PID_LIMIT, .completes = "pid" },
	{ "tid", 0, OPTION_NUMBER, VIEW(tid), "TID", "only this thread", .min = 1,
	  .max = CACHE_PID_LIMIT, .completes = "pid" },
	{ "comm", 0, OPTION_STRING, VIEW(filter.comm), "NAME", "only tasks of this name",
	  .max = CACHE_COMM_LIMIT },
	{ "cgroup", 0, OPTION_STRING, VIEW(filter.cgroup), "PATH",
	  "only tasks in this cgroup or one below it", .completes = "file" },
	{ "file", 0, OPTION_STRING, VIEW(file), "PATH", "only this file or block device",
	  .completes = "file" },
	{ "device", 'd', OPTION_LIST, VIEW(filter.devices), "DEV",
	  "only files on this device, and its own cache; repeatable", .completes = "device" },
	{ "residency", 0, OPTION_FLAG, VIEW(residency), NULL,
	  "say how much of each PATH is cached now, and which parts; needs no privilege",
	  .not_with = "by,sort,top,events,then-io,pid,tid,comm,cgroup,file,device" },
	{ "PATH", 0, OPTION_OPERANDS, VIEW(paths), "PATH...", "with --residency: files",
	  .completes = "file" },
	{ 0 },
};

static const struct option_group cache_group = { "What is shown", cache_options };

/* ---- columns ---- */

#define LINE(field) offsetof(struct cache_line, field)
#define PAGES(name) offsetof(struct cache_line, n.name)

/* What a row is about. The column of enum cache_by number i is i + CACHE_FIRST_TAG. */
enum { CACHE_FIRST_TAG = 2 };
static const struct column tag_columns[] = {
	{ "span", "span", CELL_TEXT, 0, "interval, or total for the whole run", .at = LINE(span) },
	{ "time_s", "time", CELL_SECONDS, 5, "end of the span, since the start",
	  .at = LINE(time_s) },
	{ "comm", "comm", CELL_TEXT, 12, "name of the task", .at = LINE(comm) },
	{ "pid", "pid", CELL_COUNT, 7, "its process", .at = LINE(pid) },
	{ "file", "file", CELL_TEXT, 20, "path, or what it is if it is no file", .at = LINE(file) },
	{ "cgroup", "cgroup", CELL_TEXT, 10, "of the task", .at = LINE(cgroup) },
	{ "dev", "dev", CELL_TEXT, 7, "that the file is on", .at = LINE(dev) },
	{ "op", "op", CELL_TEXT, 9, "read, write, mmap, readahead, or none: the kernel for itself",
	  .at = LINE(op) },
	{ 0 },
};

static const struct column page_columns[] = {
	{ "accesses", "accesses", CELL_COUNT, 8, "pages asked for: hits + ra_hits + misses",
	  .at = PAGES(accesses) },
	{ "hits", "hits", CELL_COUNT, 8, "that were there", .at = PAGES(hits) },
	{ "ra_hits", "ra_hits", CELL_COUNT, 7, "first uses of pages that were read ahead",
	  .at = PAGES(ra_hits) },
	{ "misses", "misses", CELL_COUNT, 7, "that had to be brought", .at = PAGES(misses) },
	{ "hit_percent", "hit%", CELL_PERCENT, 6, "hits and ra_hits of the accesses",
	  .at = LINE(hit_percent) },
	{ "allocated", "alloc", CELL_COUNT, 6, "of the misses: made by a write, nothing is read",
	  .at = PAGES(allocated) },
	{ "readahead", "ahead", CELL_COUNT, 7, "pages brought before anybody asked",
	  .at = PAGES(readahead) },
	{ "unused", "unused", CELL_COUNT, 7, "of the evicted: read ahead, and never used",
	  .at = PAGES(unused) },
	{ "dirtied", "dirtied", CELL_COUNT, 7, "pages that became dirty", .at = PAGES(dirtied) },
	{ "written", "written", CELL_COUNT, 7, "pages whose writeback began",
	  .at = PAGES(written) },
	{ "evicted", "evicted", CELL_COUNT, 7, "pages that left the cache, of files that have them",
	  .at = PAGES(evicted) },
	{ "truncated", "truncated", CELL_COUNT, 9,
	  "pages that left because their file is shorter or gone", .at = PAGES(truncated) },
	{ "other", "other", CELL_COUNT, 7, "pages added for no access that is seen: metadata",
	  .at = PAGES(other) },
	{ "added", "added", CELL_COUNT, 7, "pages that came, for whatever reason",
	  .at = PAGES(added) },
	{ "removed", "removed", CELL_COUNT, 7, "pages that left: evicted + truncated",
	  .at = PAGES(removed) },
	{ "access_bytes", "accessed", CELL_BYTES, 6, "accesses in bytes, whole pages",
	  .at = LINE(access_bytes) },
	{ "hit_bytes", "hit", CELL_BYTES, 6, "hits in bytes", .at = LINE(hit_bytes) },
	{ "ra_hit_bytes", "ra_hit", CELL_BYTES, 6, "ra_hits in bytes", .at = LINE(ra_hit_bytes) },
	{ "miss_bytes", "missed", CELL_BYTES, 7, "misses in bytes", .at = LINE(miss_bytes) },
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

#define METHOD(field) offsetof(struct cache_method_line, field)
static const struct column method_columns[] = {
	{ "method", "method", CELL_TEXT, 8, "fentry, kprobes or tracepoints",
	  .at = METHOD(method) },
	{ "estimates", "estimates", CELL_TEXT, 8, "columns that may be off",
	  .at = METHOD(estimates) },
	{ "unseen", "unseen", CELL_TEXT, 8, "functions that this kernel does not show",
	  .at = METHOD(unseen) },
	{ "page_bytes", "page", CELL_BYTES, 6, "of a page", .at = METHOD(page_bytes) },
	{ 0 },
};

#define LEDGER(field) offsetof(struct cache_ledger_line, field)
static const struct column ledger_line_columns[] = {
	{ "accesses", "accesses", CELL_COUNT, 7, "= hits + ra_hits + misses",
	  .at = LEDGER(n.accesses) },
	{ "hits", "hits", CELL_COUNT, 7, "pages", .at = LEDGER(n.hits) },
	{ "ra_hits", "ra_hits", CELL_COUNT, 7, "pages", .at = LEDGER(n.ra_hits) },
	{ "misses", "misses", CELL_COUNT, 7, "pages", .at = LEDGER(n.misses) },
	{ "added", "added", CELL_COUNT, 7, "= demanded + readahead + other",
	  .at = LEDGER(n.added) },
	{ "demanded", "demanded", CELL_COUNT, 7, "pages added for an access",
	  .at = LEDGER(n.demanded) },
	{ "readahead", "readahead", CELL_COUNT, 7, "pages", .at = LEDGER(n.readahead) },
	{ "other", "other", CELL_COUNT, 7, "pages", .at = LEDGER(n.other) },
	{ "removed", "removed", CELL_COUNT, 7, "= evicted + truncated", .at = LEDGER(n.removed) },
	{ "evicted", "evicted", CELL_COUNT, 7, "pages", .at = LEDGER(n.evicted) },
	{ "truncated", "truncated", CELL_COUNT, 7, "pages", .at = LEDGER(n.truncated) },
	{ "cached_before", "before", CELL_COUNT, 7,
	  "pages of files at the start, as the kernel counts", .at = LEDGER(cached_before) },
	{ "cached_after", "after", CELL_COUNT, 7, "likewise at the end: before + added - removed",
	  .at = LEDGER(cached_after) },
	{ "lost_requests", "lost", CELL_COUNT, 7, "requests that found no place",
	  .at = LEDGER(lost.no_task) },
	{ "lost_rows", "lost", CELL_COUNT, 7, "counts that are in no row of their own",
	  .at = LEDGER(lost.no_key) },
	{ "lost_ends", "lost", CELL_COUNT, 7, "requests whose end was not seen",
	  .at = LEDGER(lost.unclosed) },
	{ "lost_skipped", "lost", CELL_COUNT, 7, "programs that the kernel did not run",
	  .at = LEDGER(lost.skipped) },
	{ "lost_readahead", "lost", CELL_COUNT, 7,
	  "pages read ahead whose first use is a plain hit", .at = LEDGER(lost.ra_lost) },
	{ "lost_events", "lost", CELL_COUNT, 7, "misses and commands that found the ring full",
	  .at = LEDGER(lost.events_lost) },
	{ "lost_commands", "lost", CELL_COUNT, 7, "bios that found no place, with --then-io",
	  .at = LEDGER(lost.no_cause) },
	{ "unaccounted", "unaccounted", CELL_COUNT, 7, "what does not add up: a defect",
	  .at = LEDGER(unaccounted) },
	{ 0 },
};

static const struct object cache_rows = { "cache", { tag_columns, page_columns } };
static const struct object cache_method = { "method", { method_columns } };
static const struct object cache_ledger = { "ledger", { ledger_line_columns } };
static const struct object *const cache_objects[] = { &cache_rows,	     &cache_event_misses,
						      &cache_event_commands, &cache_method,
						      &residency_files,	     &residency_parts,
						      &cache_ledger,	     NULL };

static int cache_run(void *state, const struct options *options, char **argv);

static const struct option_group *const cache_groups[] = { &run_group, &output_group, &write_group,
							   &read_group, NULL };
const struct cmd cmd_cache = {
	.name = "cache",
	.group = "cache",
	.brief = "does the page cache help? Hits, misses, readahead by process and file",
	.synopsis = "[options] [PATH...] [-- COMMAND...]",
	.groups = cache_groups,
	.own = &cache_group,
	.view_size = sizeof(struct cache_view),
	.objects = cache_objects,
	.run = cache_run,
	.needs = NEED_PROGRAMS | NEED_ACCESSES,
};

/* ---- the first line ---- */

static const struct cache_way {
	const char *word, *line;
	const char *estimates; /* keys of columns */
} cache_ways[] = {
	[CACHE_BY_FENTRY] = { "fentry",
			      "page cache by fentry: start and end of every request; exact but for "
			      "columns with ~",
			      "unused" },
	[CACHE_BY_KPROBES] = { "kprobes",
			       "page cache by kprobes: every read and fault, writes as they were "
			       "asked; exact but for columns with ~",
			       "unused" },
	[CACHE_BY_TRACEPOINTS] = { "tracepoints",
				   "page cache by tracepoints alone: this kernel shows which pages "
				   "come, go and become dirty, no accesses",
				   "" },
};

static const struct cache_way *cache_way(const struct session *s)
{
	return &cache_ways[cache_source__about(s)->method];
}

static bool cache_sees_accesses(const struct session *s)
{
	return cache_source__about(s)->method != CACHE_BY_TRACEPOINTS;
}

static void cache_show_method(const struct session *s)
{
	const char *unseen = cache_source__about(s)->unseen;
	const struct cache_method_line line = {
		.method = cache_way(s)->word,
		.estimates = cache_way(s)->estimates,
		.unseen = unseen,
		.page_bytes = cache_source__about(s)->page_bytes,
	};
	const struct column *columns[OBJECT_COLUMNS];
	struct table *table;

	if (s->format != TABLE_JSON) {
		if (s->format == TABLE_TEXT)
			fprintf(s->out, "%s\n", cache_way(s)->line);
		else
			log_note("%s", cache_way(s)->line);
		if (*unseen && cache_sees_accesses(s))
			log_note("not seen on this kernel: %s", unseen);
		return;
	}
	table = table__new(s->out, s->format, cache_method.type, columns,
			   object__columns(&cache_method, columns));
	if (table)
		table__row(table, &line);
	table__free(table);
}

/* ---- which columns ---- */

static bool is_of_accesses(const struct column *c)
{
	return c->at == PAGES(accesses) || c->at == PAGES(hits) || c->at == PAGES(ra_hits) ||
	       c->at == PAGES(misses) || c->at == LINE(hit_percent) || c->at == PAGES(allocated) ||
	       c->at == PAGES(readahead) || c->at == PAGES(unused) || c->at == LINE(miss_bytes);
}

/* What fits: with --by rows have names, and what others did to the pages is left to JSON. */
static bool cache_text_has(const struct cache_view *v, const struct session *s,
			   const struct column *c)
{
	static const size_t always[] = { PAGES(accesses),  PAGES(hits),	      PAGES(ra_hits),
					 PAGES(misses),	   LINE(hit_percent), LINE(miss_bytes),
					 PAGES(readahead), PAGES(dirtied) };
	static const size_t rest[] = { PAGES(unused), PAGES(written), PAGES(evicted) };
	bool asked = !strcmp(c->key, sort_words[v->sort]);

	if (!cache_sees_accesses(s))
		return !is_of_accesses(c) && (c->at == PAGES(added) || c->at == PAGES(removed) ||
					      c->at == PAGES(dirtied) || c->at == PAGES(evicted) ||
					      c->at == PAGES(truncated));
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

static bool cache_has(const struct cache_view *v, const struct session *s, size_t i,
		      const struct column *c)
{
	if (i >= CACHE_FIRST_TAG && i < CACHE_FIRST_TAG + NR_CACHE_BY)
		return v->mask >> (i - CACHE_FIRST_TAG) & 1;
	if (i < CACHE_FIRST_TAG)
		return i || s->format != TABLE_TEXT;
	return s->format != TABLE_TEXT || cache_text_has(v, s, c);
}

static bool cache_is_estimate(const struct session *s, const struct column *c)
{
	struct cache_losses lost;

	cache_source__losses(s, &lost);
	if (!strcmp(c->key, "ra_hits"))
		return lost.ra_lost;
	return !strcmp(c->key, "unused");
}

static void cache_show_column(struct cache_view *v, const struct session *s, size_t nr,
			      const struct column *column)
{
	v->columns[nr] = *column;
	v->shown[nr] = &v->columns[nr];
	if (!cache_is_estimate(s, column))
		return;
	snprintf(v->marks[nr], sizeof(v->marks[nr]), "~%s", column->header);
	v->columns[nr].header = v->marks[nr];
}

/* Names of files are long: in text they are last. */
static int cache_make_table(struct cache_view *v, const struct session *s)
{
	const struct column *all[OBJECT_COLUMNS], *file = NULL;
	size_t nr_all = object__columns(&cache_rows, all), nr = 0;

	table__free(v->table);
	for (size_t i = 0; i < nr_all; i++) {
		if (!cache_has(v, s, i, all[i]))
			continue;
		if (s->format == TABLE_TEXT && all[i]->at == LINE(file))
			file = all[i];
		else
			cache_show_column(v, s, nr++, all[i]);
	}
	if (file)
		cache_show_column(v, s, nr++, file);
	v->table = table__new(s->out, s->format, cache_rows.type, v->shown, nr);
	return v->table ? 0 : log_err(-ENOMEM, "out of memory");
}

/* ---- rows ---- */

static void cache_label(struct cache_view *v, const struct session *s, const struct cache_tags *t,
			struct cache_line *line)
{
	line->pid = CELL_NO_NUMBER;
	if (!t)
		return;
	if (t->other) {
		line->comm = line->file = line->cgroup = line->dev = line->op = "other";
		return;
	}
	if (v->mask >> CACHE_BY_PID & 1)
		line->pid = t->pid;
	snprintf(v->comm_label, sizeof(v->comm_label), "%s", t->comm);
	line->comm = v->comm_label;
	line->op = t->op >= 0 ? op_words[t->op] : NULL;
	if (v->mask >> CACHE_BY_FILE & 1)
		line->file = session__file(s, t->inode, io_file_place(t->dev, t->nth));
	if (v->mask >> CACHE_BY_CGROUP & 1)
		line->cgroup = session__cgroup_path(s, t->cgroup, v->cgroup_label,
						    sizeof(v->cgroup_label));
	if (v->mask >> CACHE_BY_DEV & 1)
		line->dev = session__disk(s, t->dev, v->dev_label, sizeof(v->dev_label));
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

/* tags NULL: of everything. */
static void cache_show_row(struct cache_view *v, const struct session *s,
			   const struct cache_sum *sum, const struct cache_tags *tags, bool whole)
{
	struct cache_line line = { .span = whole ? "total" : "interval", .time_s = s->elapsed_s };
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
	if (!cache_sees_accesses(s))
		cache_hide_accesses(&line);
	cache_label(v, s, tags, &line);
	table__row(v->table, &line);
}

static int cache_show_rows(struct cache_view *v, const struct session *s, bool whole)
{
	const struct cache_sum **order = calloc(v->rows.nr + 1, sizeof(*order));
	size_t most = v->top.given ? v->top.value : CACHE_TOP, nr;

	if (!order)
		return log_err(-ENOMEM, "out of memory");
	nr = cache_table__sort(&v->rows, (enum cache_sort)v->sort, whole, order);
	for (size_t i = 0; i < nr && i < most; i++)
		cache_show_row(v, s, order[i], &order[i]->tags, whole);
	if (nr > most && s->format == TABLE_TEXT)
		fprintf(s->out, "and %zu more; --top shows them\n", nr - most);
	free(order);
	return 0;
}

static void cache_take_row(void *arg, const struct cache_tags *tags,
			   const uint64_t counts[NR_CACHE_COUNTS])
{
	struct cache_view *v = arg;
	struct cache_tags masked = *tags; /* a capture tells apart more than was asked */

	cache_tags__mask(&masked, v->mask);
	if (!v->err && cache_table__add(&v->rows, &masked, counts))
		v->err = log_err(-ENOMEM, "out of memory");
}

static int cache_read_rows(struct cache_view *v, const struct session *s)
{
	cache_table__begin(&v->rows);
	cache_source__read(s, cache_take_row, v);
	return v->err;
}

/* ---- each miss ---- */

static int cache_on_miss(void *state, struct session *s, const struct cache_event *e)
{
	const struct cache_command *command = (const struct cache_command *)e;
	const struct option_number *count = &s->options->run.count;
	char dev[64], disk[64];
	struct cache_view *v = state;
	const bool is_command = e->told == CACHE_TOLD_COMMAND;
	const struct cache_event_names names = {
		.file = session__file(s, e->inode, io_file_place(e->dev, e->nth)),
		.dev = session__disk(s, e->dev, dev, sizeof(dev)),
		.disk = is_command ? session__disk(s, command->disk, disk, sizeof(disk)) : NULL,
	};

	if (!cache_event_table__shows(v->told, e))
		return 0;
	cache_event_table__add(v->told, e, &names);
	if (count->given && is_command == v->then_io && ++v->nr_told >= count->value)
		session__stop(s);
	return 0;
}

/* ---- the ledger ---- */

static void cache_tell_loss(uint64_t nr, const char *words)
{
	if (nr)
		log_warn("lost %" PRIu64 ": %s", nr, words);
}

static void cache_tell_losses(const struct cache_ledger *l)
{
	const struct cache_losses *lost = &l->losses;

	cache_tell_loss(lost->no_task, "requests found their table full");
	cache_tell_loss(lost->no_key, "counts are in the row other: no room for another key");
	cache_tell_loss(lost->unclosed, "requests whose end was not seen");
	cache_tell_loss(lost->skipped, "the kernel was inside the same program on that CPU");
	cache_tell_loss(lost->events_lost, "events found the ring full; try --buffer 16M");
	cache_tell_loss(lost->no_cause, "bios found no place: what their commands brought is not "
					"shown");
	cache_tell_loss(l->unaccounted, "pages are unaccounted");
	if (lost->ra_lost)
		log_note("ra_hits are ~: the first use of %" PRIu64
			 " pages that were read ahead is a plain hit",
			 lost->ra_lost);
	if (lost->no_file)
		log_note("%" PRIu64 " times a file's name found no room: it is shown by its inode",
			 lost->no_file);
}

static void cache_say_ledger(const struct cache_ledger *l, bool accesses)
{
	char kernels[64] = "";

	if (l->change_known)
		snprintf(kernels, sizeof(kernels), "; the kernel counts %+" PRId64, l->change);
	if (accesses)
		log_note("accesses %" PRIu64 " = hits %" PRIu64 " + ra_hits %" PRIu64
			 " + misses %" PRIu64,
			 l->sums.accesses, l->sums.hits, l->sums.ra_hits, l->sums.misses);
	log_note("pages added %" PRIu64 " - removed %" PRIu64 " = %+" PRId64 "%s", l->sums.added,
		 l->sums.removed, l->grown, kernels);
}

static void cache_print_ledger(const struct session *s, const struct cache_ledger *l)
{
	const struct cache_ledger_line line = {
		.n = l->sums,
		.lost = l->losses,
		.cached_before = cache_source__about(s)->cached_before,
		.cached_after = cache_source__about(s)->cached_after,
		.unaccounted = l->unaccounted,
	};
	const struct column *columns[OBJECT_COLUMNS];
	struct table *table;

	if (s->format != TABLE_JSON)
		return;
	table = table__new(s->out, s->format, cache_ledger.type, columns,
			   object__columns(&cache_ledger, columns));
	if (table)
		table__row(table, &line);
	table__free(table);
}

static void cache_end_ledger(struct cache_view *v, struct session *s)
{
	const struct cache_about *about = cache_source__about(s);
	struct cache_ledger l = { 0 };

	cache_sum__take(&v->rows.total, true, &l.sums);
	cache_source__losses(s, &l.losses);
	/* Tracepoints show pages of tmpfs leave, but not come. */
	l.change_known = about->cached_before != UINT64_MAX && about->cached_after != UINT64_MAX &&
			 !about->filtered && cache_sees_accesses(s);
	l.change = (int64_t)(about->cached_after - about->cached_before);
	cache_ledger__settle(&l);
	cache_print_ledger(s, &l);
	cache_tell_losses(&l);
	cache_say_ledger(&l, cache_sees_accesses(s));
	s->incomplete |= l.lost || l.unaccounted;
}

/* ---- the run ---- */

static struct cache_wants cache_view_wants(void *state, const struct options *options)
{
	struct cache_view *v = state;

	(void)options;
	return (struct cache_wants){
		.filter = &v->filter,
		.tid = v->tid,
		.file = v->file,
		.by = v->mask,
		.events = v->events,
		.then_io = v->then_io,
		.buffer_bytes = v->buffer.given ? v->buffer.value : 0,
	};
}

static int cache_on_start(void *state, struct session *s)
{
	struct cache_view *v = state;

	if (v->events)
		v->told = cache_event_table__new(s->out, s->format, v->then_io, s->start_ns,
						 cache_source__about(s)->page_bytes);
	if (v->events && !v->told)
		return log_err(-ENOMEM, "out of memory");
	cache_show_method(s);
	return cache_make_table(v, s);
}

static int cache_on_tick(void *state, struct session *s)
{
	struct cache_view *v = state;
	int err = cache_read_rows(v, s);

	if (err)
		return err;
	if (v->mask || v->intervals++ % CACHE_HEADING == 0)
		table__heading_again(v->table);
	if (!v->mask) {
		cache_show_row(v, s, &v->rows.total, NULL, false);
		return 0;
	}
	if (s->format == TABLE_TEXT)
		fputc('\n', s->out);
	return cache_show_rows(v, s, false);
}

/* The total is the first row; what --by tells apart follows. */
static int cache_on_end(void *state, struct session *s)
{
	struct cache_view *v = state;
	int err = cache_read_rows(v, s);

	if (!err && s->format == TABLE_TEXT) { /* with ~ where it is an estimate only now */
		fprintf(s->out, "\nin %.1f s:\n", s->elapsed_s);
		err = cache_make_table(v, s);
	}
	if (err)
		return err;
	if (!v->events || s->format != TABLE_CSV)
		cache_show_row(v, s, &v->rows.total, NULL, true);
	err = v->mask ? cache_show_rows(v, s, true) : 0;
	if (!err)
		cache_end_ledger(v, s);
	return err;
}

static const struct session_view cache_session = {
	.wants_cache = cache_view_wants,
	.on_start = cache_on_start,
	.on_tick = cache_on_tick,
	.on_miss = cache_on_miss,
	.on_end = cache_on_end,
};

static uint32_t cache_by_mask(const struct cache_view *v)
{
	uint32_t mask = 0;

	for (size_t i = 0; i < v->by.nr; i++)
		for (int by = 0; by < NR_CACHE_BY; by++)
			if (!strcmp(v->by.words[i], by_words[by]))
				mask |= 1u << by;
	return mask;
}

/* ---- --residency ---- */

/* Every file, even if one of them cannot be looked at. */
static int cache_show_files(const struct cache_view *v, struct residency_table *table, char **argv)
{
	struct residency residency;
	int err, failed = 0;

	for (size_t i = 0; i < v->paths.nr || *argv; i++) {
		const char *path = i < v->paths.nr ? v->paths.words[i] : *argv++;

		err = residency__read(&residency, path);
		if (!err)
			residency_table__add(table, path, &residency);
		failed = failed ? failed : err;
	}
	return failed;
}

static int cache_residency(const struct cache_view *v, const struct options *options, char **argv)
{
	const struct output_options *o = &options->output;
	struct residency_table *table;
	struct output output;
	int err;

	if (!v->paths.nr && !argv[0])
		return log_err(-EINVAL, "--residency needs a file: iosonar cache --residency PATH");
	err = output__open(&output, o->path, NULL);
	if (err)
		return err;
	table = residency_table__new(output.file, (enum table_format)o->format,
				     chart__style_of(output.file, o->color).utf8);
	err = table ? cache_show_files(v, table, argv) : log_err(-ENOMEM, "out of memory");
	residency_table__free(table);
	return output__finish(&output, err);
}

static int cache_run(void *state, const struct options *options, char **argv)
{
	struct cache_view *v = state;
	int err;

	if (v->residency)
		return cache_residency(v, options, argv);
	if (v->paths.nr)
		return log_err(
			-EINVAL,
			"'%s': a PATH is for --residency; --file %s counts this file's pages",
			v->paths.words[0], v->paths.words[0]);
	v->events |= v->then_io; /* a command is told with the miss that waits for it */
	if (v->buffer.given && !v->events)
		return log_err(-EINVAL, "--buffer is about --events: it needs that");
	if (options->file.zstd)
		return log_err(-EINVAL, "--zstd is about records of commands: rows are small");
	v->mask = cache_by_mask(v);
	err = session__run(&cache_session, v, options, argv);
	cache_table__free(&v->rows);
	table__free(v->table);
	cache_event_table__free(v->told);
	return err;
}
