/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE 1 /* wcwidth */
#include "screen/screen.h"

#include <errno.h>
#include "base/log.h"

#ifdef HAVE_NCURSES

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <curses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>
#include "base/text.h"

enum {
	SCREEN_TEXT = 1024,    /* bytes of a text, escaped */
	SCREEN_ESCAPE_MS = 50, /* after which an escape is no longer the start of a key */
	SCREEN_RED = 1,	       /* a pair of colours */
};

/* ncurses has one current terminal, so this has, too. */
static SCREEN *screen_terminal;
static bool screen_has_red;

bool screen__is_built_in(void)
{
	return true;
}

/* ---- begin and end ---- */

/* ncurses handles them itself, and exits; here the loop takes them. */
static const int screen_signals[] = { SIGINT, SIGTERM, SIGTSTP, SIGWINCH };
enum { SCREEN_SIGNALS = sizeof(screen_signals) / sizeof(screen_signals[0]) };

static SCREEN *screen_new_terminal(void)
{
	struct sigaction old[SCREEN_SIGNALS];
	SCREEN *terminal;

	for (size_t i = 0; i < SCREEN_SIGNALS; i++)
		sigaction(screen_signals[i], NULL, &old[i]);
	terminal = newterm(NULL, stdout, stdin);
	for (size_t i = 0; i < SCREEN_SIGNALS; i++)
		sigaction(screen_signals[i], &old[i], NULL);
	return terminal;
}

static int screen_refuse(const char *why)
{
	const char *term = getenv("TERM");

	return log_err(-EOPNOTSUPP, "%s TERM=%s; -o json prints samples without a screen", why,
		       term ? term : "");
}

static void screen_set_modes(struct chart_style style)
{
	cbreak();
	noecho();
	nonl();
	intrflush(stdscr, FALSE);
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	leaveok(stdscr, TRUE);
	typeahead(-1);
	curs_set(0);
	set_escdelay(SCREEN_ESCAPE_MS);
	screen_has_red = style.color && has_colors() && start_color() == OK;
	if (screen_has_red) {
		use_default_colors();
		init_pair(SCREEN_RED, COLOR_RED, -1);
	}
}

int screen__open(struct chart_style style)
{
	const char *move;

	fflush(stdout);
	screen_terminal = screen_new_terminal();
	if (!screen_terminal)
		return screen_refuse("this system has no description of the terminal");
	move = tigetstr("cup");
	if (!move || move == (char *)-1) {
		screen__close();
		return screen_refuse("there is no way to place text on the terminal");
	}
	screen_set_modes(style);
	return 0;
}

void screen__close(void)
{
	if (!screen_terminal)
		return;
	endwin();
	delscreen(screen_terminal);
	screen_terminal = NULL;
}

void screen__suspend(void)
{
	endwin();
}

void screen__resize(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
}

int screen__lines(void)
{
	return getmaxy(stdscr);
}

int screen__columns(void)
{
	return getmaxx(stdscr);
}

/* ---- keys ---- */

static const struct {
	wint_t code;
	enum screen_key key;
} screen_codes[] = {
	{ KEY_UP, SCREEN_UP },	       { KEY_DOWN, SCREEN_DOWN },
	{ KEY_LEFT, SCREEN_LEFT },     { KEY_RIGHT, SCREEN_RIGHT },
	{ KEY_PPAGE, SCREEN_PAGE_UP }, { KEY_NPAGE, SCREEN_PAGE_DOWN },
	{ KEY_HOME, SCREEN_HOME },     { KEY_END, SCREEN_END },
	{ KEY_ENTER, SCREEN_ENTER },   { KEY_BACKSPACE, SCREEN_BACK },
	{ KEY_DC, SCREEN_BACK },
};

static int screen_code_key(wint_t code)
{
	for (size_t i = 0; i < sizeof(screen_codes) / sizeof(screen_codes[0]); i++)
		if (screen_codes[i].code == code)
			return screen_codes[i].key;
	return SCREEN_OTHER;
}

static int screen_character_key(wint_t c)
{
	switch (c) {
	case '\r':
	case '\n': return SCREEN_ENTER;
	case '\b':
	case 0x7f: return SCREEN_BACK;
	case 0x1b: return SCREEN_ESCAPE;
	default: return c < ' ' ? SCREEN_OTHER : (int)c;
	}
}

/* A terminal that has gone is readable for ever. */
static int screen_no_key(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, 0) > 0 && in.revents & (POLLHUP | POLLERR | POLLNVAL) ? SCREEN_GONE
										  : SCREEN_NO_KEY;
}

int screen__key(void)
{
	wint_t c;

	switch (get_wch(&c)) {
	case KEY_CODE_YES: return screen_code_key(c);
	case OK: return screen_character_key(c);
	default: return screen_no_key();
	}
}

/* ---- drawing ---- */

static attr_t screen_attribute(enum screen_look look)
{
	switch (look) {
	case SCREEN_PLAIN: return A_NORMAL;
	case SCREEN_STRONG: return A_BOLD;
	case SCREEN_FAINT: return A_DIM;
	case SCREEN_CHOSEN: return A_REVERSE;
	case SCREEN_ALARM: return A_BOLD | A_REVERSE;
	}
	return A_NORMAL;
}

void screen__clear(void)
{
	erase();
}

/* One character of escaped text; what the locale does not have is a question mark. */
static size_t screen_next(const char *text, wchar_t *c)
{
	mbstate_t state = { 0 };
	size_t len = mbrtowc(c, text, strlen(text), &state);

	if (len != (size_t)-1 && len != (size_t)-2 && len && wcwidth(*c) >= 0)
		return len;
	*c = L'?';
	return 1;
}

/* As many characters as fit; returns their columns, *nr is their number. */
static int screen_fit(const char *text, int width, wchar_t wide[SCREEN_TEXT], int *nr)
{
	int used = 0;

	for (*nr = 0; *text && *nr < SCREEN_TEXT; (*nr)++) {
		size_t len = screen_next(text, &wide[*nr]);

		if (used + wcwidth(wide[*nr]) > width)
			break;
		used += wcwidth(wide[*nr]);
		text += len;
	}
	return used;
}

int screen__put(int line, int column, int width, enum screen_look look, const char *text)
{
	char escaped[SCREEN_TEXT];
	wchar_t wide[SCREEN_TEXT];
	int nr, used;

	if (column + width > screen__columns())
		width = screen__columns() - column;
	if (width <= 0 || line < 0 || line >= screen__lines())
		return 0;
	used = screen_fit(text__terminal(escaped, sizeof(escaped), text), width, wide, &nr);
	attr_set(screen_attribute(look), look == SCREEN_ALARM && screen_has_red ? SCREEN_RED : 0,
		 NULL);
	mvaddnwstr(line, column, wide, nr);
	return used;
}

void screen__show(void)
{
	refresh();
}

#else

bool screen__is_built_in(void)
{
	return false;
}

int screen__open(struct chart_style style)
{
	(void)style;
	return log_err(-EOPNOTSUPP, "this iosonar is built without ncurses, which the screen "
				    "requires; -o json prints samples without a screen");
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
	return 0;
}

int screen__columns(void)
{
	return 0;
}

int screen__key(void)
{
	return SCREEN_GONE;
}

void screen__clear(void)
{
}

int screen__put(int line, int column, int width, enum screen_look look, const char *text)
{
	(void)line, (void)column, (void)width, (void)look, (void)text;
	return 0;
}

void screen__show(void)
{
}

#endif
