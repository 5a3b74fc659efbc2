/* SPDX-License-Identifier: BSD-2-Clause */
#include "screen/top.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "decode/column.h"
#include "view/latency_by.h"

enum {
	TOP_HEADING = 4,     /* line of the columns' headings; rows follow */
	TOP_MARK = 2,	     /* columns for the mark of the chosen row */
	TOP_LEAST_NAME = 12, /* columns of a row's name */
	TOP_STRIP_LABEL = 8, /* columns left of the strip */
	TOP_STRIP_LINES = 8, /* of the strip, at most */
	TOP_STRIP_FROM = 16, /* a window with fewer lines has no strip */
	TOP_CELL = 64,
	TOP_TROUBLE_LINES = 4, /* at most */
};

/* ---- header ---- */

/* Of a capture: "iosonar top  run.cap  3.000 s to 4.000 s of 60.123 s  PLAYS". */
static void draw_window(const struct top_screen *t, int width)
{
	const char *plays = t->browse.plays ? "  PLAYS" : "";
	char span[TOP_BROWSE_TEXT], text[TOP_BROWSE_TEXT + TOP_BROWSE_FILE + 80];

	top_browse__text(&t->browse, span);
	snprintf(text, sizeof(text), "iosonar top  %s  %s  %s%s", t->browse.file, span,
		 t->facts.clock, plays);
	if (strlen(text) > (size_t)width)
		snprintf(text, sizeof(text), "%s%s", span, plays);
	screen__put(0, 0, width, SCREEN_PLAIN, text);
}

static void draw_first_line(const struct top_screen *t, int width)
{
	char text[320];

	if (t->browse.is_on) {
		draw_window(t, width);
		return;
	}
	snprintf(text, sizeof(text), "iosonar top  %s  Linux %s  %s  interval %.1f s%s",
		 t->facts.host, t->facts.kernel, t->facts.clock, t->model->seconds,
		 t->is_frozen ? "  FROZEN" : "");
	if (!t->model->nr_intervals)
		snprintf(text, sizeof(text), "iosonar top  %s  Linux %s", t->facts.host,
			 t->facts.kernel);
	/* A narrow window would cut the word. */
	screen__put(0, 0, width, t->is_frozen ? SCREEN_STRONG : SCREEN_PLAIN,
		    t->is_frozen && strlen(text) > (size_t)width ? "FROZEN: Space goes on" : text);
}

static void draw_sum(const struct top_screen *t, int width)
{
	const struct latency_row *all = &t->model->all;
	char iops[32], p50[32], p99[32], max[32], in_flight[48] = "", text[320];

	if (t->model->knows_open)
		snprintf(in_flight, sizeof(in_flight), "  in flight %" PRIu64, t->model->in_flight);
	snprintf(text, sizeof(text), "IO/s %s  MB/s %.1f  p50 %s  p99 %s  max %s%s",
		 text__rate(iops, sizeof(iops), all->per_s), all->mb_per_s,
		 text__duration(p50, sizeof(p50), all->p50_ns),
		 text__duration(p99, sizeof(p99), all->p99_ns),
		 text__duration(max, sizeof(max), all->max_ns), in_flight);
	if (strlen(text) > (size_t)width)
		snprintf(text, sizeof(text), "IO/s %s MB/s %.1f p99 %s max %s", iops, all->mb_per_s,
			 p99, max);
	screen__put(1, 0, width, SCREEN_STRONG, text);
}

/* A loss is a word and a number. Only the last ledger of a run tells if some are unaccounted for:
 * commands start and end while that of a running one is read. Returns the columns used. */
static int draw_losses(const struct top_screen *t, int width)
{
	const struct ledger *l = &t->facts.ledger;
	uint64_t lost = ledger__lost(l);
	int64_t left = t->browse.is_on ? ledger__unaccounted(l) : 0;
	char text[64];
	int at = 0;

	if (lost) {
		snprintf(text, sizeof(text), "LOST %" PRIu64, lost);
		at += screen__put(2, at, width - at, SCREEN_ALARM, text) + 2;
	}
	if (left) {
		snprintf(text, sizeof(text), "UNACCOUNTED %" PRId64, left);
		at += screen__put(2, at, width - at, SCREEN_ALARM, text) + 2;
	}
	return at;
}

