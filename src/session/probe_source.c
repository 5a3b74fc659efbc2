/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/probe_source.h"

#include <errno.h>
#include <inttypes.h>
#include "base/log.h"
#include "session/source.h"

struct run *probe_source__run(const struct session *s)
{
	return s->options->file.read.nr ? NULL : s->inside->data;
}

static const struct {
	enum probe_counter counter;
	const char *words;
	bool is_loss;
} probe_ends[] = {
	{ PROBE_REFUSED, "refused by if", false },
	{ PROBE_ADDED, "added", false },
	{ PROBE_SENT, "sent", false },
	{ PROBE_BEGUN, "starts", false },
	{ PROBE_NO_START, "ends without a start", false },
	{ PROBE_DROPPED, "their objects began while the rate was above --max-rate", true },
	{ PROBE_LOST_KEY, "the table of keys or objects was full", true },
	{ PROBE_LOST_RING, "the ring was full", true },
	{ PROBE_LOST_START, "the table of starts was full", true },
	{ PROBE_HELD,
	  "a text was not in memory, and the system call had not ended when the run did", true },
};
enum { NR_PROBE_ENDS = sizeof(probe_ends) / sizeof(probe_ends[0]) };

struct probe_ledger {
	uint64_t hits, refused, added, sent, begun, no_start, lost_key, lost_ring, lost_start,
		lost_text, dropped;
	uint64_t skipped, omitted, restarted, divisions, faults, unaccounted;
	const char *exact;
};

#define FIELD(name) offsetof(struct probe_ledger, name)
static const struct column probe_ledger_columns[] = {
	{ "hits", "hits", CELL_COUNT, 7, "number of times that a program ran", .at = FIELD(hits) },
	{ "refused", "refused", CELL_COUNT, 7, "hits for which the condition was not true",
	  .at = FIELD(refused) },
	{ "added", "added", CELL_COUNT, 7, "hits added to a row", .at = FIELD(added) },
	{ "sent", "sent", CELL_COUNT, 7, "hits sent as a record each", .at = FIELD(sent) },
	{ "begun", "begun", CELL_COUNT, 7, "starts of pairs", .at = FIELD(begun) },
	{ "no_start", "no start", CELL_COUNT, 7, "ends without a start that was seen",
	  .at = FIELD(no_start) },
	{ "restarted", "restarted", CELL_COUNT, 7, "starts that replaced an open start",
	  .at = FIELD(restarted) },
	{ "lost_key", "lost", CELL_COUNT, 7,
	  "hits lost because the table of keys or objects was full", .at = FIELD(lost_key) },
	{ "lost_ring", "lost", CELL_COUNT, 7, "hits lost because the ring was full",
	  .at = FIELD(lost_ring) },
	{ "lost_start", "lost", CELL_COUNT, 7, "starts lost because the table of starts was full",
	  .at = FIELD(lost_start) },
	{ "lost_text", "lost", CELL_COUNT, 7,
	  "hits lost because a text was not in memory and the system call had not ended",
	  .at = FIELD(lost_text) },
	{ "dropped", "dropped", CELL_COUNT, 7,
	  "hits lost because their objects began while the rate was above --max-rate",
	  .at = FIELD(dropped) },
	{ "skipped", "skipped", CELL_COUNT, 7,
	  "runs of programs that the kernel skipped and counted", .at = FIELD(skipped) },
	{ "omitted", "omitted", CELL_COUNT, 7,
	  "returns of user functions nested deeper than the kernel reports", .at = FIELD(omitted) },
	{ "divisions_by_zero", "divisions", CELL_COUNT, 7, "divisions by zero; each gave 0",
	  .at = FIELD(divisions) },
	{ "faults", "faults", CELL_COUNT, 7, "reads of inaccessible memory; each gave 0 or no text",
	  .at = FIELD(faults) },
	{ "unaccounted", "unaccounted", CELL_COUNT, 7, "hits without an outcome: a defect",
	  .at = FIELD(unaccounted) },
	{ "exact", "exact", CELL_TEXT, 3,
	  "false: the kernel may have skipped programs without counting them", .at = FIELD(exact),
	  .form = &form_truth },
	{ 0 },
};
const struct object probe_ledger_object = { "event_ledger", { probe_ledger_columns } };

static uint64_t probe_unaccounted(const struct run_counts *c)
{
	uint64_t ends = 0;

	for (int i = 0; i < NR_PROBE_ENDS; i++)
		ends += c->counters[probe_ends[i].counter];
	return c->counters[PROBE_HITS] - ends;
}

