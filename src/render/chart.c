/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart.c: what does a distribution look like? Bars for one, a row of shades per interval for its
 * course over time. Every value above zero is visible: a bar has at least an eighth of a block, a
 * shade at least a dot; the smallest are drawn too large, so the counts are printed beside them.
 */
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "render/chart.h"
#include "base/options.h"
#include "base/terminal.h"
#include "decode/column.h"

enum {
	CHART_COLUMNS = 100, /* if the stream is not a terminal */

	BAR_BOUND_WIDTH = 8, /* minimum: "123.4us" and a space */
	BAR_COUNT_WIDTH = 8,
	BAR_LEAST = 4, /* a narrower bar is not readable */
	BAR_FOLD = 3,  /* this many empty rows in sequence become one line */
	BAR_DIGITS = 3,
	BAR_MAX_DIGITS = 9,

	HEAT_FROM_BIT = 10, /* 2^10 ns, about 1 us */
	HEAT_TO_BIT = 36,   /* 2^36 ns, about 64 s */
	HEAT_OCTAVES = HEAT_TO_BIT - HEAT_FROM_BIT,
	HEAT_FRAME = 7 + 2 + 2 + 10,   /* time, both borders, count */
	HEAT_BANDS = 2 * HEAT_OCTAVES, /* the most */
};

static bool chart_wants_color(FILE *out, int color)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	if (color != COLOR_AUTO)
		return color == COLOR_ALWAYS;
	return isatty(fileno(out)) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

/* UTF-8 is known only after main called setlocale(LC_CTYPE, ""). */
struct chart_style chart__style_of(FILE *out, int color)
{
	return (struct chart_style){
		.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8"),
		.color = chart_wants_color(out, color),
		.columns = (int)terminal__columns(fileno(out)) ?: CHART_COLUMNS,
	};
}

static int chart_columns(struct chart_style style)
{
	return style.columns > 0 ? style.columns : CHART_COLUMNS;
}

static void chart_repeat(FILE *out, const char *text, int nr)
{
	while (nr-- > 0)
		fputs(text, out);
}

static const struct bar_unit {
	uint64_t ns;
	const char *name;
	int max_decimals;
} bar_units[] = { { 1000000000, "s", 9 }, { 1000000, "ms", 6 }, { 1000, "us", 3 }, { 1, "ns", 0 } };

static const struct bar_unit *bar_unit(uint64_t ns)
{
	const struct bar_unit *unit = bar_units;

	while (unit->ns > ns && unit->ns > 1)
		unit++;
	return unit;
}

/* The decimals that fit in `digits` significant digits. */
static int bar_decimals(uint64_t ns, int digits)
{
	const struct bar_unit *unit = bar_unit(ns);
	uint64_t whole = ns / unit->ns;

	for (; digits && whole; digits--)
		whole /= 10;
	return digits < unit->max_decimals ? digits : unit->max_decimals;
}

/* Value of the last digit of a bound. */
static uint64_t bar_last_digit_ns(uint64_t ns, int digits)
{
	uint64_t worth = bar_unit(ns)->ns;

	for (int i = bar_decimals(ns, digits); i > 0; i--)
		worth /= 10;
	return worth;
}

/* Enough that no row is narrower than the last digit of its bounds. */
static int bar_digits(const struct hist_range *ranges, int nr)
{
	int digits = BAR_DIGITS, i;

	for (i = 0; i < nr; i++)
		while (ranges[i].to_ns && digits < BAR_MAX_DIGITS &&
		       bar_last_digit_ns(ranges[i].to_ns, digits) >
			       ranges[i].to_ns - ranges[i].from_ns)
			digits++;
	return digits;
}

/* A bound without decimals is exact: "20us"; "20.0us" is rounded. */
static void bar_bound(char *buf, size_t size, uint64_t ns, int digits)
{
	const struct bar_unit *unit = bar_unit(ns);
	int decimals = ns % unit->ns ? bar_decimals(ns, digits) : 0;

	snprintf(buf, size, "%.*f%s", decimals, (double)ns / (double)unit->ns, unit->name);
}

static void bar_label(struct chart_bar *bar, const struct hist_range *range, int digits)
{
	bar_bound(bar->from, sizeof(bar->from), range->from_ns, digits);
	if (!range->from_ns)
		snprintf(bar->from, sizeof(bar->from), "0%s",
			 range->to_ns ? bar_unit(range->to_ns)->name : "us");
	if (range->to_ns)
		bar_bound(bar->to, sizeof(bar->to), range->to_ns, digits);
	else
		snprintf(bar->to, sizeof(bar->to), "...");
}

/* The layout of one histogram. */
struct bar_layout {
	int from_width, to_width, count_width, bar_width;
	uint64_t most;
};

