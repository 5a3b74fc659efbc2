/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "view/drives_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/compare.h"
#include "base/log.h"
#include "device/handicap.h"
#include "session/io_source.h"

static const char *const drives_verdicts[] = {
	[DRIVE_FINE] = "ok",
	[DRIVE_SLOW] = "slow",
	[DRIVE_DIFFERS] = "differs",
	[DRIVE_UNKNOWN] = "unknown",
};

/* Nothing is impossible, and the tails of distributions are not known as far as this. */
static const double drives_least_doubt = 1e-15;

/*
 * dev     model   beside    count service expected slower false_alarm verdict
 * nvme2n1 X1      peers     25000  82.1us   63.0us  30.2%     1.1e-12 slow
 */
struct drives_row {
	const char *host, *dev, *model, *serial, *beside, *verdict, *why;
	uint64_t count, compared, peers, service_ns, expected_ns, errors, retries;
	double depth, slower, false_alarm;
	char why_text[800];
};

#define FIELD(name) offsetof(struct drives_row, name)
static const struct column drives_columns[] = {
	{ "host", "host", CELL_TEXT, 4, "machine; null: a capture does not say", .at = FIELD(host),
	  .drop = 3 },
	{ "dev", "dev", CELL_TEXT, 7, "disk, the first of those that share a controller",
	  .at = FIELD(dev) },
	{ "model", "model", CELL_TEXT, 8, "model; null: it reports none", .at = FIELD(model),
	  .drop = 4 },
	{ "serial", "serial", CELL_TEXT, 8, "serial number; null: it reports none",
	  .at = FIELD(serial), .not_in_text = true },
	{ "beside", "beside", CELL_TEXT, 8,
	  "compared with: peers (drives of the same model) or past (the baseline)",
	  .at = FIELD(beside) },
	{ "peers", "peers", CELL_COUNT, 5, "drives that it was compared with", .at = FIELD(peers),
	  .drop = 1 },
	{ "count", "count", CELL_COUNT, 7, "its commands", .at = FIELD(count), .drop = 2 },
	{ "compared", "compared", CELL_COUNT, 8,
	  "commands at operations, sizes and depths that both sides have, of the side with fewer",
	  .at = FIELD(compared), .not_in_text = true },
	{ "depth", "depth", CELL_REAL, 5, "mean number of commands in flight", .at = FIELD(depth),
	  .not_in_text = true },
	{ "service_ns", "service", CELL_DURATION, 7, "typical service time",
	  .at = FIELD(service_ns) },
	{ "expected_ns", "expected", CELL_DURATION, 8,
	  "the same, if it were as fast as what it is compared with", .at = FIELD(expected_ns) },
	{ "slower_percent", "slower", CELL_PERCENT, 7,
	  "by how much it is slower, at equal operation, size class and depth",
	  .at = FIELD(slower) },
	{ "false_alarm", "false_alarm", CELL_REAL, 11,
	  "the probability that a drive of a run without slow drives appears this slow",
	  .at = FIELD(false_alarm) },
	{ "verdict", "verdict", CELL_TEXT, 7, "ok, slow, differs or unknown",
	  .at = FIELD(verdict) },
	{ "errors", "errors", CELL_COUNT, 6, "commands that failed", .at = FIELD(errors),
	  .not_in_text = true },
	{ "retries", "retries", CELL_COUNT, 7, "commands that needed more than one attempt",
	  .at = FIELD(retries), .not_in_text = true },
	{ "why", "why", CELL_TEXT, 3, "what may explain it, or why the verdict is unknown",
	  .at = FIELD(why), .form = &form_list, .not_in_text = true },
	{ 0 },
};
#undef FIELD

const struct object drives_rows = { "drives", { drives_columns } };

/* ---- what explains it ---- */

__attribute__((format(printf, 2, 3))) static void drives_say(struct drives_row *row,
							     const char *fmt, ...)
{
	size_t len = strlen(row->why_text);
	va_list args;

	if (len && len < sizeof(row->why_text) - 1)
		row->why_text[len++] = ';';
	va_start(args, fmt);
	vsnprintf(row->why_text + len, sizeof(row->why_text) - len, fmt, args);
	va_end(args);
	row->why = row->why_text;
}

