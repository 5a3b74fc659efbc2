/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * probe_live.c: a run of generated programs: they are attached, the view reads their sums at
 * every tick and gets their records in order of time, and at the end the ledger says what became of
 * every hit: hits = refused + added + sent + begun + without a start + lost.
 */
#include <errno.h>
#include <inttypes.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/privilege.h"
#include "session/source.h"

static const uint64_t probe_poll_ns = 20000000;	  /* a line is seen within 50 ms */
static const uint64_t probe_window_ns = 20000000; /* other CPUs' records may be so late */
/* Of calls the order is all: a program that was interrupted sends after all that came meanwhile,
 * and a host may let a guest's CPU wait for 50 ms in the midst of it. */
static const uint64_t probe_calls_window_ns = 250000000;
static const uint64_t probe_glance_ns = 50000000; /* a process has to live so long to be named */

/* ---- records ---- */

static int probe_hand_on(void *arg, const struct probe_record *record, const void *values)
{
	struct session *s = arg;

	return s->inside->stopped ? 0
				  : s->inside->view->on_hit(s->inside->state, s, record, values);
}

static int probe_on_poll(void *arg)
{
	struct session *s = arg;
	const bool is_calls = s->inside->view->asks(s->inside->state)->plan.is_calls;
	const uint64_t window_ns = is_calls ? probe_calls_window_ns : probe_window_ns;
	int err = run__records(s->inside->probes, clock__mono_ns() - window_ns, probe_hand_on, s);

	return err ?: session_flush(s);
}

static int probe_on_glance(void *arg)
{
	struct session *s = arg;

	return s->inside->view->on_glance(s->inside->state, s);
}

/* Stacks in rows are named when the rows are shown, which may be long after. */
static bool probe_glances(const struct session *s)
{
	const struct session_view *view = s->inside->view;

	return view->on_glance && view->asks(s->inside->state)->plan.user_stack;
}

/* ---- time ---- */

static void probe_set_time(struct session *s)
{
	session_set_time(s, clock__mono_ns());
	s->span_s = s->elapsed_s;
}

static int probe_on_tick(void *arg)
{
	struct session *s = arg;
	const struct option_number *count = &s->options->run.count;
	int err;

	probe_set_time(s);
	err = session_tick(s);
	if (count->given && s->inside->ticks >= count->value && !s->inside->view->counts_records)
		loop__stop(s->inside->loop);
	return err;
}

static int probe_time_is_up(void *arg)
{
	loop__stop(((struct session *)arg)->inside->loop);
	return 0;
}

static bool probe_ticks(const struct session *s)
{
	const struct run_options *run = &s->options->run;
	const struct session_view *view = s->inside->view;

	if (!view->on_tick)
		return false;
	return !view->only_at_end || run->interval_ns.given || run->count.given;
}

static int probe_arm(struct session *s)
{
	const struct option_number *duration = &s->options->run.duration_ns;
	struct loop *loop = s->inside->loop;
	int err = 0;

	if (probe_ticks(s))
		err = loop__every(loop, session_interval(s), probe_on_tick, s);
	if (!err && s->inside->view->on_hit)
		err = loop__every(loop, probe_poll_ns, probe_on_poll, s);
	if (!err && probe_glances(s))
		err = loop__every(loop, probe_glance_ns, probe_on_glance, s);
	if (!err && duration->given)
		err = loop__after(loop, duration->value, probe_time_is_up, s);
	return err;
}

/* ---- the ledger ---- */

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
	{ PROBE_DROPPED, "their objects came when there were more than --max-rate", true },
	{ PROBE_LOST_KEY, "no room for another key", true },
	{ PROBE_LOST_RING, "the ring was full", true },
	{ PROBE_LOST_START, "no room for another start", true },
};
enum { NR_PROBE_ENDS = sizeof(probe_ends) / sizeof(probe_ends[0]) };

struct probe_ledger {
	uint64_t hits, refused, added, sent, begun, no_start, lost_key, lost_ring, lost_start,
		dropped;
	uint64_t skipped, omitted, restarted, divisions, faults, unaccounted;
	const char *exact;
};