static void bar_grow(int *width, size_t needed)
{
	if ((size_t)*width < needed)
		*width = (int)needed;
}

static struct bar_layout bar_layout(struct chart_style style, const struct chart_bar *bars, int nr)
{
	struct bar_layout layout = { .from_width = BAR_BOUND_WIDTH,
				     .to_width = BAR_BOUND_WIDTH,
				     .count_width = BAR_COUNT_WIDTH };
	char count[32];

	for (int i = 0; i < nr; i++) {
		bar_grow(&layout.from_width, strlen(bars[i].from));
		bar_grow(&layout.to_width, strlen(bars[i].to));
		snprintf(count, sizeof(count), "%llu", (unsigned long long)bars[i].count);
		bar_grow(&layout.count_width, strlen(count));
		if (bars[i].count > layout.most)
			layout.most = bars[i].count;
	}
	/* "[", ", ", ")", two spaces before each column, "|" at both ends of the bar */
	layout.bar_width = chart_columns(style) - (4 + layout.from_width + layout.to_width) -
			   (2 + layout.count_width) - (2 + 10) - (2 + 2);
	return layout;
}

/* 99.9996% is not 100%: uses as many decimals as needed, at most 5. */
static void bar_percent(char *buf, size_t size, double percent)
{
	int decimals = 1;

	do {
		snprintf(buf, size, "%.*f%%", decimals, percent);
	} while (percent < 100 && !strncmp(buf, "100", 3) && ++decimals <= 5);
	if (percent < 100 && !strncmp(buf, "100", 3))
		snprintf(buf, size, ">99.9999%%");
}

/* Rounded once, to drawable steps: characters, or eighths of one in UTF-8. */
static void bar_draw(FILE *out, struct chart_style style, const struct bar_layout *layout,
		     uint64_t count)
{
	static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	int per_block = style.utf8 ? 8 : 1;
	double share = layout->most ? (double)count / (double)layout->most : 0;
	int filled = (int)(share * (layout->bar_width * per_block) + 0.5), full, rest;

	if (count && !filled) /* a nonzero value gets a step */
		filled = 1;
	full = filled / per_block;
	rest = filled % per_block;
	fputs("  |", out);
	chart_repeat(out, style.utf8 ? "█" : "#", full);
	fputs(parts[rest], out);
	chart_repeat(out, " ", layout->bar_width - full - !!rest);
	fputc('|', out);
}

static void bar_row(FILE *out, struct chart_style style, const struct bar_layout *layout,
		    const struct chart_bar *bar)
{
	char percent[32];

	bar_percent(percent, sizeof(percent), bar->cumulative_percent);
	fprintf(out, "[%*s, %*s%c  %*llu  %10s", layout->from_width, bar->from, layout->to_width,
		bar->to, bar->is_closed ? ']' : ')', layout->count_width,
		(unsigned long long)bar->count, percent);
	if (layout->bar_width >= BAR_LEAST)
		bar_draw(out, style, layout, bar->count);
	fputc('\n', out);
}

static int bar_run_of_empty(const struct chart_bar *bars, int nr)
{
	int run = 0;

	while (run < nr && !bars[run].count)
		run++;
	return run;
}

void chart__bars(FILE *out, struct chart_style style, const char *heading,
		 const struct chart_bar *bars, int nr)
{
	struct bar_layout layout = bar_layout(style, bars, nr);
	int label_width = 4 + layout.from_width + layout.to_width;
	int middle = (label_width + (int)strlen(heading)) / 2, i;

	if (nr <= 0)
		return;
	fprintf(out, "%*s%*s  %*s  %10s\n", middle, heading,
		label_width > middle ? label_width - middle : 0, "", layout.count_width, "count",
		"cumulative");
	for (i = 0; i < nr; i++) {
		int empty = bar_run_of_empty(bars + i, nr - i);

		if (empty >= BAR_FOLD) {
			fprintf(out, "%*s...\n", label_width / 2 - 1, "");
			i += empty - 1;
			continue;
		}
		bar_row(out, style, &layout, &bars[i]);
	}
}

void chart__histogram(FILE *out, struct chart_style style, const struct hist_range *ranges, int nr)
{
	struct chart_bar *bars = nr > 0 ? calloc((size_t)nr, sizeof(*bars)) : NULL;
	int digits = bar_digits(ranges, nr), i;

	for (i = 0; bars && i < nr; i++) {
		bar_label(&bars[i], &ranges[i], digits);
		bars[i].count = ranges[i].count;
		bars[i].cumulative_percent = ranges[i].cumulative_percent;
	}
	if (bars)
		chart__bars(out, style, "latency", bars, nr);
	free(bars);
}

