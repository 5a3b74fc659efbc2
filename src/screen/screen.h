/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * screen.h: a whole terminal to draw on, and its keys. Only what differs from the last time is
 * written. Every text is taken for hostile: it is escaped and cut to its width here. The terminal's
 * description is read when the screen is opened; nothing is opened later.
 */
#ifndef IOSONAR_SCREEN_SCREEN_H
#define IOSONAR_SCREEN_SCREEN_H

#include <stdbool.h>
#include "render/chart.h"

/* Keys that are no character. */
enum screen_key {
	SCREEN_NO_KEY = 0, /* no more of them now */
	SCREEN_UP = -1,
	SCREEN_DOWN = -2,
	SCREEN_LEFT = -3,
	SCREEN_RIGHT = -4,
	SCREEN_PAGE_UP = -5,
	SCREEN_PAGE_DOWN = -6,
	SCREEN_HOME = -7,
	SCREEN_END = -8,
	SCREEN_ENTER = -9,
	SCREEN_BACK = -10, /* backspace, delete */
	SCREEN_ESCAPE = -11,
	SCREEN_OTHER = -12,
	SCREEN_GONE = -13, /* the terminal has */
};

/* None of them carries a meaning that the text does not have. */
enum screen_look {
	SCREEN_PLAIN,
	SCREEN_STRONG,
	SCREEN_FAINT,
	SCREEN_CHOSEN,
	SCREEN_ALARM,
};

bool screen__is_built_in(void);
/*
 * Takes over the terminal of stdin and stdout. -EOPNOTSUPP, said: no ncurses, or the terminal is
 * not known or cannot do it. Only one at a time.
 */
int screen__open(struct chart_style style);
void screen__close(void);   /* gives the terminal back as it was; none open: nothing to do */
void screen__suspend(void); /* gives it back until the next screen__show */
void screen__resize(void);  /* after SIGWINCH, or when the process continues */
/* Of the window, now. */
int screen__lines(void);
int screen__columns(void);
/* The next key: a character, or enum screen_key. */
int screen__key(void);

void screen__clear(void);
/* At most `width` columns of the text; returns how many. */
int screen__put(int line, int column, int width, enum screen_look look, const char *text);
void screen__show(void); /* what was put since screen__clear */

#endif
