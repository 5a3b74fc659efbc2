/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chart.h: pictures in a terminal: histogram bars and heat rows. UTF-8 blocks where the locale
 * allows, ASCII elsewhere; colour only when asked.
 */
#ifndef IOSONAR_RENDER_CHART_H
#define IOSONAR_RENDER_CHART_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "analyse/hist.h"

struct chart_style {
	bool utf8, color;
	int columns; /* of the terminal; 100 if unknown */
};

/* What this stream can show. color: enum color_when of options.h. */
struct chart_style chart__style_of(FILE *out, int color);

/*
 *	      latency            count  cumulative
 *	[  64.0us,   66.0us)       812      27.1%  |██████▌            |
 */
void chart__histogram(FILE *out, struct chart_style style, const struct hist_range *ranges, int nr);

/*
 * One row an interval: "     3s | ·░▒▓█   | 1234". Columns are octaves from 1us to 64s, halved
 * where the width allows; shade is the share of the interval's commands in that band.
 */
void chart__heat_heading(FILE *out, struct chart_style style);
void chart__heat_row(FILE *out, struct chart_style style, double seconds, const struct hist *h);

#endif