/* Buckets per band: half an octave, an octave or two, as the width allows. */
static uint32_t heat_band_size(struct chart_style style)
{
	int columns = chart_columns(style);

	if (columns >= HEAT_FRAME + 2 * HEAT_OCTAVES)
		return HIST_SUB / 2;
	return columns >= HEAT_FRAME + HEAT_OCTAVES ? HIST_SUB : 2 * HIST_SUB;
}

void chart__bar(FILE *out, struct chart_style style, int width, uint64_t count, uint64_t most)
{
	const struct bar_layout layout = { .bar_width = width, .most = most };

	bar_draw(out, style, &layout, count);
}

/* Values faster than the first band or slower than the last are counted in that band. */
static uint32_t heat_band(uint32_t slot, uint32_t size)
{
	uint32_t from = hist_slot(1ULL << HEAT_FROM_BIT), to = hist_slot(1ULL << HEAT_TO_BIT);

	if (slot < from)
		return 0;
	return ((slot < to ? slot : to - 1) - from) / size;
}

static uint32_t heat_nr_bands(uint32_t size)
{
	return HEAT_OCTAVES * HIST_SUB / size;
}

/* A label is above the band that holds its time, and is left out if it would touch another. */
void chart__heat_heading(FILE *out, struct chart_style style)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} marks[] = { { 1000, "1us" },	    { 10000, "10us" },	   { 100000, "100us" },
		      { 1000000, "1ms" },   { 10000000, "10ms" },  { 100000000, "100ms" },
		      { 1000000000, "1s" }, { 10000000000, "10s" } };
	uint32_t size = heat_band_size(style), nr = heat_nr_bands(size), at = 0, band;

	fprintf(out, "%7s |", "time");
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		band = heat_band(hist_slot(marks[i].ns), size);
		if ((at && band <= at) || band + strlen(marks[i].name) > nr)
			continue;
		fprintf(out, "%*s%s", (int)(band - at), "", marks[i].name);
		at = band + (uint32_t)strlen(marks[i].name);
	}
	fprintf(out, "%*s| count\n", (int)(nr - at), "");
}

int chart__level(uint64_t count, uint64_t total)
{
	double share = total ? (double)count / (double)total : 0;
	int level = CHART_LEVELS - 1;

	if (!count)
		return 0;
	for (; level > 1 && share < 0.5; level--)
		share *= 2;
	return level;
}

const char *chart__shade(struct chart_style style, int level)
{
	static const char *const blocks[] = { " ", "·", "░", "▒", "▓", "█" };
	static const char *const ascii[CHART_LEVELS] = { " ", ".", ":", "-", "=",
							 "+", "*", "#", "%", "@" };

	return style.utf8 ? blocks[(level + 1) / 2] : ascii[level];
}

/* Cold to hot in the 256 colours, one per level; written only on a change. */
static void heat_cells(FILE *out, struct chart_style style, const uint64_t *counts, uint32_t nr)
{
	static const int colors[CHART_LEVELS] = { 0, 60, 67, 73, 78, 114, 185, 214, 208, 196 };
	uint64_t total = 0;
	int last = 0;

	for (uint32_t i = 0; i < nr; i++)
		total += counts[i];
	for (uint32_t i = 0; i < nr; i++) {
		int level = chart__level(counts[i], total);

		if (style.color && level && level != last) {
			fprintf(out, "\033[38;5;%dm", colors[level]);
			last = level;
		}
		fputs(chart__shade(style, level), out);
	}
	if (last)
		fputs("\033[0m", out);
}

/* Tenths only if not zero: a tick that is 20 us late is still at "3s". */
static void heat_time(FILE *out, double seconds)
{
	char time[32];
	size_t len;

	snprintf(time, sizeof(time), "%.1f", seconds);
	len = strlen(time);
	if (len > 2 && !strcmp(time + len - 2, ".0"))
		time[len - 2] = '\0';
	fprintf(out, "%6ss |", time);
}

void chart__heat_row(FILE *out, struct chart_style style, double seconds, const struct hist *h)
{
	uint32_t size = heat_band_size(style), nr = heat_nr_bands(size), i;
	uint64_t counts[HEAT_BANDS] = { 0 }, total = 0;

	for (i = 0; i < HIST_CELLS; i++) {
		counts[heat_band(i, size)] += h->slots[i];
		total += h->slots[i];
	}
	heat_time(out, seconds);
	heat_cells(out, style, counts, nr);
	fprintf(out, "| %llu\n", (unsigned long long)total);
}

void chart__shades(FILE *out, struct chart_style style, const uint64_t *counts, uint32_t nr)
{
	fputc('|', out);
	heat_cells(out, style, counts, nr);
	fputc('|', out);
}