/* Losses come first: a narrow window has them, too. */
static void draw_ledger(const struct top_screen *t, int width)
{
	const struct ledger *l = &t->facts.ledger;
	int at = draw_losses(t, width);
	const char *verdict = at ? "" : "; nothing lost";
	char text[256];

	if (t->browse.is_damaged)
		at += screen__put(2, at, width - at, SCREEN_ALARM, "DAMAGED") + 2;
	if (t->browse.is_on && !t->facts.has_ledger) {
		screen__put(2, at, width - at, SCREEN_PLAIN, "the capture has no ledger");
		return;
	}
	snprintf(text, sizeof(text),
		 "issued %" PRIu64 " = completed %" PRIu64 " + in flight %" PRIu64 "%s", l->issued,
		 l->completed, l->in_flight, verdict);
	if (strlen(text) + (size_t)at > (size_t)width)
		snprintf(text, sizeof(text), "in flight %" PRIu64 "%s", l->in_flight, verdict);
	screen__put(2, at, width - at, SCREEN_PLAIN, text);
}

static const char *top_heading(const struct top_model *m, size_t column)
{
	const struct column *c = top_model__column(m, column);

	return c ? c->header : latency_by_words[m->keys[m->depth]];
}

/* "CPU 0.4 %  BPF 0.31 %" */
static const char *top_cost(const struct top_facts *facts, char *buf, size_t size)
{
	int len = snprintf(buf, size, "CPU %.1f %%", facts->cpu_percent);

	if (isfinite(facts->bpf_percent))
		snprintf(buf + len, size - (size_t)len, "  BPF %.2f %%", facts->bpf_percent);
	return buf;
}

/* With the own cost at the right, if there is room. */
static void draw_place(const struct top_screen *t, int width)
{
	const struct top_model *m = t->model;
	const char *first = m->column ? "largest" : "first";
	const char *filter = m->levels[m->depth].filter;
	char text[TOP_PLACE + TOP_FILTER + 160], cost[64];
	int used;

	if (m->is_reversed)
		first = m->column ? "smallest" : "last";
	snprintf(text, sizeof(text), "%s  by %s, %s %s first%s%s", m->depth ? m->place : "all",
		 top_heading(m, 0), first, m->column ? top_heading(m, m->column) : "name",
		 *filter ? "; if " : "", filter);
	used = screen__put(3, 0, width, SCREEN_PLAIN, text);
	if (t->browse.is_on)
		return;
	top_cost(&t->facts, cost, sizeof(cost));
	if (used + 2 + (int)strlen(cost) <= width)
		screen__put(3, width - (int)strlen(cost), width, SCREEN_PLAIN, cost);
}

/* ---- rows ---- */

static const int top_widths[TOP_COLUMNS] = { 0, 7, 8, 7, 8, 8, 8, 10 };

/* Which columns a window of this width has: those that matter least go first. */
static int top_fit(int width, bool shown[TOP_COLUMNS])
{
	static const size_t least[] = { 3, 7, 2, 4, 6, 5 };
	int name = width - TOP_MARK;

	for (size_t i = 1; i < TOP_COLUMNS; i++)
		name -= top_widths[i];
	memset(shown, true, TOP_COLUMNS * sizeof(*shown));
	for (size_t i = 0; i < sizeof(least) / sizeof(least[0]) && name < TOP_LEAST_NAME; i++) {
		shown[least[i]] = false;
		name += top_widths[least[i]];
	}
	return name;
}

/* A row without commands has rates, and nothing else. */
static const char *top_cell(const struct column *column, const struct top_row *row, char *buf,
			    size_t size)
{
	struct cell cell = column__cell(column, row);
	bool is_rate = cell.kind == CELL_RATE || cell.kind == CELL_MBPS;
	bool is_count = cell.kind == CELL_COUNT && cell.n != CELL_NO_NUMBER;

	if (!is_rate && !is_count && (!row->shown.count || cell.kind == CELL_NONE))
		return "-";
	switch (cell.kind) {
	case CELL_RATE: return text__rate(buf, size, cell.real);
	case CELL_MBPS: snprintf(buf, size, "%.1f", cell.real); return buf;
	case CELL_BYTES: return text__bytes(buf, size, cell.n);
	case CELL_DURATION: return text__duration(buf, size, cell.n);
	case CELL_COUNT: snprintf(buf, size, "%" PRIu64, cell.n); return buf;
	default: return "-";
	}
}

static void draw_right(int line, int end, int width, enum screen_look look, const char *text)
{
	int len = (int)strlen(text);

	screen__put(line, end - (len < width ? len : width), width, look, text);
}

static void draw_headings(const struct top_screen *t, const bool shown[TOP_COLUMNS], int name)
{
	int end = TOP_MARK + name;

	screen__put(TOP_HEADING, TOP_MARK, name, SCREEN_STRONG, top_heading(t->model, 0));
	for (size_t i = 1; i < TOP_COLUMNS; i++) {
		if (!shown[i])
			continue;
		end += top_widths[i];
		draw_right(TOP_HEADING, end, top_widths[i], SCREEN_STRONG,
			   top_heading(t->model, i));
	}
}

