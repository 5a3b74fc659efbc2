/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/cache_account.h"

#include <inttypes.h>
#include "base/log.h"
#include "session/cache_source.h"

/* The first line of the output. */
struct cache_method_line {
	const char *method, *estimates, *unseen;
	uint64_t page_bytes;
};

struct cache_ledger_line {
	struct cache_sums n;
	struct cache_losses lost;
	uint64_t cached_before, cached_after, unaccounted;
};

static const struct form method_names_form = { FORM_TEXTS, .separator = ", " };

#define METHOD(field) offsetof(struct cache_method_line, field)
static const struct column method_columns[] = {
	{ "method", "method", CELL_TEXT, 8, "fentry, kprobes or tracepoints",
	  .at = METHOD(method) },
	{ "estimates", "estimates", CELL_TEXT, 8, "columns that are approximate",
	  .at = METHOD(estimates), .form = &method_names_form },
	{ "unseen", "unseen", CELL_TEXT, 8, "functions that are not available on this kernel",
	  .at = METHOD(unseen), .form = &method_names_form },
	{ "page_bytes", "page", CELL_BYTES, 6, "size of a page", .at = METHOD(page_bytes) },
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
	  "pages of files in the cache at the start, as the kernel counts",
	  .at = LEDGER(cached_before) },
	{ "cached_after", "after", CELL_COUNT, 7,
	  "pages of files in the cache at the end, as the kernel counts; expected: before + added "
	  "- removed",
	  .at = LEDGER(cached_after) },
	{ "lost_requests", "lost", CELL_COUNT, 7, "requests dropped because their table was full",
	  .at = LEDGER(lost.no_task) },
	{ "lost_rows", "lost", CELL_COUNT, 7,
	  "counts in the row other because the table of rows was full", .at = LEDGER(lost.no_key) },
	{ "lost_ends", "lost", CELL_COUNT, 7, "requests with no end seen",
	  .at = LEDGER(lost.unclosed) },
	{ "lost_skipped", "lost", CELL_COUNT, 7, "program runs skipped by the kernel",
	  .at = LEDGER(lost.skipped) },
	{ "lost_readahead", "lost", CELL_COUNT, 7,
	  "pages read ahead that count as hits at their first use", .at = LEDGER(lost.ra_lost) },
	{ "lost_events", "lost", CELL_COUNT, 7,
	  "misses and commands dropped because the ring was full", .at = LEDGER(lost.events_lost) },
	{ "lost_commands", "lost", CELL_COUNT, 7, "bios that could not be followed, with --then-io",
	  .at = LEDGER(lost.no_cause) },
	{ "unaccounted", "unaccounted", CELL_COUNT, 7,
	  "difference that does not balance; not 0: a defect of iosonar",
	  .at = LEDGER(unaccounted) },
	{ 0 },
};

const struct object cache_account_method = { "method", { method_columns } };
const struct object cache_account_ledger = { "ledger", { ledger_line_columns } };

/* ---- the first line ---- */

static const struct cache_way {
	const char *word, *line;
	const char *estimates; /* keys of columns */
} cache_ways[] = {
	[CACHE_BY_FENTRY] = { "fentry",
			      "page cache by fentry: start and end of every request; ~ marks "
			      "estimates",
			      "unused" },
	[CACHE_BY_KPROBES] = { "kprobes",
			       "page cache by kprobes: every read and fault, writes as requested; "
			       "~: estimates",
			       "unused" },
	[CACHE_BY_TRACEPOINTS] = { "tracepoints",
				   "page cache by tracepoints: pages added, removed, dirtied; "
				   "accesses are not seen",
				   "" },
};

static const struct cache_way *cache_way(const struct session *s)
{
	return &cache_ways[cache_source__about(s)->method];
}

bool cache_account__sees_accesses(const struct session *s)
{
	return cache_source__about(s)->method != CACHE_BY_TRACEPOINTS;
}

void cache_account__show_method(const struct session *s)
{
	const char *unseen = cache_source__about(s)->unseen;
	const struct cache_method_line line = {
		.method = cache_way(s)->word,
		.estimates = cache_way(s)->estimates,
		.unseen = unseen,
		.page_bytes = cache_source__about(s)->page_bytes,
	};

	if (s->format != TABLE_JSON) {
		if (s->format == TABLE_TEXT)
			fprintf(s->out, "%s\n", cache_way(s)->line);
		else
			log_note("%s", cache_way(s)->line);
		if (*unseen && cache_account__sees_accesses(s))
			log_note("not available on this kernel: %s", unseen);
		return;
	}
	object__put(&cache_account_method, s->out, s->format, &line);
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

	cache_tell_loss(lost->no_task, "requests dropped: their table was full");
	cache_tell_loss(lost->no_key, "counts in the row other: the table of rows was full");
	cache_tell_loss(lost->unclosed, "requests with no end seen");
	cache_tell_loss(lost->skipped, "program skipped by the kernel (recursion_misses)");
	cache_tell_loss(lost->events_lost, "events dropped: the ring was full; try --buffer 16M");
	cache_tell_loss(lost->no_cause,
			"bios not followed: the pages that their commands brought are not shown");
	cache_tell_loss(l->unaccounted, "pages unaccounted for");
	if (lost->ra_lost)
		log_note("ra_hits are approximate (~): the first use of %" PRIu64
			 " pages that were read ahead counts as a hit",
			 lost->ra_lost);
	if (lost->no_file)
		log_note("%" PRIu64
			 " times the table of file names was full: the file is shown by its inode",
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

	if (s->format == TABLE_JSON)
		object__put(&cache_account_ledger, s->out, s->format, &line);
}

void cache_account__close(const struct cache_sum *total, struct session *s)
{
	const struct cache_about *about = cache_source__about(s);
	struct cache_ledger l = { 0 };

	cache_sum__take(total, true, &l.sums);
	cache_source__losses(s, &l.losses);
	/* Tracepoints show pages of tmpfs that leave, but not those that are added. */
	l.change_known = about->cached_before != UINT64_MAX && about->cached_after != UINT64_MAX &&
			 !about->filtered && cache_account__sees_accesses(s);
	l.change = (int64_t)(about->cached_after - about->cached_before);
	cache_ledger__settle(&l);
	cache_print_ledger(s, &l);
	cache_tell_losses(&l);
	cache_say_ledger(&l, cache_account__sees_accesses(s));
	s->incomplete |= l.lost || l.unaccounted;
}