#define FIELD(name) offsetof(struct probe_ledger, name)
static const struct column probe_ledger_columns[] = {
	{ "hits", "hits", CELL_COUNT, 7, "times that a program ran", .at = FIELD(hits) },
	{ "refused", "refused", CELL_COUNT, 7, "the condition was not true", .at = FIELD(refused) },
	{ "added", "added", CELL_COUNT, 7, "to a row", .at = FIELD(added) },
	{ "sent", "sent", CELL_COUNT, 7, "a line each", .at = FIELD(sent) },
	{ "begun", "begun", CELL_COUNT, 7, "pairs", .at = FIELD(begun) },
	{ "no_start", "no start", CELL_COUNT, 7, "ends whose start was not seen",
	  .at = FIELD(no_start) },
	{ "restarted", "restarted", CELL_COUNT, 7, "starts that replaced an open one",
	  .at = FIELD(restarted) },
	{ "lost_key", "lost", CELL_COUNT, 7, "no room for another key", .at = FIELD(lost_key) },
	{ "lost_ring", "lost", CELL_COUNT, 7, "the ring was full", .at = FIELD(lost_ring) },
	{ "lost_start", "lost", CELL_COUNT, 7, "no room for another start",
	  .at = FIELD(lost_start) },
	{ "dropped", "dropped", CELL_COUNT, 7,
	  "with their object, which came when there were more than --max-rate",
	  .at = FIELD(dropped) },
	{ "skipped", "skipped", CELL_COUNT, 7, "programs that the kernel did not run, as it counts",
	  .at = FIELD(skipped) },
	{ "omitted", "omitted", CELL_COUNT, 7,
	  "returns of user functions that were nested deeper than the kernel reports",
	  .at = FIELD(omitted) },
	{ "divisions_by_zero", "divisions", CELL_COUNT, 7, "each gave 0", .at = FIELD(divisions) },
	{ "faults", "faults", CELL_COUNT, 7, "reads of memory that was not there: each gave 0",
	  .at = FIELD(faults) },
	{ "unaccounted", "unaccounted", CELL_COUNT, 7, "hits with no end: a defect",
	  .at = FIELD(unaccounted) },
	{ "exact", "exact", CELL_TEXT, 3,
	  "no: the kernel may have skipped programs without counting that", .at = FIELD(exact) },
	{ 0 },
};
const struct object session_probe_ledger = { "event_ledger", { probe_ledger_columns } };

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
		.dropped = n[PROBE_DROPPED],
		.skipped = c->skipped,
		.omitted = c->omitted,
		.divisions = n[PROBE_DIVISIONS],
		.faults = n[PROBE_FAULTS],
		.unaccounted = probe_unaccounted(c),
		.exact = c->is_exact ? "yes" : "no",
	};
	const struct column *columns[OBJECT_COLUMNS];
	size_t nr = object__columns(&session_probe_ledger, columns);
	struct table *table;

	if (s->format != TABLE_JSON)
		return;
	table = table__new(s->out, s->format, session_probe_ledger.type, columns, nr);
	if (table)
		table__row(table, &ledger);
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
	log_note("%s; %s", text, lost ? "not all could be kept" : "nothing lost");
}

/* What makes the counts less than the truth, each by its name. Returns how many were lost. */
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
		log_warn("lost %" PRIu64 ": the kernel was inside another program on that CPU",
			 c->skipped);
	if (c->omitted)
		log_warn("lost %" PRIu64 ": returns of calls that were nested deeper than %d: the "
			 "kernel does not report them",
			 c->omitted, PROBE_NEST_MOST);
	if (probe_unaccounted(c))
		log_warn("unaccounted %" PRId64 ": hits that ended nowhere",
			 (int64_t)probe_unaccounted(c));
	return lost + c->skipped + c->omitted + probe_unaccounted(c);
}

static void probe_tell_oddities(const struct run_counts *c)
{
	const uint64_t *n = c->counters;

	if (n[PROBE_DIVISIONS])
		log_note("%" PRIu64 " divisions by zero gave 0", n[PROBE_DIVISIONS]);
	if (n[PROBE_FAULTS])
		log_note("%" PRIu64 " reads of memory that was not there gave 0", n[PROBE_FAULTS]);
	if (n[PROBE_RESTARTED])
		log_note("%" PRIu64 " starts came before the end of one with the same key: the "
			 "older ones are not counted",
			 n[PROBE_RESTARTED]);
	if (n[PROBE_NO_KSTACK])
		log_note("%" PRIu64 " kernel stacks were not taken", n[PROBE_NO_KSTACK]);
	if (n[PROBE_NO_USTACK])
		log_note("%" PRIu64 " user stacks were not taken", n[PROBE_NO_USTACK]);
	if (!c->is_exact)
		log_note("counts are ~: %s", c->why);
}