static void draw_row(const struct top_screen *t, size_t nr, int line, const bool shown[TOP_COLUMNS],
		     int name)
{
	const struct top_row *row = t->model->order[nr];
	enum screen_look look = nr == t->model->at ? SCREEN_CHOSEN : SCREEN_PLAIN;
	int end = TOP_MARK + name;
	char text[512], cell[TOP_CELL];

	if (nr == t->model->at)
		screen__put(line, 0, 1, look, ">");
	screen__put(line, TOP_MARK, name - 1, look,
		    top_model__name(t->model, &row->shown, text, sizeof(text)));
	for (size_t i = 1; i < TOP_COLUMNS; i++) {
		if (!shown[i])
			continue;
		end += top_widths[i];
		draw_right(line, end, top_widths[i] - 1, look,
			   top_cell(top_model__column(t->model, i), row, cell, sizeof(cell)));
	}
}

/* The chosen row is always among the lines. */
static void draw_rows(const struct top_screen *t, int width, int lines)
{
	const struct top_model *m = t->model;
	bool shown[TOP_COLUMNS];
	int name = top_fit(width, shown);
	size_t most = lines > 0 ? (size_t)lines : 1;
	size_t from = m->at >= most ? m->at + 1 - most : 0;

	draw_headings(t, shown, name);
	for (size_t i = 0; i < most && from + i < m->nr; i++)
		draw_row(t, from + i, TOP_HEADING + 1 + (int)i, shown, name);
	if (!m->nr)
		screen__put(TOP_HEADING + 1, TOP_MARK, width, SCREEN_PLAIN,
			    *m->levels[m->depth].filter ? "no row meets the condition"
			    : t->browse.is_on		? "no I/O in this window"
							: "no I/O yet");
}

/* ---- the strip: latency over time ---- */

struct top_strip {
	const struct top_track *track;
	size_t intervals;   /* that it is wide */
	size_t first, last; /* bands that are used */
};

static bool strip_find_bands(const struct top_model *m, struct top_strip *s)
{
	bool found = false;

	for (size_t band = 0; band < TOP_BANDS; band++) {
		bool used = false;

		for (size_t ago = 0; ago < s->intervals && !used; ago++)
			used = top_track__level(m, s->track, ago, band);
		if (!used)
			continue;
		s->first = found ? s->first : band;
		s->last = band;
		found = true;
	}
	return found;
}

/* "   128us |  .:-=|": bands up to this latency, of `per` octaves. */
static void draw_strip_line(const struct top_screen *t, const struct top_strip *s, int line,
			    size_t band, size_t per)
{
	char text[TOP_STRIP_LABEL + 4 + 4 * TOP_INTERVALS], edge[32];
	size_t len;

	text__duration(edge, sizeof(edge), 1ULL << (10 + band + per));
	len = (size_t)snprintf(text, sizeof(text), "%*s |", TOP_STRIP_LABEL - 2, edge);
	for (size_t ago = s->intervals; ago-- > 0;) {
		int most = 0;

		for (size_t i = band; i < band + per && i < TOP_BANDS; i++) {
			int level = top_track__level(t->model, s->track, ago, i);

			most = level > most ? level : most;
		}
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s",
					chart__shade(t->style, most));
	}
	snprintf(text + len, sizeof(text) - len, "|");
	screen__put(line, 0, screen__columns(), SCREEN_PLAIN, text);
}

static void draw_strip(const struct top_screen *t, int from, int lines)
{
	const struct top_row *row = top_model__chosen(t->model);
	int room = screen__columns() - TOP_STRIP_LABEL - 1;
	struct top_strip s = { .intervals = room < TOP_INTERVALS ? (size_t)room : TOP_INTERVALS };
	char name[256], text[384];
	size_t per, band;

	if (!row)
		return;
	s.track = row->track;
	top_model__name(t->model, &row->shown, name, sizeof(name));
	if (t->browse.is_on)
		snprintf(text, sizeof(text),
			 "latency of %s over %zu windows, this one at the right", name,
			 t->model->nr_intervals < s.intervals ? (size_t)t->model->nr_intervals
							      : s.intervals);
	else
		snprintf(text, sizeof(text),
			 "latency of %s over the last %zu intervals, now at the right", name,
			 s.intervals);
	screen__put(from, 0, screen__columns(), SCREEN_PLAIN, text);
	if (!strip_find_bands(t->model, &s))
		return;
	per = (s.last - s.first) / (size_t)(lines - 1) + 1;
	for (band = s.first; band <= s.last; band += per)
		draw_strip_line(t, &s, from + lines - 1 - (int)((band - s.first) / per), band, per);
}

/* ---- what goes wrong ---- */

static int top_trouble_lines(const struct top_screen *t, int lines)
{
	int most = lines < TOP_STRIP_FROM ? 1 : TOP_TROUBLE_LINES, nr = 0;

	while (t->troubles && nr < most && top_troubles__nth(t->troubles, (size_t)nr))
		nr++;
	return nr;
}