/* What other drives of its model have. */
static void drives_read_peers(const struct drives_view *v, const struct device_list *list,
			      size_t number, struct device_handicap *peers)
{
	const struct drives *d = &v->drives;
	struct device_handicap peer;

	*peers = (struct device_handicap){ 0 };

	for (size_t i = 0; i < d->nr; i++) {
		if (i == number || d->drives[i]->model != d->drives[number]->model)
			continue;
		device_handicap__read(&peer, list->root, &list->devices[v->devices[i]]);
		device_handicap__add_peer(peers, &peer);
	}
}

/* Only on this machine: a capture does not have it. */
static void drives_say_handicap(struct drives_row *row, const struct drives_view *v,
				const struct session *s, size_t number)
{
	const struct device_list *list = io_source__devices(s);
	struct device_handicap handicap, peers;
	char words[600];

	if (!io_source__collector(s))
		return;
	device_handicap__read(&handicap, list->root, &list->devices[v->devices[number]]);
	drives_read_peers(v, list, number, &peers);
	device_handicap__words(&handicap, &peers, words, sizeof(words));
	if (words[0])
		drives_say(row, "%s", words);
}

/* A namespace or queue that alone is slow. */
static void drives_say_parts(struct drives_row *row, const struct drives_view *v, size_t number,
			     double least)
{
	static const char *const words[] = { "namespace", "queue" };
	struct drive_part_finding part;

	for (int i = 0; i < NR_DRIVE_PARTS; i++)
		if (!drives__slow_part(&v->drives, number, (enum drive_part)i, least, &part) &&
		    part.count)
			drives_say(row,
				   "its %s %u is %.1f %% slower than its others (%" PRIu64
				   " commands)",
				   words[i], part.number, 100 * expm1(part.shift), part.count);
}

static void drives_explain(struct drives_row *row, const struct drives_view *v,
			   const struct session *s, size_t number, double least)
{
	char words[400];

	if (row->errors)
		drives_say(row, "%" PRIu64 " errors", row->errors);
	if (row->retries)
		drives_say(row, "%" PRIu64 " retries", row->retries);
	drives_events__words(&v->events, v->names[number].host,
			     io_source__devices(s)->devices[v->devices[number]].ctrl, words,
			     sizeof(words));
	if (words[0])
		drives_say(row, "%s", words);
	drives_say_parts(row, v, number, least);
	drives_say_handicap(row, v, s, number);
}

static bool drives_has_peers(const struct drives *d, size_t number)
{
	for (size_t i = 0; i < d->nr; i++)
		if (i != number && d->drives[i]->model == d->drives[number]->model)
			return true;
	return false;
}

static void drives_say_unknown(struct drives_row *row, const struct drives *d, size_t number,
			       bool is_past)
{
	if (is_past)
		drives_say(row, d->drives[number]->past ? "too few commands like those of the past"
							: "not in the baseline");
	else
		drives_say(row, drives_has_peers(d, number)
					? "too few commands like those of its peers"
					: "no other drive of its model");
}

/* ---- rows ---- */

/* Two digits: more would pretend. */
static double drives_round(double doubt)
{
	char text[32];

	snprintf(text, sizeof(text), "%.1e", fmax(doubt, drives_least_doubt));
	return strtod(text, NULL);
}

static const char *drives_text(const char *text)
{
	return text[0] ? text : NULL;
}

static void drives_fill(struct drives_row *row, const struct drives_view *v,
			const struct session *s, size_t number)
{
	const struct drive_name *name = &v->names[number];
	const struct drive *drive = v->drives.drives[number];

	*row = (struct drives_row){
		.host = drives_text(name->host),
		.dev = name->dev,
		.model = drives_text(name->model),
		.serial = drives_text(name->serial),
		.count = drive->count,
		.errors = drive->errors,
		.retries = drive->retries,
		.service_ns = (uint64_t)drive__service(drive),
		.depth = s->span_s > 0 ? round(drive->flight_ns / s->span_s / 1e7) / 100 : NAN,
	};
}

