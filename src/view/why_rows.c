/* SPDX-License-Identifier: BSD-2-Clause */
#include "view/why_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/terminal.h"
#include "base/text.h"
#include "session/io_source.h"
#include "view/records.h"

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
	char more_text[400];
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

/* ---- the command that shows more ---- */

static void why_append(char *buf, size_t size, const char *word, const char *value)
{
	size_t len = strlen(buf);

	/* A file whose name a shell would change is quoted; a quote in it, escaped. */
	len += (size_t)snprintf(buf + len, size - len, " %s '", word);
	for (; *value && len + 6 < size; value++)
		len += (size_t)snprintf(buf + len, size - len, *value == '\'' ? "'\\''" : "%c",
					*value);
	snprintf(buf + len, size - len, "'");
}

static void why_append_plain(char *buf, size_t size, const char *word, const char *value)
{
	size_t len = strlen(buf);
	const char *plain =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-";

	if (!*value || strspn(value, plain) != strlen(value))
		why_append(buf, size, word, value);
	else
		snprintf(buf + len, size - len, " %s %s", word, value);
}

/* What the rule wants to be shown, of the tasks that were asked about. */
static void why_append_whose(char *buf, size_t size, const struct why_view *v,
			     const struct why_finding *f)
{
	const struct filter_options *asked = &v->whose.asked;
	const bool is_blame = !strcmp(f->more, "blame");
	size_t len = strlen(buf);

	if (is_blame && asked->pid.given) {
		snprintf(buf + len, size - len, " --by comm,pid,op --victim %" PRIu64,
			 asked->pid.value);
		return;
	}
	snprintf(buf + len, size - len, "%s", f->more_args);
	len = strlen(buf);
	if (!is_blame && asked->pid.given)
		snprintf(buf + len, size - len, " -p %" PRIu64, asked->pid.value);
	if (!is_blame && asked->comm)
		why_append_plain(buf, size, "--comm", asked->comm);
	if (!is_blame && asked->cgroup)
		why_append_plain(buf, size, "--cgroup", asked->cgroup);
}

/* As -d takes it: without the host that it may have in a table. */
static const char *why_disk(const struct session *s, int32_t device)
{
	const struct device_list *list = io_source__devices(s);

	return device >= 0 && (size_t)device < list->nr ? list->devices[device].name : "?";
}

static void why_fill_more(struct why_row *row, const struct why_view *v, const struct session *s,
			  const struct why_finding *f)
{
	const struct file_options *file = &s->options->file;
	const char *beside = why_beside__path(&v->beside, f->more);
	const bool live = !file->read.nr;
	size_t len;

	snprintf(row->more_text, sizeof(row->more_text), "iosonar %s", f->more);
	row->more = row->more_text;
	if (beside) { /* it takes only such a capture */
		why_append_plain(row->more_text, sizeof(row->more_text), "-r", beside);
		len = strlen(row->more_text);
		snprintf(row->more_text + len, sizeof(row->more_text) - len, "%s", f->more_args);
		return;
	}
	for (size_t i = 0; i < file->read.nr && i < 3; i++)
		why_append_plain(row->more_text, sizeof(row->more_text), "-r", file->read.words[i]);
	if (live || file->read.nr > 1)
		why_append_plain(row->more_text, sizeof(row->more_text), "-d",
				 why_disk(s, f->device));
	len = strlen(row->more_text);
	snprintf(row->more_text + len, sizeof(row->more_text) - len, "%s", live ? " -t 10s" : "");
	why_append_whose(row->more_text, sizeof(row->more_text), v, f);
}

/* ---- rows ---- */

static void why_fill(struct why_row *row, const struct why_view *v, const struct session *s,
		     const struct why_finding *f, size_t nr)
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
	why_fill_more(row, v, s, f);
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
	why_put_line(out, "   ", row->more, strlen(row->more));
}

static void why_put(struct why_view *v, struct session *s, const struct why_finding *f, size_t nr)
{
	struct why_row row;

	why_fill(&row, v, s, f, nr);
	if (!row_conditions__admit(&v->conditions, s, &row))
		return;
	table__row(v->table, &row);
	if (s->format == TABLE_TEXT)
		why_tell(&row, s->out);
}

static void why_fit(struct why_view *v, const struct session *s, const struct why_finding *f)
{
	struct why_row row;

	why_fill(&row, v, s, f, 1);
	table__fit(v->table, &row);
}

static void why_put_none(struct why_view *v, struct session *s)
{
	const struct fact_device *device = why__busiest(&v->facts);
	struct why_finding none;

	if (!device) {
		if (s->format == TABLE_TEXT)
			fputs("no command was seen\n", s->out);
		return;
	}
	why__explain_none(&v->facts, device, &none);
	why_put(v, s, &none, 1);
}

void why_rows__show(struct why_view *v, struct session *s)
{
	const size_t top = v->top.given ? v->top.value : WHY_TOP;

	table__heading_again(v->table);
	for (size_t i = 0; i < v->why.nr && i < top && s->format == TABLE_TEXT; i++)
		why_fit(v, s, &v->why.findings[i]);
	for (size_t i = 0; i < v->why.nr && i < top; i++)
		why_put(v, s, &v->why.findings[i], i + 1);
	if (!v->why.nr)
		why_put_none(v, s);
}
