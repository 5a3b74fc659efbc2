/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart.c: are the pictures true to the counts, and do they fit? Bars and shades are compared
 * character by character in both alphabets; every line is measured at every width.
 */
#include <stdlib.h>
#include "base/options.h"
#include "render/chart.h"
#include "decode/column.h"
#include "tap.h"

static const struct chart_style ascii = { .columns = 60 };
static const struct chart_style utf8 = { .utf8 = true, .columns = 60 };

struct picture {
	char *text;
	size_t size;
	FILE *out;
};

static void picture_open(struct picture *p)
{
	*p = (struct picture){ 0 };
	p->out = open_memstream(&p->text, &p->size);
}

static void picture_is(struct picture *p, const char *want, const char *what)
{
	fclose(p->out);
	is_str(p->text, want, what);
	free(p->text);
}

/* The longest line, in characters. */
static size_t picture_width(struct picture *p)
{
	size_t most = 0, width;
	char *line;

	fclose(p->out);
	for (line = strtok(p->text, "\n"); line; line = strtok(NULL, "\n")) {
		width = text__width(line);
		most = width > most ? width : most;
	}
	free(p->text);
	return most;
}

static void check_bars(void)
{
	static const struct hist_range ranges[] = {
		{ 0, 20000, 1, 0.01 },	     { 20000, 21000, 160, 1 },
		{ 21000, 22000, 85, 50 },    { 22000, 65536, 0, 99.9996 },
		{ 65536, 1044000, 40, 100 }, { 67108884000, 0, 10, 100 },
	};
	struct picture p;

	picture_open(&p);
	chart__histogram(p.out, utf8, ranges, 6);
	picture_is(&p,
		   "      latency            count  cumulative\n"
		   "[     0us,     20us)         1        0.0%  |▏             |\n"
		   "[    20us,     21us)       160        1.0%  |██████████████|\n"
		   "[    21us,     22us)        85       50.0%  |███████▌      |\n"
		   "[    22us,   65.5us)         0    99.9996%  |              |\n"
		   "[  65.5us,   1.04ms)        40      100.0%  |███▌          |\n"
		   "[   67.1s,      ...)        10      100.0%  |▉             |\n",
		   "bars in eighths");
	picture_open(&p);
	chart__histogram(p.out, ascii, ranges, 6);
	picture_is(&p,
		   "      latency            count  cumulative\n"
		   "[     0us,     20us)         1        0.0%  |#             |\n"
		   "[    20us,     21us)       160        1.0%  |##############|\n"
		   "[    21us,     22us)        85       50.0%  |#######       |\n"
		   "[    22us,   65.5us)         0    99.9996%  |              |\n"
		   "[  65.5us,   1.04ms)        40      100.0%  |####          |\n"
		   "[   67.1s,      ...)        10      100.0%  |#             |\n",
		   "bars in ASCII");
	picture_open(&p);
	chart__histogram(p.out, ascii, ranges, 0);
	picture_is(&p, "", "no ranges, no picture");
}

static void check_labels(void)
{
	static const struct hist_range narrow[] = { { 1000000, 1001000, 1, 50 },
						    { 1001000, 1002000, 1, 100 } };
	static const struct hist_range large[] = { { 0, 0, 12345678901, 100 } };
	struct chart_style thin = { .columns = 40 };
	struct picture p;

	picture_open(&p);
	chart__histogram(p.out, thin, narrow, 2);
	picture_is(&p,
		   "      latency            count  cumulative\n"
		   "[     1ms,  1.001ms)         1       50.0%\n"
		   "[ 1.001ms,  1.002ms)         1      100.0%\n",
		   "as many digits as tell the rows apart; no bar where none fits");
	picture_open(&p);
	chart__histogram(p.out, thin, large, 1);
	picture_is(&p,
		   "      latency               count  cumulative\n"
		   "[     0us,      ...)  12345678901      100.0%\n",
		   "a large count widens its column");
}

static void check_nearly_all(double percent, const char *want)
{
	struct hist_range range = { 1, 2, 1, percent };
	struct chart_style thin = { .columns = 40 };
	struct picture p;
	char lines[160];

	picture_open(&p);
	chart__histogram(p.out, thin, &range, 1);
	snprintf(lines, sizeof(lines),
		 "      latency            count  cumulative\n"
		 "[     1ns,      2ns)         1  %10s\n",
		 want);
	picture_is(&p, lines, want);
}