/* The word at its start is enough of an alarm where there is no colour. */
static void draw_trouble(const struct top_screen *t, const struct top_trouble *row, int line)
{
	char text[512], age[32];
	double ago_s = t->now_s - row->last_s;
	int at;

	at = screen__put(line, 0, screen__columns(), SCREEN_ALARM,
			 isnan(row->last_s) ? "STUCK" : "FAILED");
	if (isnan(row->last_s))
		snprintf(text, sizeof(text), "%s %s  %" PRIu64 " for %s: %s", row->dev, row->op,
			 row->count, text__duration(age, sizeof(age), row->oldest_ns), row->status);
	else
		snprintf(text, sizeof(text), "%s %s  %" PRIu64 ", the last %.0f s ago: %s",
			 row->dev, row->op, row->count, ago_s > 0 ? ago_s : 0, row->status);
	screen__put(line, at + 1, screen__columns() - at - 1, SCREEN_PLAIN, text);
}

/* The last line tells if there are more. */
static void draw_troubles(const struct top_screen *t, int from, int lines)
{
	const struct top_troubles *all = t->troubles;
	size_t nr = lines ? all->nr_stuck + all->nr_failed : 0;
	char text[96];

	for (int i = 0; i < lines; i++)
		draw_trouble(t, top_troubles__nth(all, (size_t)i), from + i);
	if (nr <= (size_t)lines)
		return;
	snprintf(text, sizeof(text), "  and %zu more kinds", nr - (size_t)lines);
	screen__put(from + lines - 1, screen__columns() - (int)strlen(text), (int)strlen(text),
		    SCREEN_PLAIN, text);
}

/* ---- the whole ---- */

static int draw_keys(const struct top_key *keys, const struct top_key *instead, int line, int lines)
{
	char text[128];

	for (const struct top_key *k = keys; k->act && line < lines; k++) {
		if (!k->help || (instead && top_key__find(instead, k->key)))
			continue;
		snprintf(text, sizeof(text), "%-10s %s", k->name, k->help);
		screen__put(line++, 0, screen__columns(), SCREEN_PLAIN, text);
	}
	return line;
}

static void draw_help(const struct top_screen *t, int lines)
{
	const struct top_key *instead = t->browse.is_on ? top_browse_keys : NULL;
	int line = 1;

	screen__put(0, 0, screen__columns(), SCREEN_STRONG,
		    "keys of iosonar top; any key goes back");
	if (instead)
		line = draw_keys(instead, NULL, line, lines);
	draw_keys(top_keys, instead, line, lines);
}

static void draw_last_line(const struct top_screen *t, int line, int width)
{
	char text[TOP_FILTER + 16];

	if (*t->message) {
		screen__put(line, 0, width, SCREEN_STRONG, t->message);
	} else if (t->types) {
		snprintf(text, sizeof(text), "/%s_", t->input);
		screen__put(line, 0, width, SCREEN_STRONG, text);
	} else {
		screen__put(line, 0, width, SCREEN_FAINT,
			    t->browse.is_on
				    ? "?:help q:quit Left Right:time +-:window Space:play "
				      "Enter:open Backspace:back s:sort r:reverse /:if l:latency "
				      "h:heat"
				    : "?:help q:quit Enter:open Backspace:back s:sort r:reverse "
				      "/:if Space:freeze +-:interval l:latency h:heat");
	}
}

static void draw_all(const struct top_screen *t, int lines, int width)
{
	int strip = t->hides_strip || lines < TOP_STRIP_FROM ? 0 : lines / 3;
	int troubles = top_trouble_lines(t, lines), rows;

	strip = strip > TOP_STRIP_LINES + 1 ? TOP_STRIP_LINES + 1 : strip;
	rows = lines - TOP_HEADING - 2 - strip - troubles;
	draw_first_line(t, width);
	draw_sum(t, width);
	draw_ledger(t, width);
	draw_place(t, width);
	draw_rows(t, width, rows);
	if (strip)
		draw_strip(t, lines - 1 - troubles - strip, strip);
	draw_troubles(t, lines - 1 - troubles, troubles);
	draw_last_line(t, lines - 1, width);
}

void top_screen__draw(const struct top_screen *t)
{
	int lines = screen__lines(), width = screen__columns();

	screen__clear();
	if (lines < TOP_LEAST_LINES || width < TOP_LEAST_COLUMNS)
		screen__put(0, 0, width, SCREEN_STRONG, "window < 40x10: enlarge it, or q quits");
	else if (t->shows_help)
		draw_help(t, lines);
	else
		draw_all(t, lines, width);
	screen__show();
}
