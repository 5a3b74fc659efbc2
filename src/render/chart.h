/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart.h: pictures in a terminal: histogram bars and heat rows. UTF-8 blocks if the locale allows,
 * otherwise ASCII; colour only on request.
 */
#ifndef IOSONAR_RENDER_CHART_H
#define IOSONAR_RENDER_CHART_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "analyse/hist.h"

struct chart_style {
	bool utf8, color;
	int columns; /* of the terminal, or 100 if unknown */
};

/* What this stream can show. color: enum color_when of options.h. */
struct chart_style chart__style_of(FILE *out, int color);

/*
 *	      latency            count  cumulative
 *	[  64.0us,   66.0us)       812      27.1%  |██████▌            |
 */
void chart__histogram(FILE *out, struct chart_style style, const struct hist_range *ranges, int nr);

/* A bar of any histogram: bounds are given as text. */
struct chart_bar {
	char from[32], to[32];
	bool is_closed; /* `to` is included */
	uint64_t count;
	double cumulative_percent;
};
void chart__bars(FILE *out, struct chart_style style, const char *heading,
		 const struct chart_bar *bars, int nr);

/*
 * One row per interval: "     3s | ·░▒▓█   | 1234". Columns are octaves from 1us to 64s, halved
 * if the width allows; the shade is the band's share of the interval's commands.
 */
void chart__heat_heading(FILE *out, struct chart_style style);
void chart__heat_row(FILE *out, struct chart_style style, double seconds, const struct hist *h);

/* The shade of a share: each level is twice the share of the level below; 9 is half or more, 0 is
 * nothing. One column wide. */
enum { CHART_LEVELS = 10 };
int chart__level(uint64_t count, uint64_t total);
const char *chart__shade(struct chart_style style, int level);

/* A bar between its ends, "  |██▌  |": fills count/most of the width. */
void chart__bar(FILE *out, struct chart_style style, int width, uint64_t count, uint64_t most);
/* A row of shades, "|·░▒▓█ |": each shows its count's share of the total, as in a heat map. */
void chart__shades(FILE *out, struct chart_style style, const uint64_t *counts, uint32_t nr);

#endif
