/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pair.c: how long from one event to another? Any two that share a key, on any CPU and thread:
 * distributions by key, with --each a line for every pair, with --slow the slowest. Starts without
 * an end are listed with their age; ends without a start are counted.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/grow.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "session/probe_source.h"
#include "session/table.h"
#include "view/hits.h"
#include "view/tally.h"

enum { PAIR_OPEN = 20 }; /* unfinished pairs that are listed, oldest first */
enum pair_stack { PAIR_NO_STACK, PAIR_KERNEL, PAIR_USER, PAIR_BOTH };

/* A pair that --slow keeps. */
struct pair_slow {
	struct probe_record record;
	void *values;
};

struct pair_open {
	uint64_t age_ns, pid, tid;
	char comm[17];
	const char *comm_text, *key;
	char key_text[80];
};

struct pair_view {
	struct tally_view tally; /* first: options lie at its start */
	/* options */
	bool each;
	struct option_number slow, buffer;
	int stack;
	/* state */
	struct hit_view hits;
	struct pair_slow *slowest; /* the slowest first */
	size_t nr_slowest;
	uint64_t printed;
	struct pair_open *open;
	size_t nr_open, room_open;
	uint64_t now_ns;
};

static const char *const stack_choices[] = { "none", "kernel", "user", "both", NULL };

static const struct option_def pair_options[] = {
	TALLY_OPTIONS,
	TALLY_BUCKET_OPTIONS,
	{ "each", 0, OPTION_FLAG, offsetof(struct pair_view, each), NULL,
	  "print a line for each pair", .not_with = "slow" },
	{ "slow", 0, OPTION_NUMBER, offsetof(struct pair_view, slow), "N",
	  "show only the N slowest pairs", .min = 1, .max = 100000 },
	{ "stack", 0, OPTION_CHOICE, offsetof(struct pair_view, stack), "WHICH",
	  "with --each or --slow: show the stack where the pair began", .choices = stack_choices },
	{ "buffer", 0, OPTION_SIZE, offsetof(struct pair_view, buffer), "SIZE",
	  "with --each or --slow: size of each CPU's ring (default 1Mi)", .min = 4096,
	  .max = 1 << 30 },
	{ 0 },
};
static const struct option_group pair_group = { "What is shown", pair_options };

static const struct column pair_columns[] = {
	{ "count", "count", CELL_COUNT, 8, "pairs", .at = TALLY_AT(TALLY_COUNT) },
	{ "per_s", "per s", CELL_RATE, 7, "pairs per second", .at = TALLY_AT(TALLY_PER_S),
	  .drop = 1 },
	{ "mean_ns", "mean", CELL_DURATION, 7, "mean time from start to end, exact",
	  .at = TALLY_AT(TALLY_MEAN), .drop = 4 },
	{ "p50_ns", "p50", CELL_DURATION, 7, "median", .at = TALLY_AT(TALLY_P50), .drop = 5 },
	{ "p90_ns", "p90", CELL_DURATION, 7, "90th percentile of the time",
	  .at = TALLY_AT(TALLY_P90), .drop = 2 },
	{ "p99_ns", "p99", CELL_DURATION, 7, "99th percentile of the time",
	  .at = TALLY_AT(TALLY_P99) },
	{ "p99_9_ns", "p99.9", CELL_DURATION, 7, "99.9th percentile of the time",
	  .at = TALLY_AT(TALLY_P999), .drop = 3 },
	{ "max_ns", "max", CELL_DURATION, 7, "maximum time, exact", .at = TALLY_AT(TALLY_MAX) },
	{ 0 },
};
static const struct object pair_rows = { "pair", { tally_lead, pair_columns } };

static const struct column bucket_columns[] = {
	{ "from_ns", "from", CELL_DURATION, 7, "smallest time of the bucket",
	  .at = TALLY_AT(TALLY_FROM) },
	{ "to_ns", "to", CELL_DURATION, 7, "largest time of the bucket", .at = TALLY_AT(TALLY_TO) },
	{ "count", "count", CELL_COUNT, 8, "pairs", .at = TALLY_AT(TALLY_COUNT) },
	{ "cumulative_percent", "cumulative", CELL_PERCENT, 6,
	  "percentage of pairs up to the end of the bucket", .at = TALLY_AT(TALLY_CUMULATIVE) },
	{ 0 },
};
static const struct object pair_buckets = { "bucket", { tally_lead, bucket_columns } };

