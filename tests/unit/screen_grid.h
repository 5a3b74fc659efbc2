/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * screen_grid.h: a screen of memory for unit tests: the functions of screen.h write to a grid of
 * characters. Included once by a test, instead of src/screen/screen.c.
 */
#ifndef IOSONAR_UNIT_SCREEN_GRID_H
#define IOSONAR_UNIT_SCREEN_GRID_H

#include <string.h>
#include "screen/screen.h"

enum { MOST_LINES = 80, MOST_COLUMNS = 300 };

static char grid[MOST_LINES][MOST_COLUMNS + 1];
static int nr_lines = 24, nr_columns = 80;
static int alarm_line; /* with SCREEN_ALARM; -1: none */

bool screen__is_built_in(void)
{
	return true;
}

int screen__open(struct chart_style style)
{
	(void)style;
	return 0;
}

void screen__close(void)
{
}

void screen__suspend(void)
{
}

void screen__resize(void)
{
}

int screen__lines(void)
{
	return nr_lines;
}

int screen__columns(void)
{
	return nr_columns;
}

int screen__key(void)
{
	return SCREEN_NO_KEY;
}

void screen__clear(void)
{
	for (int i = 0; i < MOST_LINES; i++) {
		memset(grid[i], ' ', MOST_COLUMNS);
		grid[i][MOST_COLUMNS] = 0;
	}
	alarm_line = -1;
}

int screen__put(int line, int column, int width, enum screen_look look, const char *text)
{
	int len = (int)strlen(text);

	if (column + width > nr_columns)
		width = nr_columns - column;
	if (line < 0 || line >= nr_lines || column < 0 || width <= 0)
		return 0;
	len = len < width ? len : width;
	memcpy(&grid[line][column], text, (size_t)len);
	if (look == SCREEN_ALARM)
		alarm_line = line;
	return len;
}

void screen__show(void)
{
	for (int i = 0; i < MOST_LINES; i++)
		for (int end = MOST_COLUMNS; end > 0 && grid[i][end - 1] == ' '; end--)
			grid[i][end - 1] = 0;
}

#endif
