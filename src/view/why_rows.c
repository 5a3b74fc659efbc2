/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/why_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "base/terminal.h"
#include "base/text.h"
#include "view/records.h"
#include "view/why_more.h"

enum { WHY_TOP = 5 };
static const double why_at_least = 0.2;

static const char *const why_sures[] = {
	[WHY_LOW] = "low",
	[WHY_MEDIUM] = "medium",
	[WHY_HIGH] = "high",
};

/*
 *  time  nr dev     finding    tail  total  cost sure
 *  10.0   1 nvme0n1 culprit   98.1%  97.8% 812ms high
 *   reads of postgres wait for writes of backup
 *   - 256 reads of postgres take 3.25ms each, of which 3.18ms are waits for writes of backup
 *   iosonar blame -r run.cap --victim postgres
 */
struct why_row {
	double time_s;
	uint64_t nr, cost_ns, affected;
	const char *dev, *finding, *sure, *whose, *what, *evidence, *more;
	double tail, total;
};

#define FIELD(name) offsetof(struct why_row, name)
static const struct column why_columns[] = {
	{ "time_s", "time", CELL_SECONDS, 5, "time of the end of the window, since the start",
	  .at = FIELD(time_s), .not_in_text = true },
	{ "nr", "nr", CELL_COUNT, 2, "its rank; the most costly is 1", .at = FIELD(nr) },
	{ "dev", "dev", CELL_TEXT, 7, "disk", .at = FIELD(dev) },
	{ "finding", "finding", CELL_TEXT, 10, "name of the cause; none: nothing is wrong",
	  .at = FIELD(finding) },
	{ "whose", "whose time", CELL_TEXT, 12, "commands whose time the shares are of",
	  .at = FIELD(whose), .drop = 1 },
	{ "tail_percent", "tail", CELL_PERCENT, 6, "its share of the time of the slowest 1 %",
	  .at = FIELD(tail) },
	{ "share_percent", "share", CELL_PERCENT, 6, "its share of the time of all",
	  .at = FIELD(total) },
	{ "sum_ns", "sum", CELL_DURATION, 6, "that time, in sum over all of them",
	  .at = FIELD(cost_ns) },
	{ "affected", "affected", CELL_COUNT, 8, "commands that it affects", .at = FIELD(affected),
	  .not_in_text = true },
	{ "sure", "sure", CELL_TEXT, 6, "how sure it is: high, medium or low", .at = FIELD(sure) },
	{ "what", "what", CELL_TEXT, 4, "the cause in words", .at = FIELD(what),
	  .not_in_text = true },
	{ "evidence", "evidence", CELL_TEXT, 8, "the numbers that show it", .at = FIELD(evidence),
	  .form = &form_list, .not_in_text = true },
	{ "more", "more", CELL_TEXT, 4, "the command line that shows more", .at = FIELD(more),
	  .not_in_text = true },
	{ 0 },
};
#undef FIELD

const struct object why_rows = { "why", { why_columns } };

double why_rows__least(const struct why_view *v)
{
	return v->at_least.given ? (double)v->at_least.value / 1e6 : why_at_least;
}

/* ---- rows ---- */

static void why_fill(struct why_row *row, const struct session *s, const struct why_finding *f,
		     size_t nr)
{
	*row = (struct why_row){
		.time_s = s->elapsed_s,
		.nr = f->rule ? nr : CELL_NO_NUMBER,
		.dev = records__device_name(s, f->device),
		.finding = f->rule ? f->rule->name : "none",
		.sure = f->rule ? why_sures[f->sure] : NULL,
		.whose = f->whose,
		.what = f->what,
		.evidence = f->evidence,
		.cost_ns = f->rule ? f->cost_ns : CELL_NO_NUMBER,
		.affected = f->rule ? f->affected : CELL_NO_NUMBER,
		.tail = f->rule ? 100 * f->tail : __builtin_nan(""),
		.total = f->rule ? 100 * f->total : __builtin_nan(""),
	};
}

/* On a terminal it is wrapped at words. */
static void why_put_words(FILE *out, char *words, size_t indent)
{
	const size_t limit = terminal__columns(fileno(out));
	size_t at = indent;
	char *word;

	while ((word = strsep(&words, " "))) {
		const size_t width = text__width(word);

		if (at > indent && limit && at + 1 + width > limit) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			fputc(' ', out);
			at++;
		}
		fputs(word, out);
		at += width;
	}
	fputc('\n', out);
}

static void why_put_line(FILE *out, const char *lead, const char *text, size_t len)
{
	char raw[520], escaped[4 * sizeof(raw)];

	snprintf(raw, sizeof(raw), "%.*s", (int)len, text);
	fputs(lead, out);
	why_put_words(out, text__terminal(escaped, sizeof(escaped), raw), strlen(lead));
}

/* In text they are too long for a table: a line for each. */
static void why_tell(const struct why_row *row, FILE *out)
{
	const char *at = row->evidence;

	why_put_line(out, "   ", row->what, strlen(row->what));
	while (*at) {
		size_t len = strcspn(at, ";");

		why_put_line(out, "   - ", at, len);
		at += len + (at[len] == ';');
	}
	/* not wrapped: it is to be copied */
	fputs("   ", out);
	text__put_terminal(out, row->more);
	fputc('\n', out);
}

static int why_put(struct why_view *v, struct session *s, const struct why_finding *f, size_t nr)
{
	char *more = why_more__line(v, s, f);
	struct why_row row;

	if (!more)
		return log_no_memory();
	why_fill(&row, s, f, nr);
	row.more = more;
	if (row_conditions__admit(&v->conditions, s, &row)) {
		table__row(v->table, &row);
		if (s->format == TABLE_TEXT)
			why_tell(&row, s->out);
	}
	free(more);
	return 0;
}

static void why_fit(struct why_view *v, const struct session *s, const struct why_finding *f)
{
	struct why_row row;

	why_fill(&row, s, f, 1);
	table__fit(v->table, &row);
}

static int why_put_none(struct why_view *v, struct session *s)
{
	const struct fact_device *device = why__busiest(&v->facts);
	struct why_finding none;

	if (!device) {
		if (s->format == TABLE_TEXT)
			fputs("no command was seen\n", s->out);
		return 0;
	}
	why__explain_none(&v->facts, device, &none);
	return why_put(v, s, &none, 1);
}

int why_rows__show(struct why_view *v, struct session *s)
{
	const size_t top = v->top.given ? v->top.value : WHY_TOP;
	int err = 0;

	table__heading_again(v->table);
	for (size_t i = 0; i < v->why.nr && i < top && s->format == TABLE_TEXT; i++)
		why_fit(v, s, &v->why.findings[i]);
	for (size_t i = 0; i < v->why.nr && i < top && !err; i++)
		err = why_put(v, s, &v->why.findings[i], i + 1);
	return v->why.nr ? err : why_put_none(v, s);
}