static void heat_fill(struct hist *h)
{
	int i;

	for (i = 0; i < 750; i++)
		hist__add(h, 90000, 0);
	for (i = 0; i < 249; i++)
		hist__add(h, 140000, 0);
	hist__add(h, 3000000000, 0);
}

static void check_heat(void)
{
	struct chart_style style = { .utf8 = true, .columns = 60 };
	struct hist *h = calloc(1, sizeof(*h));
	struct picture p;

	heat_fill(h);
	picture_open(&p);
	chart__heat_heading(p.out, style);
	chart__heat_row(p.out, style, 3.00004, h);
	picture_is(&p,
		   "   time |1us   100us  10ms  1s  10s| count\n"
		   "     3s |      █▓             ·    | 1000\n",
		   "octaves and their shades");
	style = (struct chart_style){ .columns = 80 };
	picture_open(&p);
	chart__heat_heading(p.out, style);
	chart__heat_row(p.out, style, 0.5, h);
	picture_is(&p,
		   "   time |1us   10us   100us 1ms    10ms  100ms  1s     10s   | count\n"
		   "   0.5s |            @ #                           .         | 1000\n",
		   "half octaves in ASCII");
	style = (struct chart_style){ .columns = 60, .color = true };
	picture_open(&p);
	chart__heat_row(p.out, style, 12, h);
	picture_is(&p,
		   "    12s |      \033[38;5;196m@\033[38;5;214m#             \033[38;5;60m.    "
		   "\033[0m| 1000\n",
		   "colours, taken back at the end");
	free(h);
}

static void check_heat_ends(void)
{
	struct chart_style style = { .columns = 60 };
	struct hist *h = calloc(1, sizeof(*h));
	struct picture p;

	picture_open(&p);
	chart__heat_row(p.out, style, 1, h);
	picture_is(&p, "     1s |                          | 0\n", "an idle interval");
	hist__add(h, 0, 0);
	hist__add(h, UINT64_MAX, 0);
	picture_open(&p);
	chart__heat_row(p.out, style, 1, h);
	picture_is(&p, "     1s |@                        @| 2\n",
		   "the ends take what is past them");
	free(h);
}

static void check_single(void)
{
	static const uint64_t counts[] = { 0, 1, 500, 250, 0, 249 };
	struct picture p;

	picture_open(&p);
	chart__bar(p.out, utf8, 8, 3, 16);
	chart__bar(p.out, ascii, 8, 16, 16);
	chart__bar(p.out, ascii, 4, 0, 0);
	picture_is(&p, "  |█▌      |  |########|  |    |", "bars by themselves");
	picture_open(&p);
	chart__shades(p.out, ascii, counts, 6);
	chart__shades(p.out, utf8, counts, 6);
	chart__shades(p.out, ascii, counts, 1);
	picture_is(&p, "| .@% #|| ·█▓ ▓|| |", "shades by themselves");
}

static void check_fit(void)
{
	struct hist *h = calloc(1, sizeof(*h));
	struct hist_range ranges[20];
	struct chart_style style;
	struct picture p;
	int columns, nr, wide = 0;

	heat_fill(h);
	nr = hist__ranges(h, ranges, 20);
	for (columns = 46; columns < 240; columns++) {
		style = (struct chart_style){ .utf8 = columns % 2, .columns = columns };
		picture_open(&p);
		chart__histogram(p.out, style, ranges, nr);
		chart__heat_heading(p.out, style);
		chart__heat_row(p.out, style, 3, h);
		wide += picture_width(&p) > (size_t)columns;
	}
	is_u64((uint64_t)wide, 0, "everything fits from 46 columns on");
	free(h);
}

static void check_style(void)
{
	FILE *out = tmpfile();
	struct chart_style style = chart__style_of(out, COLOR_AUTO);

	is_u64((uint64_t)style.columns, 100, "a file has 100 columns");
	ok(!style.color, "and no colour");
	ok(!style.utf8, "nor UTF-8 in the C locale");
	ok(chart__style_of(out, COLOR_ALWAYS).color, "unless asked for");
	ok(!chart__style_of(out, COLOR_NEVER).color, "or refused");
	fclose(out);
}

int main(void)
{
	check_bars();
	check_labels();
	check_nearly_all(99.94, "99.9%");
	check_nearly_all(99.95001, "99.95%");
	check_nearly_all(99.9999, "99.9999%");
	check_nearly_all(99.99999999, ">99.9999%");
	check_nearly_all(100, "100.0%");
	check_heat();
	check_heat_ends();
	check_single();
	check_fit();
	check_style();
	return done_testing();
}