static const struct column each_columns[] = {
	{ "time_s", "time", CELL_TIME, 12,
	  "time of the end of the pair, since the start of the run", .at = HIT_AT(HIT_TIME) },
	{ "latency_ns", "latency", CELL_DURATION, 8, "time from the start to the end of the pair",
	  .at = HIT_AT(HIT_LATENCY) },
	{ "cpu", "cpu", CELL_COUNT, 3, "CPU where the pair ended", .at = HIT_AT(HIT_CPU),
	  .drop = 1 },
	{ "comm", "comm", CELL_TEXT, 15, "name of the task that started the pair",
	  .at = HIT_AT(HIT_COMM), .drop = 3 },
	{ "pid", "pid", CELL_COUNT, 7, "process that started the pair", .at = HIT_AT(HIT_PID),
	  .drop = 2 },
	{ "tid", "tid", CELL_COUNT, 7, "id of the task that started the pair; not in text",
	  .at = HIT_AT(HIT_TID) },
	{ 0 },
};
static const struct object pair_lines = { "each", { each_columns } };

#define OPEN(name) offsetof(struct pair_open, name)
static const struct column open_columns[] = {
	{ "age_ns", "age", CELL_DURATION, 8, "time since the start of the pair",
	  .at = OPEN(age_ns) },
	{ "comm", "comm", CELL_TEXT, 15, "name of the task that started the pair",
	  .at = OPEN(comm_text) },
	{ "pid", "pid", CELL_COUNT, 7, "process that started the pair", .at = OPEN(pid),
	  .drop = 2 },
	{ "tid", "tid", CELL_COUNT, 7, "id of the task that started the pair", .at = OPEN(tid),
	  .drop = 1 },
	{ "key", "key", CELL_TEXT, 18, "key that the end of the pair would have shared",
	  .at = OPEN(key) },
	{ 0 },
};
static const struct object pair_opens = { "open", { open_columns } };

static const struct object *const pair_objects[] = { &pair_rows,  &pair_buckets,	&pair_lines,
						     &pair_opens, &probe_ledger_object, NULL };

static int pair_run(void *state, const struct options *options, char **argv);

const struct cmd cmd_pair = {
	.name = "pair",
	.group = "any event",
	.brief = "the time between two events that share a key",
	.synopsis = "[options] START END on KEYS [by KEYS] [if CONDITION] [-- COMMAND...]",
	.groups = CMD_GROUPS(&task_group, &run_group, OUTPUT_IN(OUTPUT_TABLES)),
	.own = &pair_group,
	.view_size = sizeof(struct pair_view),
	.objects = pair_objects,
	.run = pair_run,
	.needs = NEED_PROGRAMS | NEED_TRACEPOINTS | NEED_ANY_FUNCTION,
};

/* ---- pairs that never ended ---- */

static void pair_on_open(void *arg, const void *key, const struct probe_start *start)
{
	struct pair_view *v = arg;
	const struct plan *plan = &v->tally.request.plan;
	uint64_t words[PLAN_MAX_ON] = { 0 };
	struct pair_open *open;
	size_t len = 0;

	if (GROW(v->open, v->room_open, v->nr_open + 1))
		return; /* the ledger still counts it */
	open = &v->open[v->nr_open++];
	*open = (struct pair_open){ .age_ns = v->now_ns > start->ns ? v->now_ns - start->ns : 0,
				    .pid = start->pid,
				    .tid = start->tid };
	memcpy(open->comm, start->comm, sizeof(start->comm));
	memcpy(words, key, plan__start_key_bytes(plan));
	for (size_t i = 0; i < plan->nr_on && len < sizeof(open->key_text); i++)
		len += (size_t)snprintf(open->key_text + len, sizeof(open->key_text) - len,
					words[i] > UINT32_MAX ? "%s0x%" PRIx64 : "%s%" PRIu64,
					i ? " " : "", words[i]);
}

static int pair_compare_open(const void *a, const void *b)
{
	const struct pair_open *l = a, *r = b;

	return (l->age_ns < r->age_ns) - (l->age_ns > r->age_ns);
}

static int pair_show_open(struct pair_view *v, struct session *s)
{
	struct table *table;
	int err;

	v->now_ns = s->start_ns + (uint64_t)(s->elapsed_s * 1e9);
	err = run__open_pairs(probe_source__run(s), pair_on_open, v);
	if (err || !v->nr_open || s->format == TABLE_CSV)
		return err;
	qsort(v->open, v->nr_open, sizeof(*v->open), pair_compare_open);
	table = session__table(s, &pair_opens, NULL, NULL);
	if (!table)
		return log_no_memory();
	if (s->format == TABLE_TEXT)
		fprintf(s->out, "\n%zu pairs began and did not end:\n", v->nr_open);
	for (size_t i = 0; i < v->nr_open && (i < PAIR_OPEN || s->format != TABLE_TEXT); i++) {
		v->open[i].comm_text = v->open[i].comm;
		v->open[i].key = v->open[i].key_text;
		table__row(table, &v->open[i]);
	}
	table__free(table);
	return 0;
}