void session__tell_hits(struct session *s, const struct run_counts *counts)
{
	uint64_t lost;

	probe_show_ledger(s, counts);
	lost = probe_tell_losses(counts);
	probe_tell_oddities(counts);
	probe_say_ledger(counts, lost);
	s->inside->lost |= lost > 0;
}

static void probe_end_ledger(struct session *s)
{
	struct run_counts counts;

	run__counts(s->inside->probes, &counts);
	session__tell_hits(s, &counts);
}

/* ---- -w ---- */

/* After the programs were attached: who may not trace must not empty an old file. */
static int probe_open_recorder(struct session *s)
{
	const struct recorder_run run = { .options = &s->options->file, .start_ns = s->start_ns };
	const struct capture_clock clock = session_clock();
	int err;

	if (!s->options->file.write)
		return 0;
	err = recorder__new(&run, &s->inside->recorder);
	return err ?: recorder__clock(s->inside->recorder, &clock);
}

static int probe_close_recorder(struct session *s)
{
	int err;

	if (!s->inside->recorder)
		return 0;
	err = recorder__finish(s->inside->recorder, clock__mono_ns(), NULL);
	session_check_full(s);
	return err;
}

/* ---- the run ---- */

/* It waits at its gate until the loop runs, so that nothing it does is missed. */
static int probe_start_command(struct session *s, struct request *request, char **argv)
{
	struct session_inside *in = s->inside;
	int err = argv && argv[0] ? loop__start_child(in->loop, argv) : 0;

	if (!err && in->view->follows_command && loop__child_pid(in->loop) && !request->plan.pid) {
		request->plan.pid = (uint32_t)loop__child_pid(in->loop);
		request->plan.children = true;
	}
	return err;
}

static int probe_start(struct session *s, char **argv)
{
	struct session_inside *in = s->inside;
	struct request *request = in->view->asks(in->state);
	int err = probe_start_command(s, request, argv);

	err = err ?: run__open(&in->probes, &request->wants);
	if (err)
		return err;
	s->start_ns = in->last_ns = run__start_ns(in->probes);
	err = probe_open_recorder(s);
	err = err ?: in->view->on_start(in->state, s);
	return err ?: probe_arm(s);
}

/* A run that failed, or whose reader has gone, still ends its capture. */
static int probe_end(struct session *s, int err)
{
	struct session_inside *in = s->inside;
	int end_err = 0;

	probe_set_time(s);
	session__status(s, "");
	run__detach(in->probes);
	if (in->view->on_hit && (!err || in->recorder))
		end_err = run__records(in->probes, UINT64_MAX, probe_hand_on, s);
	err = err ?: end_err;
	if (!err)
		err = in->view->on_end(in->state, s);
	else if (in->recorder && in->view->on_keep)
		in->view->on_keep(in->state, s);
	end_err = probe_close_recorder(s);
	err = err ?: end_err;
	if (!err)
		probe_end_ledger(s);
	return err;
}

/* As live.c: the COMMAND was forked before and keeps what we had. */
static void probe_drop_privileges(const struct session *s)
{
	const struct privilege_needs needs = {
		.child = loop__child_pid(s->inside->loop),
		.reads_maps = true,
	};

	if (!s->options->run.keep_privileges)
		privilege__drop(&needs);
}

static int probe_run(struct session *s, char **argv)
{
	int err = probe_start(s, argv);

	if (err) { /* the view may have told its capture nothing yet */
		probe_close_recorder(s);
		return err;
	}
	probe_drop_privileges(s);
	return probe_end(s, loop__run(s->inside->loop));
}

static void probe_free(struct session *s)
{
	run__free(s->inside->probes);
}

const struct session_source session_probe = {
	.run = probe_run,
	.free = probe_free,
};