static void drives_judge(struct drives_row *row, const struct drive_finding *f)
{
	const bool known = f->verdict != DRIVE_UNKNOWN && row->service_ns;

	row->verdict = drives_verdicts[f->verdict];
	row->compared = (uint64_t)f->nr_common;
	row->expected_ns =
		known ? (uint64_t)((double)row->service_ns * exp(-f->shift)) : CELL_NO_NUMBER;
	row->service_ns = row->service_ns ?: CELL_NO_NUMBER;
	row->slower = known ? round(1000 * expm1(f->shift)) / 10 + 0.0 : NAN; /* no -0.0 */
	row->false_alarm = known ? drives_round(f->doubt) : NAN;
}

/* In text they are too wide for a table: a message for each. */
static void drives_tell(struct drives_row *row)
{
	char *rest = row->why_text, *reason;

	while ((reason = strsep(&rest, ";")) && *reason)
		log_note("%s%s%s, beside its %s: %s", row->host ? row->host : "",
			 row->host ? " " : "", row->dev, row->beside, reason);
}

/* put NULL: tells why. */
static void drives_put(struct drives_view *v, struct session *s, size_t number, bool is_past,
		       table_put_fn put)
{
	const double least = log1p((v->at_least.given ? (double)v->at_least.value : 10) / 100);
	struct drive_finding finding;
	struct drives_row row;

	drives_fill(&row, v, s, number);
	row.beside = is_past ? "past" : "peers";
	if (is_past)
		drives__beside_past(&v->drives, number, least, &finding);
	else
		drives__beside_peers(&v->drives, number, least, &finding);
	row.peers = is_past ? CELL_NO_NUMBER : finding.nr_peers;
	drives_judge(&row, &finding);
	if (finding.verdict == DRIVE_UNKNOWN)
		drives_say_unknown(&row, &v->drives, number, is_past);
	if (finding.verdict == DRIVE_DIFFERS)
		drives_say(&row, "of two drives, nothing shows which one is right");
	if (finding.verdict == DRIVE_SLOW || finding.verdict == DRIVE_DIFFERS)
		drives_explain(&row, v, s, number, least);
	if (!row_conditions__admit(&v->conditions, s, &row))
		return;
	if (put)
		put(v->table, &row);
	else
		drives_tell(&row);
}

struct drives_place {
	const struct drive_name *name;
	size_t number;
};

static int drives_place_compare(const void *a, const void *b)
{
	const struct drives_place *x = a, *y = b;
	int order = strcmp(x->name->host, y->name->host);

	order = order ?: strverscmp(x->name->dev, y->name->dev);
	return order ?: COMPARE(x->number, y->number);
}

static void drives_put_all(struct drives_view *v, struct session *s, table_put_fn put)
{
	struct drives_place places[DRIVES_MOST] = { { 0 } };

	for (size_t i = 0; i < v->drives.nr; i++)
		places[i] = (struct drives_place){ &v->names[i], i };
	qsort(places, v->drives.nr, sizeof(*places), drives_place_compare);
	for (size_t i = 0; i < v->drives.nr; i++) {
		drives_put(v, s, places[i].number, false, put);
		if (v->baseline)
			drives_put(v, s, places[i].number, true, put);
	}
}

/* ---- all ---- */

static int drives_learn(struct drives_view *v)
{
	int err = 0;

	for (size_t i = 0; i < v->drives.nr && v->learn && !err; i++)
		err = drives_past__write(v->learned.file, &v->drives, i, &v->names[i]);
	return err;
}

int drives_rows__show(struct drives_view *v, struct session *s)
{
	uint32_t servers[DRIVES_MOST] = { 0 };

	for (size_t i = 0; i < v->drives.nr; i++) {
		const struct drive_past *past = drives_past__find(&v->past, &v->names[i]);

		v->drives.drives[i]->past = past ? &past->sample : NULL;
		servers[i] = past ? past->servers : 0;
	}
	if (drives__finish(&v->drives, servers) || drives_learn(v))
		return log_no_memory();
	if (s->format == TABLE_TEXT)
		drives_put_all(v, s, table__fit);
	drives_put_all(v, s, table__row);
	if (s->format == TABLE_TEXT)
		drives_put_all(v, s, NULL);
	if (v->left_out)
		log_warn("%" PRIu64 " commands are of further drives: %d are followed", v->left_out,
			 DRIVES_MOST);
	return 0;
}