static void probe_show_ledger(const struct session *s, const struct run_counts *c)
{
	const uint64_t *n = c->counters;
	const struct probe_ledger ledger = {
		.hits = n[PROBE_HITS],
		.refused = n[PROBE_REFUSED],
		.added = n[PROBE_ADDED],
		.sent = n[PROBE_SENT],
		.begun = n[PROBE_BEGUN],
		.no_start = n[PROBE_NO_START],
		.restarted = n[PROBE_RESTARTED],
		.lost_key = n[PROBE_LOST_KEY],
		.lost_ring = n[PROBE_LOST_RING],
		.lost_start = n[PROBE_LOST_START],
		.lost_text = n[PROBE_HELD],
		.dropped = n[PROBE_DROPPED],
		.skipped = c->skipped,
		.omitted = c->omitted,
		.divisions = n[PROBE_DIVISIONS],
		.faults = n[PROBE_FAULTS],
		.unaccounted = probe_unaccounted(c),
		.exact = c->is_exact ? "yes" : "no",
	};
	const struct column *columns[OBJECT_COLUMNS];
	size_t nr = object__columns(&probe_ledger_object, columns);
	struct table *table;

	if (s->format != TABLE_JSON)
		return;
	table = table__new(s->out, s->format, probe_ledger_object.type, columns, nr);
	if (table)
		table__row(table, &ledger);
	else
		s->inside->lost = log_err(-ENOMEM, "out of memory: the output has no ledger") < 0;
	table__free(table);
}

/* "hits 1,234 = added 1,230 + refused by if 4; nothing lost" */
static void probe_say_ledger(const struct run_counts *c, uint64_t lost)
{
	char text[512];
	size_t len = 0;
	const char *sign = " =";

	len += (size_t)snprintf(text, sizeof(text), "hits %" PRIu64, c->counters[PROBE_HITS]);
	for (int i = 0; i < NR_PROBE_ENDS; i++) {
		uint64_t n = c->counters[probe_ends[i].counter];

		if (!n || probe_ends[i].is_loss)
			continue;
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %s %" PRIu64, sign,
					probe_ends[i].words, n);
		sign = " +";
	}
	log_note("%s; %s", text, lost ? "INCOMPLETE" : "nothing lost");
}

/* The reasons why counts are too low, each by name. Returns how many were lost. */
static uint64_t probe_tell_losses(const struct run_counts *c)
{
	uint64_t lost = 0;

	for (int i = 0; i < NR_PROBE_ENDS; i++) {
		uint64_t n = c->counters[probe_ends[i].counter];

		if (!n || !probe_ends[i].is_loss)
			continue;
		log_warn("lost %" PRIu64 ": %s", n, probe_ends[i].words);
		lost += n;
	}
	if (c->skipped)
		log_warn("lost %" PRIu64 ": the kernel was running another program on that CPU",
			 c->skipped);
	if (c->omitted)
		log_warn("lost %" PRIu64 ": returns of calls nested deeper than %d, which the "
			 "kernel does not report",
			 c->omitted, PROBE_NEST_MOST);
	if (probe_unaccounted(c))
		log_warn("unaccounted %" PRId64 ": hits without an outcome",
			 (int64_t)probe_unaccounted(c));
	return lost + c->skipped + c->omitted + probe_unaccounted(c);
}

static void probe_tell_oddities(const struct run_counts *c)
{
	const uint64_t *n = c->counters;

	if (n[PROBE_DIVISIONS])
		log_note("%" PRIu64 " divisions by zero gave 0", n[PROBE_DIVISIONS]);
	if (n[PROBE_FAULTS])
		log_note("%" PRIu64 " reads of inaccessible memory gave 0 or no text",
			 n[PROBE_FAULTS]);
	if (n[PROBE_RESTARTED])
		log_note("%" PRIu64 " starts replaced an open start with the same key; the older "
			 "starts are not counted",
			 n[PROBE_RESTARTED]);
	if (n[PROBE_NO_KSTACK])
		log_note("%" PRIu64 " kernel stacks are missing", n[PROBE_NO_KSTACK]);
	if (n[PROBE_NO_USTACK])
		log_note("%" PRIu64 " user stacks are missing", n[PROBE_NO_USTACK]);
	if (!c->is_exact)
		log_note("counts are approximate (~): %s", c->why);
}

void probe_source__tell_hits(struct session *s, const struct run_counts *counts)
{
	uint64_t lost;

	probe_show_ledger(s, counts);
	lost = probe_tell_losses(counts);
	probe_tell_oddities(counts);
	probe_say_ledger(counts, lost);
	s->inside->lost |= lost > 0;
}