/* ---- each pair, or the slowest ---- */

static int pair_keep(struct pair_view *v, const struct probe_record *r, const void *values)
{
	const struct plan_probe *p = &v->tally.request.plan.probes[r->probe];
	size_t at = v->nr_slowest;
	struct pair_slow new;

	if (at == v->slow.value && r->latency_ns <= v->slowest[at - 1].record.latency_ns)
		return 0;
	new = (struct pair_slow){ *r, malloc(p->shown_bytes + 1) };
	if (!new.values)
		return log_no_memory();
	memcpy(new.values, values, p->shown_bytes);
	if (at == v->slow.value)
		free(v->slowest[--at].values);
	else
		v->nr_slowest++;
	for (; at && v->slowest[at - 1].record.latency_ns < r->latency_ns; at--)
		v->slowest[at] = v->slowest[at - 1];
	v->slowest[at] = new;
	return 0;
}

static int pair_on_hit(void *state, struct session *s, const struct probe_record *r,
		       const void *values)
{
	struct pair_view *v = state;
	const struct option_number *count = &s->options->run.count;

	if (v->slow.given)
		return pair_keep(v, r, values);
	hit_view__line(&v->hits, s, r, values);
	if (count->given && ++v->printed >= count->value)
		session__stop(s);
	return 0;
}

static int pair_on_start(void *state, struct session *s)
{
	return hit_view__start(&((struct pair_view *)state)->hits, s);
}

static int pair_on_end(void *state, struct session *s)
{
	struct pair_view *v = state;

	for (size_t i = 0; i < v->nr_slowest; i++)
		hit_view__line(&v->hits, s, &v->slowest[i].record, v->slowest[i].values);
	return pair_show_open(v, s);
}

static struct request *pair_asks(void *state)
{
	return &((struct pair_view *)state)->tally.request;
}

static const struct session_view pair_session = {
	.asks = pair_asks,
	.on_start = pair_on_start,
	.on_hit = pair_on_hit,
	.on_end = pair_on_end,
	.counts_records = true,
};

static int pair_run_each(struct pair_view *v, const struct options *options, char **argv)
{
	struct request *request = &v->tally.request;
	int err;

	request->line.each = true;
	request->line.kernel_stack = v->stack == PAIR_KERNEL || v->stack == PAIR_BOTH;
	request->line.user_stack = v->stack == PAIR_USER || v->stack == PAIR_BOTH;
	request->wants.emit = v->tally.options.emit;
	request->wants.unwind = (enum unwind_how)v->tally.options.unwind;
	request->wants.ring_bytes = v->buffer.value;
	v->slowest = calloc(v->slow.value + 1, sizeof(*v->slowest));
	if (!v->slowest)
		return log_no_memory();
	err = request__understand(request, LINE_PAIR, &v->tally.options.words, options);
	if (!err) {
		v->hits = (struct hit_view){ .object = &pair_lines,
					     .request = request,
					     .values = values__new(request) };
		err = v->hits.values ? session__run(&pair_session, v, options, argv)
				     : log_no_memory();
		hit_view__free(&v->hits);
	}
	for (size_t i = 0; i < v->nr_slowest; i++)
		free(v->slowest[i].values);
	free(v->slowest);
	request__free(request);
	return err;
}

static int pair_after(struct tally_view *tally, struct session *s)
{
	return pair_show_open((struct pair_view *)tally, s);
}

/* Some options apply only to rows, others only to single pairs. */
static int pair_check_options(const struct pair_view *v)
{
	const struct tally_options *t = &v->tally.options;
	bool has_lines = v->each || v->slow.given;
	const struct {
		bool given, is_of_lines;
		const char *name;
	} options[] = {
		{ v->stack, true, "--stack" },	  { v->buffer.given, true, "--buffer" },
		{ t->top.given, false, "--top" }, { t->keys.given, false, "--keys" },
		{ t->log2, false, "--log2" },	  { t->linear, false, "--linear" },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!options[i].given || options[i].is_of_lines == has_lines)
			continue;
		return has_lines
			       ? log_err(-EINVAL,
					 "%s applies to rows; it cannot be combined with --each or "
					 "--slow",
					 options[i].name)
			       : log_err(-EINVAL, "%s requires --each or --slow", options[i].name);
	}
	return 0;
}

static int pair_run(void *state, const struct options *options, char **argv)
{
	struct pair_view *v = state;
	int err = pair_check_options(v);

	if (err)
		return err;
	if (v->each || v->slow.given) {
		err = pair_run_each(v, options, argv);
	} else {
		v->tally.object = &pair_rows;
		v->tally.buckets = &pair_buckets;
		v->tally.after = pair_after;
		err = tally_view__run(&v->tally, LINE_PAIR, options, argv);
	}
	free(v->open);
	return err;
}
